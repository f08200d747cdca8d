"""Memory without a database: the log of endings on a branch of the repository, which every job adds to."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bot.errors import BotError
from memory.log import merged
from memory.types import CommitId
from stages.git import Git
from stages.remote import PushOutcome, Remote, fault

BRANCH: Final = "ticketsmith/memory"
FILE: Final = "endings.jsonl"
TRIES: Final = 8
_SECONDS: Final = 120.0
_REF: Final = "refs/ticketsmith/memory"
_ATTRIBUTES: Final = f"{FILE} merge=union\n"  # so that people who merge it by hand lose no line either
_PAUSE_SECONDS: Final = 0.5


class MemoryNotKept(BotError):
    """What this run taught could not be added to the branch {branch}: {reason}."""


class MemoryBranch:
    """The branch of one repository. `remote` gives where it is, with a credential for it."""

    def __init__(self, git: Git, remote: Callable[[], Remote], *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._git, self._remote, self._sleep = git, remote, sleep

    def read(self) -> str:
        """The log as it is now; empty where there is no branch. Raises RemoteFault."""
        return self._log(self._fetched())

    def add(self, log: str) -> bool:
        """Add these lines; whether any of them was new. Tried again while others add theirs.

        Raises MemoryNotKept and RemoteFault.
        """
        said = ""
        for tried in range(TRIES):
            self._sleep(_PAUSE_SECONDS * tried)
            head = self._fetched()
            before = self._log(head)
            after = merged(before, log)
            if after == before:
                return False
            pushed = self._remote().push(self._git, self._commit(after, head), BRANCH, head)
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
        if head is None:
            return None
        said = remote.reached_by(self._git, seconds=_SECONDS).try_to(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head",
            remote.url, f"+refs/heads/{BRANCH}:{_REF}",
        )  # fmt: skip
        if said.status != 0:
            raise fault(remote.url, said)
        return CommitId(self._git.run("rev-parse", "--verify", _REF).decode().strip())

    def _log(self, commit: CommitId | None) -> str:
        if commit is None:
            return ""
        return (self._git.ask("cat-file", "blob", f"{commit}:{FILE}") or b"").decode("utf-8", "replace")

    def _commit(self, log: str, parent: CommitId | None) -> CommitId:
        entries = [(".gitattributes", _ATTRIBUTES), (FILE, log)]
        tree = "".join(f"100644 blob {self._blob(text)}\t{name}\n" for name, text in entries)
        made = self._git.run("mktree", stdin=tree.encode()).decode().strip()
        parents = ("-p", parent) if parent else ()
        commit = self._git.run("commit-tree", *parents, "-F", "-", made, stdin=b"Remember how runs ended\n")
        return CommitId(commit.decode().strip())

    def _blob(self, text: str) -> str:
        return self._git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text.encode()).decode().strip()
