"""An isolated clone of exactly the base commit, and what an attempt changes in it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from memory.types import CheckId, CommitId
from stages.checks import Checks, Wish
from stages.clone import Clone
from stages.detection import Detected, detect, is_test_file, usable
from stages.errors import ParkCause, Parked, Refused
from stages.git import GitFailed
from stages.jail import Jail
from stages.lending import Lending
from stages.pace import Pace
from stages.patch import Patch
from stages.paths import plain
from stages.report import Check, CheckReport, Reproduction, Service, file_of
from stages.repository import Repository, UnreadableRepository
from stages.sandbox import remove
from stages.tests_of_commands import alone

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_LEFT_BEHIND: Final = re.compile(
    r"(?:.*/)?(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|[^/]+\.egg-info)/.*|.*\.py[co]"
)


class Workspace:
    """A tree of files without `.git`, its base commit and its checks.

    Every path goes through the jail, every command through the sandbox, every diff through a git directory that
    nothing in the tree can reach. `left_out` says of checks that were seen why they cannot run here; `detected` that
    nobody named them.
    """

    def __init__(
        self, clone: Clone, checks: Detected, runner: Checks, pace: Pace, lending: Lending, *, detected: bool = False
    ) -> None:
        self.tree, self.base = clone.tree, clone.base
        self.checks, self.left_out, self.detected = checks.checks, checks.left_out, detected
        self._clone, self._runner, self._pace, self._lending = clone, runner, pace, lending
        self._jail = Jail(clone.tree)
        self._unsaved: dict[str, bytes | None] = {}
        self._reproduction: Reproduction | None = None

    def use(self, checks: tuple[Check, ...]) -> None:
        """Run these checks from now on: what a tree shows may come to other ones, once they ran."""
        self.checks = checks

    def leave_out(self, *why: str) -> None:
        """Checks that were seen since, and cannot run here."""
        self.left_out = (*self.left_out, *why)

    def why_not(self, check: Check) -> str:
        """Why a check cannot run here, with the way out; "" when it can."""
        return self._runner.why_not(check, self._lending.has)

    # --- files -------------------------------------------------------------------------------------------------------

    def files(self, folder: str = "") -> tuple[str, ...]:
        """Paths of the files in the tree, without what interpreters and tests keep there. Raises Refused."""
        return tuple(path for path in self._jail.list(folder) if not _LEFT_BEHIND.fullmatch(path))

    def read(self, path: str) -> bytes:
        """A file of the tree. Raises Refused."""
        return self._jail.read(path)

    def at_base(self, path: str) -> bytes | None:
        """A file as it stands at the base commit; None where there is no regular file."""
        return self._clone.at_base(path)

    def write(self, path: str, data: bytes) -> None:
        """Write a file; it is a part of the patch then. Raises Refused, also for the frozen reproduction."""
        self._refuse_frozen(path)
        self._jail.write(path, data)
        self._unsaved[plain(path)] = data

    def remove(self, path: str) -> None:
        """Take a file away. Raises Refused, also for the frozen reproduction."""
        self._refuse_frozen(path)
        self._jail.remove(path)
        self._unsaved[plain(path)] = None

    # --- checks ------------------------------------------------------------------------------------------------------

    def run(
        self,
        check: CheckId,
        *,
        tests: Sequence[CheckId] = (),
        with_files: bool = False,
        coverage: bool = False,
        stop_at_first: bool = False,
        test_seconds: float | None = None,
        hurry: float | None = None,
        at_base: bool = False,
        stopped: Callable[[], bool] = lambda: False,
        warm: Checks | None = None,
    ) -> CheckReport:
        """Run a known check, or some tests of it in this order; a file or a class means all tests in it.

        `with_files` runs the whole files of the tests, for what earlier tests leave behind, and tells of the tests
        alone; a first failure stops nothing then. One test may take `test_seconds`; without them, what its time at the
        base allows, or less by `hurry`, and where the tree is `at_base`, for what hung there before. `warm` is for what
        decides nothing, and comes from the method of that name.

        Raises Refused for an unknown check, one whose folder is not there, or a bad id, Stopped, and Parked when no
        command can run.
        """
        known = next((known for known in self.checks if known.name == check), None)
        if known is None:
            names = ", ".join(one.name for one in self.checks) or "none"
            raise Refused(reason=f"there is no check {check[:100]!r}; known are: {names}")
        if problem := self.why_not(known):
            raise Parked(cause=ParkCause.ENVIRONMENT, reason=f"the check {check} cannot run here: {problem}")
        self._put_reproduction()
        if not known.detected and self.tree.is_dir() and not (self.tree / known.folder).is_dir():
            setting = f"`[checks.{check}] folder` in .github/ticketsmith.toml"
            raise Refused(
                reason=f"the check {check} cannot run: {known.folder} is no folder of the tree; see {setting}"
            )
        asked = tuple(dict.fromkeys(map(file_of, tests))) if with_files else tuple(tests)
        patience = self._pace.patience(self.base, known, asked, coverage=coverage, hurry=hurry, at_base=at_base)
        wish = Wish(
            tests=asked,
            coverage=coverage,
            stop_at_first=stop_at_first and not with_files,
            test_seconds=test_seconds or (patience.test if patience else None),
            timeout_seconds=patience.command if patience and test_seconds is None else None,
        )
        lent = self._lending.to(known, self.tree)
        report = (warm or self._runner).run(known, self.tree, wish, lent=lent, stopped=stopped)
        self._pace.saw(self.base, report)
        return alone(report, tests) if with_files else report

    @contextmanager
    def warm(self) -> Iterator[Checks]:
        """Checks for an agent that runs them again and again: `Checks.warm`."""
        with self._runner.warm() as warm:
            yield warm

    # --- the patch ---------------------------------------------------------------------------------------------------

    def absorb(self) -> None:
        """Count everything that differs from the base as written here: what an external program left in the tree.

        Ignored files and caches are left out. Raises Refused for names that git refuses.
        """
        self._unsaved.clear()
        self._clone.absorb()
        self._put_reproduction()

    def patch(self, *, touched_only: bool = True) -> Patch:
        """What was written here, absorbed or applied; with False, everything in the tree that is not ignored.

        The frozen reproduction is no part of it. Raises Refused for names that git refuses.
        """
        self._save()
        frozen = self._reproduction.path if self._reproduction else ""
        return self._clone.patch(touched_only=touched_only, without=frozen)

    def apply(self, patch: Patch) -> None:
        """Change files as a patch says. Raises Refused where it does not fit."""
        if patch.cut:
            raise Refused(reason="the patch was too long to keep")
        if not patch:
            return
        if self._reproduction and self._reproduction.path in patch.paths:
            raise Refused(reason=f"{self._reproduction.path} is the frozen reproduction")
        self._save()
        changed = self._clone.apply(patch)
        for file in changed:
            if file.status in ("D", "T"):
                self._jail.remove(file.path)
        self._clone.put(file.path for file in changed if file.status != "D")

    def restore(self, paths: Iterable[str]) -> None:
        """Put files back as they stand at the base, or take them away, without changing the patch."""
        for path in paths:
            before = self._clone.at_base(path)
            if before is not None:
                self._jail.write(path, before)
            elif path in self.files():
                self._jail.remove(path)

    def reset(self) -> None:
        """Back to the base commit, with the frozen reproduction in its place."""
        remove(self.tree)
        self.tree.mkdir()
        self._unsaved.clear()
        self._clone.check_out()
        self._put_reproduction()

    # --- the reproduction --------------------------------------------------------------------------------------------

    @property
    def reproduction(self) -> Reproduction | None:
        """The reproduction that was placed."""
        return self._reproduction

    def place(self, reproduction: Reproduction) -> None:
        """Freeze the reproduction: its file is written now and before each run, and is never a part of the patch.

        Raises Refused for a text that is not the one that was hashed, and for a path that exists at the base or that
        pytest would not collect.
        """
        if reproduction.path:
            if hashlib.sha256(reproduction.text.encode("utf-8", "surrogatepass")).hexdigest() != reproduction.sha256:
                raise Refused(reason=f"{reproduction.path} is not the text that was frozen")
            if plain(reproduction.path) != reproduction.path or not is_test_file(reproduction.path):
                raise Refused(reason=f"{reproduction.path!r} is no name of a new test file")
            if self._clone.at_base(reproduction.path) is not None:
                raise Refused(reason=f"{reproduction.path} exists at the base commit")
        self._reproduction = reproduction
        self._put_reproduction()

    def _put_reproduction(self) -> None:
        if self._reproduction and self._reproduction.path:
            self._jail.write(self._reproduction.path, self._reproduction.text.encode())

    def _refuse_frozen(self, path: str) -> None:
        if self._reproduction and self._reproduction.path and plain(path) == self._reproduction.path:
            raise Refused(reason=f"{path} is the reproduction; it stays as it is")

    def _save(self) -> None:
        if self._unsaved:
            self._clone.write(self._unsaved)
            self._unsaved = {}


class Workspaces:
    """Makes workspaces under one folder: `<folder>/<name>/git`, which is ours, and `<folder>/<name>/tree`."""

    def __init__(self, folder: Path, runner: Checks) -> None:
        self._folder, self._runner, self._pace = folder, runner, Pace()
        self._installed: tuple[Path, ...] = ()

    def stand_on(self, runner: Checks, installed: tuple[Path, ...]) -> None:
        """What workspaces that are made from now on run checks with, and folders that are lent before a checkout's."""
        self._runner, self._installed = runner, installed

    def make(
        self,
        repository: Repository,
        commit: CommitId,
        name: str,
        *,
        checks: tuple[Check, ...] | None = None,
        services: tuple[Service, ...] = (),
    ) -> Workspace:
        """A fresh clone of `commit`; one of the same name is replaced. Without `checks` they are detected, and
        `services` run beside each.

        Raises Refused for a bad name, UnreadableRepository when the commit cannot be read whole.
        """
        self.remove(name)
        try:
            clone = Clone.make(repository.objects, commit, self._folder / name)
            clone.check_out()
        except GitFailed as error:
            raise UnreadableRepository(path=repository.folder, message=error.fields["message"]) from error
        lending = Lending(repository.folder, *self._installed)
        if checks is None:
            shown = detect(clone.files_at_base(), clone.at_base)
            beside = (lending.settled(replace(check, services=services)) for check in shown)
            seen = usable(beside, partial(self._runner.why_not, is_there=lending.has))
        else:
            seen = Detected(checks=checks)
        return Workspace(clone, seen, self._runner, self._pace, lending, detected=checks is None)

    def remove(self, name: str) -> None:
        """Take a workspace away, whatever ran in it; nothing to take away is no error."""
        if not _NAME.fullmatch(name):
            raise Refused(reason=f"{name[:80]!r} is no name of a workspace")
        remove(self._folder / name)
