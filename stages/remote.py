"""A repository elsewhere, reached by git: what its branches hold, and a push that can only add."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from memory.text import fold
from memory.types import CommitId
from stages.bare import lay_out
from stages.errors import StageError
from stages.git import Git, Reach, Said

SLOW_BYTES: Final = 1_000  # a second; slower for so long is a stall
SLOW_SECONDS: Final = 30
LS_SECONDS: Final = 60.0
PUSH_SECONDS: Final = 300.0
_SAID_AT_MOST: Final = 1_000  # characters of what the other side says
_REMOTE_LINE: Final = re.compile(r"^remote: ?(.*)$", re.MULTILINE)
_KILLED: Final = "Timeout: the command "  # as GitPython says it, with the whole command line
_ESCAPE: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_NOT_FOUND: Final = re.compile(r"(?i)repository\b.* not found|returned error: 404|does not appear to be a git repo")
_NO_REF: Final = re.compile(r"(?i)couldn't find remote ref|not our ref|no such remote ref")
_REFUSED: Final = re.compile(r"(?i)authentication failed|could not read username|returned error: 401")
_FORBIDDEN: Final = re.compile(r"returned error: 403")


class RemoteFault(StageError):
    """git cannot work with {url}: {said}"""

    def __init__(self, *, url: str, said: str) -> None:
        super().__init__(url=url, said=said)
        self.url, self.said = url, said

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.url, self.said)


class RemoteUnreachable(RemoteFault):
    """git does not reach {url}, or not fast enough: {said}"""


class RemoteRefused(RemoteFault):
    """{url} refuses our credential: {said}"""


class RemoteForbidden(RemoteFault):
    """Our credential may not do this at {url}: {said}"""


class RemoteMissing(RemoteFault):
    """There is no repository at {url}, or our credential does not show it: {said}"""


class NoSuchRemoteRef(RemoteFault):
    """{url} has no such branch or commit: {said}"""


class PushOutcome(Enum):
    TAKEN = "taken"
    OTHER_HEAD = "other head"  # the branch is not where it was expected
    RULE = "rule"  # a hook, a ruleset or a protection refuses it
    UNKNOWN = "unknown"  # nobody knows whether it arrived


@dataclass(frozen=True, kw_only=True)
class PushSaid:
    """What became of a push, and the other side's own words."""

    outcome: PushOutcome
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Remote:
    """`url` holds no credential: `header` is one line of HTTP, sent to this address alone.

    `proxy` is an address to go through, which may hold a password, and `authorities` a file of certificates to trust.
    """

    url: str
    header: str = field(default="", repr=False)
    proxy: str = field(default="", repr=False)
    authorities: str = ""

    def reached_by(self, git: Git, *, seconds: float) -> Git:
        """The wrapper with leave to reach this address, and nothing else."""
        parts = urlsplit(self.url)
        lines = ["[http]", "\tfollowRedirects = false"]
        lines += [f"\tproxy = {_quoted(self.proxy)}"] if self.proxy else []
        lines += [f"\tsslCAInfo = {_quoted(self.authorities)}"] if self.authorities else []
        if self.header:
            lines += [f'[http "{parts.scheme}://{parts.netloc}/"]', f"\textraHeader = {_quoted(self.header)}"]
        slow = {"http.lowSpeedLimit": str(SLOW_BYTES), "http.lowSpeedTime": str(SLOW_SECONDS)}
        reach = Reach(protocol=parts.scheme, secret="\n".join(lines) + "\n")
        return replace(git, reach=reach, seconds=seconds, settings={**slow, **git.settings})

    def head(self, git: Git, branch: str) -> CommitId | None:
        """The commit of a branch there; None where there is none. Raises the errors of this module."""
        said = self.reached_by(git, seconds=LS_SECONDS).try_to("ls-remote", self.url, f"refs/heads/{branch}")
        if said.status != 0:
            raise fault(self.url, said)
        listed = said.output.decode("utf-8", "replace").split("\n")
        found = [line.split("\t")[0] for line in listed if line.endswith(f"\trefs/heads/{branch}")]
        return CommitId(found[0]) if found else None

    def take(self, git: Git, commit: CommitId) -> None:
        """Bring one commit with its history here, if it is not. Raises the errors of this module."""
        # The commit alone may be here, from a fetch that was killed.
        if git.ask("rev-list", "--objects", "--no-walk", "--quiet", "--end-of-options", commit) is not None:
            return
        said = self.reached_by(git, seconds=PUSH_SECONDS).try_to(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head",
            self.url, commit,
        )  # fmt: skip
        if said.status != 0:
            raise fault(self.url, said)

    def push(self, git: Git, commit: CommitId, branch: str, expected: CommitId | None) -> PushSaid:
        """Move a branch on to a commit, only from `expected`, or make it where that is None.

        The caller has made sure that `commit` follows `expected`: then this can take nothing away. Raises the errors of
        this module, RemoteUnreachable apart.
        """
        with trusted(git) as clean:
            return self._moved(clean, f"{commit}:refs/heads/{branch}", branch, expected)

    def delete(self, git: Git, branch: str, expected: CommitId) -> PushSaid:
        """Take a branch away that is at `expected`. Raises as `push`."""
        return self._moved(git, f":refs/heads/{branch}", branch, expected)

    def _moved(self, git: Git, refspec: str, branch: str, expected: CommitId | None) -> PushSaid:
        lease = f"--force-with-lease=refs/heads/{branch}:{expected or ''}"  # only while nobody else has moved it
        said = self.reached_by(git, seconds=PUSH_SECONDS).try_to(
            "push", "--porcelain", "--no-progress", "--no-verify", lease, self.url, refspec
        )
        told = words(said)
        if said.status == 0:
            return PushSaid(outcome=PushOutcome.TAKEN, said=told)
        output = said.output.decode("utf-8", "replace")
        if "[rejected]" in output or "cannot lock ref" in said.message + output:
            return PushSaid(outcome=PushOutcome.OTHER_HEAD, said=told)
        if "[remote rejected]" in output:
            return PushSaid(outcome=PushOutcome.RULE, said=told)
        found = fault(self.url, said)
        if isinstance(found, RemoteUnreachable):
            return PushSaid(outcome=PushOutcome.UNKNOWN, said=found.said)
        raise found


