"""Memory without a database: a branch of the repository, to which every job adds.

`endings.jsonl` is the log of endings, one line for each, only ever added to. `forgotten.txt` names lessons that people
took back. `run-7.json` says how the open run of issue 7 stands (`bot.ci.standing`); it goes when the run is over, and
only the jobs of that issue write it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.errors import BotError
from memory.log import merged
from memory.types import CommitId
from stages.blobs import read_all
from stages.git import AUTHOR, EMAIL, Git, GitFailed
from stages.remote import NoSuchRemoteRef, PushOutcome, Remote, fault

BRANCH: Final = "ticketsmith/memory"
FILE: Final = "endings.jsonl"
FORGOTTEN: Final = "forgotten.txt"
TRIES: Final = 8
_SECONDS: Final = 120.0
_REF: Final = "refs/ticketsmith/memory"
_MADE: Final = "refs/ticketsmith/remembering"  # what a push takes along
_ATTRIBUTES: Final = ".gitattributes"
# So that people who merge it by hand lose no line either.
_UNION: Final = f"{FILE} merge=union\n{FORGOTTEN} merge=union\n"
_MESSAGE: Final = "Remember how runs went\n"
_PAUSE_SECONDS: Final = 0.5
_RUN: Final = re.compile(r"run-([1-9][0-9]{0,17})\.json")


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """The branch at one moment: the log, ids of lessons that are forgotten, and of each issue how its run stands."""

    log: str = ""
    forgotten: frozenset[str] = frozenset()
    runs: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a job adds: lines of the log, forgotten lessons, and how runs stand now (None: over)."""

    log: str = ""
    forgotten: frozenset[str] = frozenset()
    runs: Mapping[int, str | None] = field(default_factory=dict)


class MemoryNotKept(BotError):
    """What this run taught could not be added to the branch {branch}: {reason}."""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """The branch at one moment: its commit, None where there is no branch, and the files of ours in it."""

    head: CommitId | None = None
    files: Mapping[str, str] = field(default_factory=dict)


class MemoryBranch:
    """The branch of one repository. `remote` gives where it is, with a credential for it."""

    def __init__(self, git: Git, remote: Callable[[], Remote], *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._git, self._remote, self._sleep = git, remote, sleep
        self._read: _Seen | None = None

    def read(self) -> Remembered:
        """The branch as it is now; nothing where there is none. Raises RemoteFault."""
        self._read = self._look()
        return _remembered(self._read.files)

    def add(self, change: Change) -> bool:
        """Add these; whether any of it was new. Tried again while others add theirs.

        Raises MemoryNotKept and RemoteFault.
        """
        seen, self._read = self._read, None  # a push onto it is refused where others were faster since
        if seen and _changed(seen.files, change) == seen.files:
            seen = None  # nothing was new then, which may be no longer so
        said = ""
        for tried in range(TRIES):
            self._sleep(_PAUSE_SECONDS * tried)
            seen = seen or self._look()
            after = _changed(seen.files, change)
            if after == seen.files:
                return False
            pushed = self._remote().push(self._git, self._commit(seen, after), BRANCH, seen.head)
            if pushed.outcome is PushOutcome.TAKEN:
                return True
            said, seen = pushed.said, None
            if pushed.outcome is PushOutcome.RULE:
                break
        raise MemoryNotKept(branch=BRANCH, reason=said or "others were always faster")

    def _look(self) -> _Seen:
        """The branch as it is now, brought here."""
        remote = self._remote()
        try:
            self._fetch(remote)
        except NoSuchRemoteRef:
            if remote.head(self._git, BRANCH) is not None:
                raise
            return _Seen()
        head = CommitId(self._git.run("rev-parse", "--verify", "--quiet", _REF).decode().strip())
        return _Seen(head=head, files=self._files(head))

    def _fetch(self, remote: Remote, *more: str) -> None:
        """Git moves the ref only once all of it is here."""
        said = remote.reached_by(self._git, seconds=_SECONDS).try_to(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head", *more,
            remote.url, f"+refs/heads/{BRANCH}:{_REF}",
        )  # fmt: skip
        if said.status != 0:
            raise fault(remote.url, said)

    def _files(self, commit: CommitId) -> dict[str, str]:
        """The files of ours in it."""
        try:
            return self._texts(commit)
        except GitFailed:  # a partial clone may have brought the branch without what is in it
            self._fetch(self._remote(), "--refetch")
            return self._texts(commit)

    def _texts(self, commit: CommitId) -> dict[str, str]:
        listed = self._git.run("ls-tree", "-l", "-z", commit).split(b"\0")
        found = read_all(self._git.run, listed, lambda name, _: name in (FILE, FORGOTTEN) or bool(_RUN.fullmatch(name)))
        return {name: data.decode("utf-8", "replace") for name, data in found.items()}

    def _commit(self, seen: _Seen, files: Mapping[str, str]) -> CommitId:
        """The branch with these files of ours; what people put beside them stays."""
        written = {name: text for name, text in files.items() if seen.files.get(name) != text}
        stream = [
            f"commit {_MADE}\nmark :1\ncommitter {AUTHOR} <{EMAIL}> now\n{_data(_MESSAGE)}",
            f"from {seen.head}\n" if seen.head else "",
            *(f"D {name}\n" for name in seen.files if name not in files),
            *(f"M 100644 inline {name}\n{_data(text)}" for name, text in {**written, _ATTRIBUTES: _UNION}.items()),
            "get-mark :1\n",
        ]
        made = self._git.run("fast-import", "--quiet", "--force", "--date-format=now", stdin="".join(stream).encode())
        return CommitId(made.decode().strip())


def _data(text: str) -> str:
    """A text as `git fast-import` reads it."""
    return f"data {len(text.encode())}\n{text}\n"


def _remembered(files: Mapping[str, str]) -> Remembered:
    found = ((_RUN.fullmatch(name), text) for name, text in files.items())
    return Remembered(
        log=files.get(FILE, ""),
        forgotten=frozenset(files.get(FORGOTTEN, "").split()),
        runs={int(name[1]): text for name, text in found if name},
    )


def _changed(before: Mapping[str, str], change: Change) -> dict[str, str]:
    after, known = dict(before), _remembered(before)
    after[FILE] = merged(known.log, change.log)
    after[FORGOTTEN] = "".join(f"{one}\n" for one in sorted(known.forgotten | change.forgotten))
    after |= {f"run-{number}.json": text or "" for number, text in change.runs.items()}
    return {name: text for name, text in after.items() if text}
