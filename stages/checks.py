"""Checks: which there are, and running one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from memory.types import CheckId
from stages.report import Check, CheckReport
from stages.sandbox import Command, Ran


class Runs(Protocol):
    """What runs a command: a sandbox."""

    def run(self, command: Command, *, stopped: Callable[[], bool] = ...) -> Ran: ...


def detect(files: Iterable[str], read: Callable[[str], bytes]) -> tuple[Check, ...]:
    """The checks that a tree shows: pytest, when there are settings of pytest or test files."""
    raise NotImplementedError


class Checks:
    """Runs checks in a sandbox, with the interpreter `python` for the target's tests."""

    def __init__(self, sandbox: Runs, python: Path) -> None:
        self._sandbox, self._python = sandbox, python

    def run(
        self,
        check: Check,
        tree: Path,
        *,
        tests: Sequence[CheckId] = (),
        coverage: bool = False,
        stop_at_first: bool = False,
        test_seconds: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> CheckReport:
        """Run a check, or some tests of it in this order."""
        raise NotImplementedError
