"""What the forge reads, over real sockets, from github.com's address and from an Enterprise server's."""

from __future__ import annotations

import ast
import pickle
import re
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from bot.forge.errors import Forbidden, ForgeFault, Gone, NotThere, RateLimited
from bot.forge.types import GHOST, OpenOrClosed, Permission, ReviewState
from stages.git import Git
from tests.bot.forge.kit import account_of, forge_of, ref_of
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub
from tests.github_server.state import Installation


@pytest.mark.parametrize("enterprise", [True, False])
def test_r47_every_address_is_made_from_one_base_url(github: GitHub, enterprise: bool) -> None:  # noqa: F811
    github.people.issue(github.till, github.ada, "Total is wrong", "It is.")
    forge = forge_of(github, base_url=github.url if enterprise else github.plain_url)
    ref = ref_of(github.till)

    about, issue, edited = forge.repository(ref), forge.issue(ref, 1), forge.body_edited_at(ref, 1)

    assert about.clone_url == f"{github.web}/acme/till.git"
    assert (about.default_branch, about.private, about.archived) == ("main", False, False)
    assert (issue.title, issue.body, issue.author, issue.is_pull) == (
        "Total is wrong",
        "It is.",
        account_of(github.ada),
        False,
    )
    assert edited is None


def test_an_edit_of_the_text_is_dated(github: GitHub) -> None:  # noqa: F811
    issue = github.people.issue(github.till, github.ada, "Total is wrong")
    github.people.edit(github.till, issue, github.ada, body="Something else")

    edited = forge_of(github).body_edited_at(ref_of(github.till), 1)

    assert edited is not None
    assert abs(datetime.now(UTC) - edited) < timedelta(minutes=1)


def test_of_many_comments_the_newest_are_read_and_the_rest_is_counted(github: GitHub) -> None:  # noqa: F811
    issue = github.people.issue(github.till, github.ada, "Total is wrong")
    for number in range(420):
        github.people.comment(github.till, issue, github.ada, f"comment {number}")
    forge = forge_of(github)

    read = forge.comments(ref_of(github.till), 1)

    assert (len(read.comments), read.cut) == (220, 200)
    assert (read.comments[0].body, read.comments[-1].body) == ("comment 200", "comment 419")
    assert forge.requests == 5  # a token, and four pages


@pytest.mark.parametrize(
    ("role", "permission"),
    [
        ("admin", Permission.ADMIN),
        ("maintain", Permission.MAINTAIN),
        ("write", Permission.WRITE),
        ("triage", Permission.TRIAGE),
        ("read", Permission.READ),
        ("none", Permission.NONE),
        ("release-captains", Permission.NONE),
    ],
)
def test_r12_sec_4_a_permission_is_judged_by_the_name_of_the_role(
    github: GitHub,  # noqa: F811
    role: str,
    permission: Permission,
) -> None:
    github.till.roles[github.ada.id] = role

    assert forge_of(github).permission(ref_of(github.till), account_of(github.ada)) is permission


def test_r12_sec_4_a_name_that_now_belongs_to_another_account_proves_nothing(github: GitHub) -> None:  # noqa: F811
    before = account_of(github.ada)
    github.ada.login = "ada-2"
    github.till.roles[github.state.add_person("ada").id] = "admin"

    assert forge_of(github).permission(ref_of(github.till), before) is Permission.NONE


def test_the_permission_of_an_account_that_is_gone_is_no_answer(github: GitHub) -> None:  # noqa: F811
    with pytest.raises(NotThere):
        forge_of(github).permission(ref_of(github.till), GHOST)


def test_labels_come_with_who_set_them(github: GitHub) -> None:  # noqa: F811
    issue = github.people.issue(github.till, github.ada, "Total is wrong")
    github.people.label(github.till, issue, github.ada)
    github.people.unlabel(github.till, issue, github.ada)

    events = forge_of(github).label_events(ref_of(github.till), 1)

    assert [(one.label, one.actor, one.added) for one in events] == [
        ("ticketsmith", account_of(github.ada), True),
        ("ticketsmith", account_of(github.ada), False),
    ]


def test_open_labelled_issues_are_listed_without_pull_requests(github: GitHub) -> None:  # noqa: F811
    open_one = github.people.issue(github.till, github.ada, "Open", labels=("ticketsmith",))
    closed = github.people.issue(github.till, github.ada, "Closed", labels=("ticketsmith",))
    github.people.close(github.till, closed, github.ada)
    github.people.issue(github.till, github.ada, "Without")
    github.people.push(github.till, "topic", {"a.txt": "a"}, github.ada)
    pull = github.people.pull(github.till, github.ada, head="topic", title="A topic")
    github.people.label(github.till, pull, github.ada)

    found = forge_of(github).labelled_issues(ref_of(github.till), "ticketsmith")

    assert [one.number for one in found] == [open_one.number]


