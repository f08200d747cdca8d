"""An isolated clone of exactly the base commit, and what an attempt changes in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from memory.types import CheckId, CommitId
from stages.checks import Checks
from stages.patch import Patch
from stages.report import Check, CheckReport, Reproduction
from stages.repository import Repository


def never() -> bool:
    """Nobody stopped the run."""
    return False


class Workspace:
    """A tree of files without `.git`, its base commit and its checks."""

    def __init__(self, folder: Path, base: CommitId, checks: tuple[Check, ...], runner: Checks) -> None:
        self.tree, self.base, self.checks = folder / "tree", base, checks
        self._runner = runner

    def files(self, folder: str = "") -> tuple[str, ...]:
        """Paths of the files in the tree, without caches."""
        raise NotImplementedError

    def read(self, path: str) -> bytes:
        """Raises Refused."""
        raise NotImplementedError

    def write(self, path: str, data: bytes) -> None:
        """Raises Refused, also for the frozen reproduction."""
        raise NotImplementedError

    def remove(self, path: str) -> None:
        """Raises Refused, also for the frozen reproduction."""
        raise NotImplementedError

    def run(
        self,
        check: CheckId,
        *,
        tests: Sequence[CheckId] = (),
        coverage: bool = False,
        stop_at_first: bool = False,
        stopped: Callable[[], bool] = never,
    ) -> CheckReport:
        """Run a known check, or some tests of it in this order. Raises Refused for an unknown check or a bad id."""
        raise NotImplementedError

    def absorb(self) -> None:
        """Count every file that now differs from the base as written here: what an external program left."""
        raise NotImplementedError

    def patch(self, *, touched_only: bool = True) -> Patch:
        """What was written here, absorbed and applied; with False: everything that differs and is not ignored."""
        raise NotImplementedError

    def apply(self, patch: Patch) -> None:
        """Raises Refused when it does not fit the base."""
        raise NotImplementedError

    def reset(self) -> None:
        """Back to the base commit, with the frozen reproduction in its place."""
        raise NotImplementedError

    def place(self, reproduction: Reproduction) -> None:
        """Write and freeze the reproduction's file. Raises Refused."""
        raise NotImplementedError

    @property
    def reproduction(self) -> Reproduction | None:
        """The reproduction that was placed."""
        raise NotImplementedError


class Workspaces:
    """Makes workspaces under one folder."""

    def __init__(self, folder: Path, runner: Checks) -> None:
        self._folder, self._runner = folder, runner

    def make(
        self, repository: Repository, commit: CommitId, name: str, *, checks: tuple[Check, ...] | None = None
    ) -> Workspace:
        """A fresh clone of `commit`; one of the same name is replaced. Without `checks` they are detected."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Take a workspace away, whatever ran in it."""
        raise NotImplementedError
