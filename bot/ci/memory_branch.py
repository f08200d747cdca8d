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
from stages.git import Git, GitFailed
from stages.remote import PushOutcome, Remote, fault

BRANCH: Final = "ticketsmith/memory"
FILE: Final = "endings.jsonl"
FORGOTTEN: Final = "forgotten.txt"
TRIES: Final = 8
_SECONDS: Final = 120.0
_REF: Final = "refs/ticketsmith/memory"
_ATTRIBUTES: Final = ".gitattributes"
# So that people who merge it by hand lose no line either.
_UNION: Final = f"{FILE} merge=union\n{FORGOTTEN} merge=union\n"
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


class MemoryBranch:
    """The branch of one repository. `remote` gives where it is, with a credential for it."""

    def __init__(self, git: Git, remote: Callable[[], Remote], *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._git, self._remote, self._sleep = git, remote, sleep

    def read(self) -> Remembered:
        """The branch as it is now; nothing where there is none. Raises RemoteFault."""
        return _remembered(self._files(self._fetched()))

    def add(self, change: Change) -> bool:
        """Add these; whether any of it was new. Tried again while others add theirs.

        Raises MemoryNotKept and RemoteFault.
        """
        said = ""
        for tried in range(TRIES):
            self._sleep(_PAUSE_SECONDS * tried)
            head = self._fetched()
            before = self._files(head)
            after = _changed(before, change)
            if after == before:
                return False
            pushed = self._remote().push(self._git, self._commit(before, after, head), BRANCH, head)
            if pushed.outcome is PushOutcome.TAKEN:
                return True
            said = pushed.said
            if pushed.outcome is PushOutcome.RULE:
                break
        raise MemoryNotKept(branch=BRANCH, reason=said or "others were always faster")

    def _fetched(self) -> CommitId | None:
        """The branch's commit, brought here; None where there is no branch."""
        remote = self._remote()
        head = remote.head(self._git, BRANCH)
        if head is not None and self._taken() != head:
            self._fetch(remote)
            return self._taken()
        return head

    def _fetch(self, remote: Remote, *more: str) -> None:
        said = remote.reached_by(self._git, seconds=_SECONDS).try_to(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head", *more,
            remote.url, f"+refs/heads/{BRANCH}:{_REF}",
        )  # fmt: skip
        if said.status != 0:
            raise fault(remote.url, said)

    def _taken(self) -> CommitId | None:
        """What was fetched last: git moves the ref only once all of it is here."""
        found = self._git.ask("rev-parse", "--verify", "--quiet", _REF)
        return CommitId(found.decode().strip()) if found else None

    def _files(self, commit: CommitId | None) -> dict[str, str]:
        """The files of ours in it."""
        if commit is None:
            return {}
        try:
            return self._texts(commit)
        except GitFailed:  # a partial clone may have brought the branch without what is in it
            self._fetch(self._remote(), "--refetch")
            return self._texts(commit)

    def _texts(self, commit: CommitId) -> dict[str, str]:
        listed = self._git.run("ls-tree", "-l", "-z", commit).split(b"\0")
        found = read_all(self._git.run, listed, lambda name, _: name in (FILE, FORGOTTEN) or bool(_RUN.fullmatch(name)))
        return {name: data.decode("utf-8", "replace") for name, data in found.items()}

    def _entries(self, commit: CommitId) -> list[tuple[str, str]]:
        """What stands at its top: what git says of it, and its name."""
        listed = self._git.run("ls-tree", "-z", commit).decode("utf-8", "surrogateescape").split("\0")
        return [(head, name) for head, _, name in (line.partition("\t") for line in listed if line)]

    def _commit(self, before: Mapping[str, str], after: Mapping[str, str], parent: CommitId | None) -> CommitId:
        """The branch with these files of ours; what people put beside them stays."""
        ours = {*before, *after, _ATTRIBUTES}
        lines = [f"{head}\t{name}" for head, name in (self._entries(parent) if parent else ()) if name not in ours]
        lines += [f"100644 blob {self._blob(text)}\t{name}" for name, text in after.items()]
        lines += [f"100644 blob {self._blob(_UNION)}\t{_ATTRIBUTES}"]
        tree = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape")
        made = self._git.run("mktree", "-z", stdin=tree).decode().strip()
        parents = ("-p", parent) if parent else ()
        commit = self._git.run("commit-tree", *parents, "-F", "-", made, stdin=b"Remember how runs went\n")
        return CommitId(commit.decode().strip())

    def _blob(self, text: str) -> str:
        return self._git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text.encode()).decode().strip()


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