def test_a_pull_request_is_read_with_reviews_checks_and_who_closed_it(github: GitHub) -> None:  # noqa: F811
    sha = github.people.push(github.till, "topic", {"a.txt": "a"}, github.ada)
    pull = github.people.pull(github.till, github.ada, head="topic", title="A topic", draft=True)
    github.people.review(github.till, pull, github.ada, "No", remarks=(("a.txt", 1, "Why?"), ("a.txt", None, "Hm")))
    github.people.check(github.till, sha, "failure")
    github.people.deploy(github.till, sha, "failure")
    github.people.close(github.till, pull, github.ada)
    forge, ref = forge_of(github), ref_of(github.till)

    read, reviews = forge.pull(ref, pull.number), forge.reviews(ref, pull.number)
    checks, deployments = forge.checks(ref, sha), forge.deployments(ref, sha)
    of_branch = forge.pulls_of_branch(ref, "topic")

    assert (read.state, read.merged, read.draft, read.closed_by) == (
        OpenOrClosed.CLOSED,
        False,
        True,
        account_of(github.ada),
    )
    assert (read.head_sha, read.head_repository_id, read.base_ref) == (sha, github.till.id, "main")
    assert reviews[0].state is ReviewState.CHANGES_REQUESTED
    assert [(one.path, one.line, one.body) for one in reviews[0].comments] == [
        ("a.txt", 1, "Why?"),
        ("a.txt", None, "Hm"),
    ]
    assert [(one.name, one.conclusion, one.failed) for one in checks] == [("ci", "failure", True)]
    assert [(one.environment, one.state) for one in deployments] == [("staging", "failure")]
    assert [one.number for one in of_branch] == [pull.number]


def test_a_merged_pull_request_has_its_merge_commit(github: GitHub) -> None:  # noqa: F811
    github.people.push(github.till, "topic", {"a.txt": "a"}, github.ada)
    pull = github.people.pull(github.till, github.ada, head="topic", title="A topic")
    before = forge_of(github).pull(ref_of(github.till), pull.number)
    merged = github.people.merge(github.till, pull, github.ada)

    after = forge_of(github).pull(ref_of(github.till), pull.number)

    assert (before.merged, before.merge_commit) == (False, None)
    assert (after.merged, after.merge_commit) == (True, merged)


def test_rules_of_a_branch_that_is_not_there_and_protection_of_one_that_is(github: GitHub) -> None:  # noqa: F811
    github.till.rules = [
        {"type": "required_signatures", "branch": "ticketsmith/"},
        {"type": "commit_message_pattern", "parameters": {"operator": "starts_with", "pattern": "ABC-"}},
    ]
    github.till.protection["main"] = {
        "enabled": True,
        "required_status_checks": {"contexts": ["ci"], "checks": []},
    }
    forge, ref = forge_of(github), ref_of(github.till)

    ours, main = forge.rules(ref, "ticketsmith/issue-1"), forge.rules(ref, "main")

    assert [one.kind for one in ours] == ["required_signatures", "commit_message_pattern"]
    assert ours[1].detail == "operator=starts_with, pattern=ABC-"
    assert [(one.kind, one.detail) for one in main] == [
        ("commit_message_pattern", "operator=starts_with, pattern=ABC-"),
        ("protection", "required checks: ci"),
    ]


def test_where_a_branch_stands_and_who_wrote_its_commits(github: GitHub) -> None:  # noqa: F811
    sha = github.people.push(github.till, "topic/a", {"a.txt": "a"}, github.ada)
    forge, ref = forge_of(github), ref_of(github.till)

    heads = forge.branch_head(ref, "topic/a"), forge.branch_head(ref, "topic/b")
    authors = forge.commit_authors(ref, "main", "topic/a")

    assert heads == (sha, None)
    assert [(one.sha, one.author) for one in authors] == [(sha, account_of(github.ada))]


def test_the_app_knows_itself_and_where_it_is_installed(github: GitHub) -> None:  # noqa: F811
    forge = forge_of(github)

    app, installations, repositories = forge.app_info(), forge.installations(), forge.repositories(71)

    assert (app.id, app.bot.id, app.bot.login) == (4242, github.state.bot.id, "ticketsmith-test[bot]")
    assert [(one.id, one.suspended, one.account.login) for one in installations] == [(71, False, "acme")]
    assert forge.installation(71).permissions["contents"] == "write"
    assert repositories == (ref_of(github.till),)