def follows(git: Git, commit: CommitId, earlier: CommitId) -> bool:
    """True when `commit` is `earlier`, or came after it."""
    return git.ask("merge-base", "--is-ancestor", earlier, commit) is not None


def merges(git: Git, commit: CommitId, other: CommitId) -> bool:
    """True when git can bring the two together by itself; histories without a common commit it cannot."""
    return git.ask("merge-tree", "--write-tree", commit, other) is not None


@contextmanager
def trusted(git: Git) -> Iterator[Git]:
    """The same objects behind a git directory that nobody else has written to: no `insteadOf`, hook or helper."""
    told = git.run("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format").decode()
    common, _, kind = told.rstrip("\n").rpartition("\n")
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / "git"
        lay_out(clean, object_format=kind)
        (clean / "objects" / "info" / "alternates").write_text(f"{common}/objects\n", "utf-8")
        shallow = Path(common) / "shallow"  # work trees have none of their own
        if shallow.is_file():
            (clean / "shallow").write_bytes(shallow.read_bytes())
        yield Git(folder=Path(folder), git_dir=clean)


def fault(url: str, said: Said) -> RemoteFault:
    """Why a command that reaches out failed."""
    text = said.message
    told = "it did not end in time" if text.startswith(_KILLED) else words(said)
    if _NO_REF.search(text):
        return NoSuchRemoteRef(url=url, said=told)
    if _REFUSED.search(text):
        return RemoteRefused(url=url, said=told)
    if _FORBIDDEN.search(text):
        return RemoteForbidden(url=url, said=told)
    if _NOT_FOUND.search(text):
        return RemoteMissing(url=url, said=told)
    return RemoteUnreachable(url=url, said=told)


def words(said: Said) -> str:
    """What the other side had to say, or git's own last words."""
    told = "\n".join(_REMOTE_LINE.findall(said.message)) or said.message
    return "\n".join(line.strip() for line in fold(_ESCAPE.sub("", told)) if line.strip())[:_SAID_AT_MOST]


def _quoted(value: str) -> str:
    """A value of git's configuration."""
    if not value.isprintable():
        raise ValueError("a line break in a setting of git")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _again(kind: type[RemoteFault], url: str, said: str) -> RemoteFault:
    return kind(url=url, said=said)
