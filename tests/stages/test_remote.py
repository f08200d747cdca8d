"""Git reaches one address and no other, with a credential that nobody else sees."""

from __future__ import annotations

import base64
import os
import pickle
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from memory.types import CommitId
from stages.bare import lay_out, object_format_of
from stages.git import Git
from stages.mirror import Mirror
from stages.remote import (
    NoSuchRemoteRef,
    PushOutcome,
    Remote,
    RemoteForbidden,
    RemoteMissing,
    RemoteRefused,
    RemoteUnreachable,
    follows,
    trusted,
)
from stages.repository import Repository
from tests.github_server.fixtures import github
from tests.github_server.github import GitHub

__all__ = ["github"]

BRANCH = "ticketsmith/issue-1"


def remote_of(site: GitHub, token: str = "") -> Remote:
    token = token or site.ci_token(site.till)
    proof = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return Remote(url=f"{site.web}/acme/till.git", header=f"Authorization: Basic {proof}")


def commit_of(git: Git) -> CommitId:
    tree = git.run("rev-parse", "HEAD^{tree}").decode().strip()
    return CommitId(git.run("commit-tree", "-p", "HEAD", "-m", "Ours", tree).decode().strip())


@contextmanager
def stranger() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that writes down the headers of whoever comes."""
    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


# --- The copy ------------------------------------------------------------------------------------------------------


def test_a_copy_can_be_opened_as_a_repository_with_the_identity_of_its_origin(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")

    commit = mirror.fetch(remote_of(github), "main")

    repository = Repository.open(mirror.folder)
    assert commit == repository.resolve() == github.till.git.head("main")
    assert repository.id == f"{github.web.removeprefix('http://')}/acme/till"
    assert repository.default[0] == "main"
    assert sorted(path.name for path in mirror.folder.iterdir()) == [".git", ".lock"]


def test_r43_only_the_default_branch_and_our_own_are_fetched_and_later_only_what_is_new(
    github: GitHub, tmp_path: Path
) -> None:
    remote, mirror, git = remote_of(github), Mirror(tmp_path / "mirror"), github.till.git
    git.commit("theirs", {"big.txt": "x"}, "Not for us", onto=git.head("main"))
    git.commit(BRANCH, {"ours.txt": "x"}, "Ours", onto=git.head("main"))
    mirror.fetch(remote, "main")
    first = mirror.git.run("for-each-ref", "--format=%(refname)").decode().split()
    git.delete(BRANCH)
    new = git.commit("main", {"new.txt": "x"}, "More")

    commit = mirror.fetch(remote, "main")

    assert first == ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", f"refs/remotes/origin/{BRANCH}"]
    assert commit == new
    assert mirror.git.run("for-each-ref", "--format=%(refname)").decode().split() == first[:2]


def test_f25_f28_a_default_branch_that_was_renamed_or_forced_leaves_no_way_to_the_old_commit(
    github: GitHub, tmp_path: Path
) -> None:
    remote, mirror, git = remote_of(github), Mirror(tmp_path / "mirror"), github.till.git
    old = mirror.fetch(remote, "main")
    had = mirror.has(old)
    git.git("update-ref", "-d", "refs/heads/main")
    git.commit("trunk", {"a.txt": "another history"}, "Begin anew")

    new = mirror.fetch(remote, "trunk")

    assert (had, mirror.has(old), mirror.has(new)) == (True, False, True)
    assert Repository.open(mirror.folder).default[0] == "trunk"


def test_f28_a_branch_that_is_not_there_is_told_as_such(github: GitHub, tmp_path: Path) -> None:
    empty = github.repository("empty", files={})
    token = github.ci_token(empty)
    proof = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    remote = Remote(url=f"{github.web}/acme/empty.git", header=f"Authorization: Basic {proof}")

    with pytest.raises(NoSuchRemoteRef):
        Mirror(tmp_path / "mirror").fetch(remote, "main")


def test_a_copy_that_a_killed_process_left_half_made_is_made_anew(github: GitHub, tmp_path: Path) -> None:
    half = tmp_path / "mirror" / ".git"
    half.mkdir(parents=True)
    (half / "config.lock").write_text("")

    commit = Mirror(tmp_path / "mirror").fetch(remote_of(github), "main")

    assert commit == github.till.git.head("main")


def test_locks_that_a_killed_fetch_left_are_in_nobodys_way(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    mirror.fetch(remote_of(github), "main")
    for left in ("HEAD.lock", "packed-refs.lock", "refs/remotes/origin/main.lock", "objects/pack/tmp_pack_x"):
        (mirror.folder / ".git" / left).write_text("")
    new = github.till.git.commit("main", {"new.txt": "x"}, "More")

    assert mirror.fetch(remote_of(github), "main") == new


def test_a_commit_of_which_a_killed_fetch_left_only_itself_is_taken_whole(github: GitHub, tmp_path: Path) -> None:
    head = CommitId(str(github.till.git.head("main")))
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "mine")], check=True)
    mine = Git(folder=tmp_path / "mine")
    alone = github.till.git.git("cat-file", "commit", head) + "\n"  # git unpacks commits first
    kept = mine.run("hash-object", "-w", "-t", "commit", "--stdin", stdin=alone.encode()).decode().strip()

    remote_of(github).take(mine, head)

    assert kept == head
    assert mine.run("ls-tree", "--name-only", head)


def test_f26_a_fetch_that_stalls_is_given_up_after_a_second_try(github: GitHub, tmp_path: Path) -> None:
    stalled = github.fault("POST .*/git-upload-pack", trickle=1.0, times=9)
    mirror, begun = Mirror(tmp_path / "mirror"), time.monotonic()

    with pytest.raises(RemoteUnreachable):
        mirror.fetch(remote_of(github), "main", seconds=1.5)
    github.faults.clear()
    after = mirror.fetch(remote_of(github), "main")

    assert stalled.happened >= 2
    assert time.monotonic() - begun < 60
    assert after == github.till.git.head("main")


def test_r43_a_private_submodule_is_neither_fetched_nor_asked_for(github: GitHub, tmp_path: Path) -> None:
    inner = github.repository("inner", private=True)
    git = github.till.git
    module = f'[submodule "inner"]\n\tpath = inner\n\turl = {github.web}/acme/inner.git\n'
    git.commit("main", {".gitmodules": module}, "With a submodule")
    sha = inner.git.head("main")
    with_link = git.git("mktree", stdin=f"160000 commit {sha}\tinner\n".encode())
    git.git("update-ref", "refs/heads/main", git.git("commit-tree", "-m", "Link", with_link))

    Mirror(tmp_path / "mirror").fetch(remote_of(github), "main")

    assert not [one for one in github.requests if "inner" in one.path]


# --- Where it may not go -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "path", "fault"),
    [
        ("ghs_" + "0" * 36, "acme/till.git", RemoteRefused),
        ("", "acme/nothing.git", RemoteMissing),
    ],
)
def test_r23_refusals_have_their_own_names(
    github: GitHub, tmp_path: Path, token: str, path: str, fault: type[Exception]
) -> None:
    known = remote_of(github, token)
    git = Git(folder=tmp_path)

    with pytest.raises(fault) as refused:
        Remote(url=f"{github.web}/{path}", header=known.header).head(git, "main")

    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_a_credential_that_only_reads_is_told_so_when_it_pushes(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    mirror.fetch(remote_of(github), "main")
    reads = remote_of(github, github.ci_token(github.till, {"contents": "read"}))

    with pytest.raises(RemoteForbidden):
        reads.push(mirror.git, commit_of(mirror.git), BRANCH, None)


def test_nobody_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(RemoteUnreachable):
        Remote(url="http://127.0.0.1:9/acme/till.git").head(Git(folder=tmp_path), "main")


@pytest.mark.parametrize("url", ["file:///etc", "ext::sh -c id", "ssh://git@127.0.0.1/x", "/etc"])
def test_without_leave_no_protocol_is_spoken(tmp_path: Path, url: str) -> None:
    assert Git(folder=tmp_path).ask("ls-remote", url) is None


def test_a_redirect_is_not_followed(github: GitHub, tmp_path: Path) -> None:
    with stranger() as (elsewhere, seen):
        github.fault("GET .*/info/refs", status=301, headers={"location": f"{elsewhere}/acme/till.git/info/refs"})

        with pytest.raises(RemoteUnreachable):
            remote_of(github).head(Git(folder=tmp_path), "main")

    assert seen == []


@pytest.mark.parametrize("value", ['a"b', "a\\b", "a;b#c", " a "])
def test_settings_that_git_is_given_arrive_as_they_are(tmp_path: Path, value: str) -> None:
    git = Remote(url="https://github.example/x.git", proxy=value).reached_by(Git(folder=tmp_path), seconds=20)

    assert git.run("config", "--get", "http.proxy").decode() == f"{value}\n"


def test_no_setting_can_smuggle_in_another(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line break"):
        Remote(url="https://github.example/x.git", header="A: b\n[core]").reached_by(Git(folder=tmp_path), seconds=20)


# --- The credential ------------------------------------------------------------------------------------------------


def test_sec_15_a_repository_that_rewrites_addresses_gets_no_credential(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    mirror.fetch(remote_of(github), "main")
    commit = commit_of(mirror.git)
    with stranger() as (elsewhere, seen):
        mirror.git.run("config", f"url.{elsewhere}/.insteadOf", f"{github.web}/")
        mirror.git.run("config", f"url.{elsewhere}/.pushInsteadOf", f"{github.web}/")
        # The positive control: without our clean git directory the push goes where the repository wants it.
        naive = ["git", "-c", "protocol.allow=always", "push", f"{github.web}/acme/till.git", f"{commit}:refs/heads/x"]
        subprocess.run(naive, cwd=mirror.folder, capture_output=True, check=False, env={"PATH": os.environ["PATH"]})
        lured = len(seen)

        said = remote_of(github).push(mirror.git, commit, BRANCH, None)

        assert lured > 0
        assert len(seen) == lured
    assert said.outcome is PushOutcome.TAKEN
    assert github.till.git.head(BRANCH) == commit


def test_sec_15_the_credential_is_sent_to_its_own_address_alone(github: GitHub, tmp_path: Path) -> None:
    remote = remote_of(github)
    with stranger() as (elsewhere, seen):
        git = remote.reached_by(Git(folder=tmp_path), seconds=20)
        git.try_to("ls-remote", f"{elsewhere}/acme/till.git")

    assert seen
    assert not [headers for headers in seen if "authorization" in headers]


def test_sec_16_r15_no_command_line_environment_or_file_shows_the_credential(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    remote = remote_of(github)
    mirror.fetch(remote, "main")
    commit = commit_of(mirror.git)
    proof = remote.header.rpartition(" ")[2]
    token = base64.b64decode(proof).decode().partition(":")[2]
    control = subprocess.Popen(["sh", "-c", "sleep 30; exit", token])  # what we would see if it were on a command line
    seen: list[str] = []
    stop = threading.Event()
    watcher = threading.Thread(target=watch, args=(seen, stop))
    watcher.start()
    github.fault("POST .*/git-receive-pack", stored=True, delay=0.5)

    remote.push(mirror.git, commit, BRANCH, None)

    stop.set()
    watcher.join(5)
    control.kill()
    control.wait()
    lines = [line for line in seen if token in line or proof in line]
    assert [line for line in seen if "receive-pack" in line or "push" in line], "no push was seen"
    assert {line.startswith("sh -c") for line in lines} == {True}
    kept = [path for path in mirror.folder.rglob("*") if path.is_file()]
    assert not [path for path in kept if token.encode() in path.read_bytes() or proof.encode() in path.read_bytes()]
    assert token not in repr(remote)


def watch(seen: list[str], stop: threading.Event) -> None:
    """Command lines and environments of all processes, read as fast as possible."""
    while not stop.is_set():
        for process in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                if process.name == str(os.getpid()):
                    continue
                try:
                    text = (process / name).read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                except OSError:
                    continue
                if name == "cmdline" or "ghs_" in text or "Basic" in text:
                    seen.append(text)


def test_what_the_other_side_says_holds_nothing_that_a_terminal_acts_on(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    mirror.fetch(remote_of(github), "main")
    github.till.git.reject("error: GH013: \x1b[31mno\x1b[0m\u202e\u200b way")

    said = remote_of(github).push(mirror.git, commit_of(mirror.git), BRANCH, None)

    assert said.outcome is PushOutcome.RULE
    assert all(line.isprintable() and "[31m" not in line for line in said.said.split("\n"))
    assert "GH013" in said.said


def test_a_commit_follows_what_came_before_it_and_nothing_else(github: GitHub, tmp_path: Path) -> None:
    mirror = Mirror(tmp_path / "mirror")
    base = mirror.fetch(remote_of(github), "main")
    ours = commit_of(mirror.git)

    assert follows(mirror.git, ours, base)
    assert follows(mirror.git, ours, ours)
    assert not follows(mirror.git, base, ours)
    assert not follows(mirror.git, base, CommitId("a" * 40))


@pytest.mark.parametrize(("kind", "digits"), [("sha1", 40), ("sha256", 64)])
def test_what_a_trusted_directory_takes_in_never_reaches_the_checkout_whose_objects_it_has(
    tmp_path: Path, kind: str, digits: int
) -> None:
    git = Git(folder=tmp_path)
    git.run("init", "--quiet", f"--object-format={kind}")
    there = git.run("hash-object", "-w", "--stdin", stdin=b"3\n").decode().strip()

    with trusted(git) as clean:
        shown = clean.run("cat-file", "blob", there)
        made = clean.run("hash-object", "-w", "--stdin", stdin=b"4\n").decode().strip()

    assert (shown, len(made)) == (b"3\n", digits)
    assert git.ask("cat-file", "-e", made) is None


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_branch_is_taken_away_by_a_folder_without_commits_whatever_ids_there_are(tmp_path: Path, kind: str) -> None:
    there, here = Git(folder=tmp_path), tmp_path / "git"
    there.run("init", "--quiet", f"--object-format={kind}")
    there.run("commit", "--quiet", "--allow-empty", "-m", "Begin")
    there.run("branch", BRANCH)
    commit = CommitId(there.run("rev-parse", "HEAD").decode().strip())
    remote = Remote(url=f"file://{tmp_path}")
    lay_out(here, object_format=object_format_of(commit))

    said = remote.delete(Git(folder=here, git_dir=here), BRANCH, commit)

    assert said.outcome is PushOutcome.TAKEN
    assert remote.head(there, BRANCH) is None