def test_f2_webhooks_that_never_arrived_are_found_and_sent_again(github: GitHub) -> None:  # noqa: F811
    github.hooks.url, github.hooks.down = "http://127.0.0.1:9/", True
    github.people.issue(github.till, github.ada, "Total is wrong")
    forge, since = forge_of(github), datetime.now(UTC) - timedelta(hours=1)

    failed = forge.failed_deliveries(since)
    forge.redeliver(failed[0].id)
    github.hooks.flush()

    assert [(one.event, one.action, one.failed, one.repository_id) for one in failed] == [
        ("issues", "opened", True, github.till.id)
    ]
    assert {one.guid for one in github.state.deliveries} == {failed[0].guid}
    assert len(forge.failed_deliveries(since)) == 1
    assert forge.failed_deliveries(datetime.now(UTC) + timedelta(hours=1)) == ()


def test_many_deliveries_are_read_page_by_page(github: GitHub) -> None:  # noqa: F811
    github.hooks.url, github.hooks.down = "http://127.0.0.1:9/", True
    for number in range(130):
        github.hooks.keep("ping", None, {"number": number}, 71, None)
    github.hooks.flush()

    failed = forge_of(github).failed_deliveries(datetime.now(UTC) - timedelta(hours=1))

    assert len(failed) == 130


def test_r47_no_address_of_github_stands_outside_the_defaults() -> None:
    root = Path(__file__).parents[3]
    found = set()
    for path in [*root.glob("bot/**/*.py"), *root.glob("stages/**/*.py"), *root.glob("memory/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.match(r"(?:https?://)?(?:api\.)?github\.com", node.value)
            ):
                found.add((str(path.relative_to(root)), node.value))

    assert found == {
        ("bot/app_settings.py", "https://api.github.com"),
        ("bot/forge/addresses.py", "https://github.com"),
        ("stages/origin.py", "github.com"),
    }


class Proxy(BaseHTTPRequestHandler):
    """Hands on what it is asked for."""

    def _pass(self) -> None:
        where = urlsplit(self.path)
        self.server.seen.append(f"{self.command} {where.path}")  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        connection = HTTPConnection(where.hostname or "", where.port, timeout=10)
        path = f"{where.path}?{where.query}" if where.query else where.path
        connection.request(self.command, path, body, dict(self.headers))
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers.get("content-type", ""))
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_POST = _pass  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def test_git_goes_through_the_proxy_that_all_other_requests_take(
    github: GitHub,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    seen: list[str] = []
    server.seen = seen  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    github.people.issue(github.till, github.ada, "Total is wrong")
    forge, ref = forge_of(github), ref_of(github.till)

    forge.issue(ref, 1)
    head = forge.remote(ref).head(Git(folder=tmp_path), "main")
    server.shutdown()
    server.server_close()
    thread.join(5)

    assert head == github.till.git.head("main")
    assert "GET /api/v3/repos/acme/till/issues/1" in seen
    assert "GET /acme/till.git/info/refs" in seen


def test_an_app_in_many_places_is_read_page_by_page(github: GitHub) -> None:  # noqa: F811
    for number in range(100, 250):
        github.state.installations[number] = Installation(number, github.acme, {"metadata": "read"}, set())
    for number in range(130):
        github.repository(f"shop-{number}", files={})
    forge = forge_of(github)

    installations, repositories = forge.installations(), forge.repositories(71)

    assert len(installations) == 151
    assert len(repositories) == 131


def test_an_app_that_is_installed_nowhere_knows_itself_all_the_same(github: GitHub) -> None:  # noqa: F811
    github.installation.removed = True

    assert forge_of(github).app_info().bot.id == github.state.bot.id


def test_what_the_app_may_not_ask_is_told(github: GitHub) -> None:  # noqa: F811
    with pytest.raises(NotThere):
        forge_of(github).installation(999)


def test_the_author_of_a_comment_is_read(github: GitHub) -> None:  # noqa: F811
    issue = github.people.issue(github.till, github.ada, "Total is wrong")
    comment = github.people.comment(github.till, issue, github.ada, "Yes")

    assert forge_of(github).comment_author(ref_of(github.till), comment.id) == account_of(github.ada)


@pytest.mark.parametrize(
    ("permission", "writes", "triages"),
    [
        (Permission.NONE, False, False),
        (Permission.READ, False, False),
        (Permission.TRIAGE, False, True),
        (Permission.WRITE, True, True),
        (Permission.ADMIN, True, True),
    ],
)
def test_who_may_write_may_triage_too(permission: Permission, writes: bool, triages: bool) -> None:
    assert (permission.writes, permission.triages) == (writes, triages)


@pytest.mark.parametrize(
    "fault",
    [
        Forbidden(permission="issues: write", said="No."),
        Gone(what="issue 7", said="Issues has been disabled in this repository."),
        RateLimited(until=datetime(2026, 11, 3, 9, 0, tzinfo=UTC), said="Wait."),
        NotThere(what="issue 7"),
    ],
)
def test_a_fault_survives_the_way_through_a_store(fault: ForgeFault) -> None:
    again = pickle.loads(pickle.dumps(fault))

    assert (type(again), str(again), vars(again)) == (type(fault), str(fault), vars(fault))
