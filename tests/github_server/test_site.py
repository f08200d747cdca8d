"""Our GitHub behaves like GitHub where the program depends on it."""

from __future__ import annotations

import subprocess
import time
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import jwt
import pytest

from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub

ALL = {"issues": "write", "contents": "write", "pull_requests": "write", "checks": "write"}


def app_jwt(site: GitHub, *, at: float | None = None, life: int = 540) -> str:
    now = int(at or time.time())
    return jwt.encode({"iat": now - 60, "exp": now + life - 60, "iss": str(site.app_id)}, site.key, algorithm="RS256")


def mint(site: GitHub, permissions: dict[str, str], *repositories: int) -> httpx.Response:
    wanted = {"permissions": permissions, "repository_ids": list(repositories or [site.till.id])}
    return httpx.post(
        f"{site.url}/app/installations/71/access_tokens",
        json=wanted,
        headers={"authorization": f"Bearer {app_jwt(site)}"},
    )


def client(site: GitHub, permissions: dict[str, str] | None = None) -> httpx.Client:
    token = mint(site, permissions or ALL).json()["token"]
    return httpx.Client(base_url=site.url, headers={"authorization": f"token {token}"})


def test_a_token_opens_only_its_repository_and_its_permissions(github: GitHub) -> None:  # noqa: F811
    other = github.repository("other", private=True)
    github.people.issue(github.till, github.ada, "Total is wrong")
    asking = client(github, {"issues": "read"})

    answers = [
        asking.get("/repos/acme/till/issues/1").status_code,
        asking.post("/repos/acme/till/issues/1/comments", json={"body": "x"}).status_code,
        asking.get("/repos/acme/till/pulls").status_code,
        asking.get(f"/repos/{other.full_name}/issues").status_code,
    ]

    assert answers == [200, 403, 403, 404]


@pytest.mark.parametrize(
    ("prepare", "status"),
    [
        (lambda site: site.installation.permissions.update(issues="none"), 422),
        (lambda site: setattr(site.installation, "suspended", True), 403),
        (lambda site: setattr(site.installation, "removed", True), 404),
        (lambda site: setattr(site.till, "deleted", True), 422),
        (lambda site: site.clock(ahead=timedelta(minutes=-2)), 401),
        (lambda site: site.clock(ahead=timedelta(minutes=9)), 401),
    ],
)
def test_no_token_is_made_where_github_makes_none(github: GitHub, prepare: Any, status: int) -> None:  # noqa: F811
    prepare(github)

    assert mint(github, {"issues": "read"}).status_code == status


def test_what_github_does_not_describe_is_complained_about(tmp_path: Path) -> None:
    site = GitHub(tmp_path / "github")

    asking = client(site)
    asking.get("/repos/acme/till/nonsense")
    asking.post(
        "/repos/acme/till/check-runs", json={"name": "x", "head_sha": site.till.git.head("main"), "status": "done"}
    )
    asking.get("/repos/acme/till/issues", params={"label": "ticketsmith"})
    site.close()

    assert [line.split(": ")[0] for line in site.complaints()] == [
        "no such operation",
        "POST /repos/acme/till/check-runs",
        "POST /repos/acme/till/check-runs",
        "GET /repos/acme/till/issues",
    ]


def test_git_is_served_with_hooks_and_credentials(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    token = mint(github, {"contents": "write"}).json()["token"]
    url = f"http://x-access-token:{token}@{github.web.removeprefix('http://')}/acme/till.git"

    def git(*arguments: str) -> int:
        return subprocess.run(["git", *arguments], cwd=tmp_path / "clone", capture_output=True).returncode

    subprocess.run(["git", "clone", "-q", url, str(tmp_path / "clone")], check=True)
    named = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    git(*named, "commit", "-q", "--allow-empty", "-m", "More")
    github.till.git.reject("GH013: Repository rule violations found for refs/heads/main.")
    refused = git("push", "-q", "origin", "HEAD:refs/heads/topic")
    github.till.git.accept()
    taken = git("push", "-q", "origin", "HEAD:refs/heads/topic")

    assert (refused, taken) == (1, 0)
    assert github.till.git.head("topic")


def test_a_fault_after_the_effect_leaves_the_effect(github: GitHub) -> None:  # noqa: F811
    issue = github.people.issue(github.till, github.ada, "Total is wrong")
    github.fault("POST .*/comments", status=502, stored=True)
    github.fault("POST .*/comments", reset=True, stored=True)
    asking = client(github)

    first = asking.post("/repos/acme/till/issues/1/comments", json={"body": "one"})
    with pytest.raises(httpx.TransportError):
        asking.post("/repos/acme/till/issues/1/comments", json={"body": "two"})

    assert first.status_code == 502
    assert [one.body for one in issue.comments] == ["one", "two"]


def test_a_webhook_is_signed_and_can_be_sent_again(github: GitHub) -> None:  # noqa: F811
    seen: list[tuple[str, str]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            seen.append((self.headers["x-github-event"], self.headers["x-github-delivery"]))
            self.send_response(202 if len(seen) > 1 else 500)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    github.hooks.url, github.hooks.secret = f"http://127.0.0.1:{receiver.server_port}/hook", "s" * 32
    github.people.issue(github.till, github.ada, "Total is wrong")
    headers = {"authorization": f"Bearer {app_jwt(github)}"}
    failed = httpx.get(f"{github.url}/app/hook/deliveries", headers=headers).json()[0]

    httpx.post(f"{github.url}/app/hook/deliveries/{failed['id']}/attempts", headers=headers)
    deadline = time.monotonic() + 5
    while len(seen) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    receiver.shutdown()
    receiver.server_close()

    assert failed["status_code"] == 500
    assert len(seen) == 2
    assert seen[0] == seen[1]


@pytest.mark.parametrize("path", [".git/config", "../aside", "a//b", "README.md/below", "two\nlines"])
def test_no_commit_holds_what_git_would_not_check_out(github: GitHub, path: str) -> None:  # noqa: F811
    github.till.git.commit("main", {"README.md": "# Till\n"}, "Begin")

    with pytest.raises(AssertionError):
        github.till.git.commit("main", {path: "x"}, "Add")
