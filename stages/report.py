"""What a check is, and what one run of it showed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from memory.types import CheckId


class CheckKind(StrEnum):
    """What a check is, and where its results come from besides its exit status."""

    PYTEST = "pytest"
    COMMAND = "command"  # its exit status alone
    JUNIT = "junit"  # a command that writes JUnit XML files
    JEST = "jest"  # a command that writes Jest's JSON
    GO = "go"  # `go test -json`, from its standard output
    CARGO = "cargo"  # `cargo test`, from its output

    @property
    def names_tests(self) -> bool:
        """True when a run tells which tests there are, and how each ended."""
        return self is not CheckKind.COMMAND


@dataclass(frozen=True, kw_only=True)
class Service:
    """A program that runs beside a check, in the same sandbox, from before it begins until it ends.

    `port` is the TCP port of 127.0.0.1 on which it is ready; 0 when it is as soon as it runs.
    """

    name: str
    arguments: tuple[str, ...]
    folder: str = "."
    port: int = 0
    timeout_seconds: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check that was detected or configured.

    `arguments` are those of pytest, or the whole command. `folder` is where it runs, relative to the tree. `results` is
    a pattern of the files that it writes, relative to its folder. `installed` are folders of dependencies, relative to
    its folder: they are no part of the repository and are lent, read-only, from the checkout that people work in.
    """

    name: CheckId
    kind: CheckKind
    arguments: tuple[str, ...] = ()
    folder: str = "."
    timeout_seconds: float = 600.0
    results: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    installed: tuple[str, ...] = ()
    services: tuple[Service, ...] = ()
    detected: bool = False  # beside pytest, and not asked for: where it cannot run, the others do


_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]+")
TIMEOUT: Final = "Timeout"
"""The type of the failure of a test that was ended because it took too long, alone or with the whole run."""


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"  # an error in set-up, tear-down or collection is a failure too
    SKIPPED = "skipped"
    XFAILED = "xfailed"  # marked as expected to fail, whether it did or passed; a strict one that passes has failed


@dataclass(frozen=True, kw_only=True)
class TestOutcome:
    """How one test ended. `type` and `message` are those of the exception, `text` is pytest's account; all cut."""

    __test__ = False  # not a test class for pytest

    id: CheckId
    outcome: Outcome
    type: str = ""
    message: str = ""
    text: str = ""
    asserts: int = 0  # `assert` statements and `pytest.raises` in its source, 0 when unknown
    seconds: float = 0.0
    hidden: int = 0  # subtests that were skipped, or failed as expected

    @property
    def failure(self) -> str:
        """Exception and message, the same in every run of the same failure: without addresses in memory."""
        return _ADDRESS.sub("0x", f"{self.type}: {self.message}")

    @property
    def hung(self) -> bool:
        """True when it was ended because it took too long."""
        return self.type == TIMEOUT


def file_of(test: CheckId) -> CheckId:
    """The file of a pytest id, as an id that means all tests in it."""
    return CheckId(test.partition("::")[0])


LineHits = Mapping[str, Mapping[int, tuple[int, int]]]
"""path → line → (failed tests that ran it, passed tests that ran it)."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What one run of a check showed, from its exit status and its result channel, never from its output."""

    check: CheckId
    exit_status: int | None  # None when it was killed
    seconds: float
    outcomes: tuple[TestOutcome, ...] = ()
    collected: tuple[CheckId, ...] = ()
    rest: tuple[CheckId, ...] = ()  # those of the outcomes that come from runs after it: it ended before them
    ended_in: CheckId | None = None  # the test that was running, or the file that was being read, when it ended early
    complete: bool = True  # the result channel was closed properly: no early exit, no crash, no time-out
    timed_out: bool = False
    output: str = ""  # head and tail
    hits: LineHits = field(default_factory=dict)
    level: str = ""  # of the sandbox

    @property
    def passed(self) -> bool:
        """True when the check as a whole passed: exit status 0, complete, nothing failed."""
        return self.exit_status == 0 and self.complete and not self.failing

    @property
    def failed(self) -> tuple[TestOutcome, ...]:
        """The tests that failed, and how."""
        return tuple(test for test in self.outcomes if test.outcome is Outcome.FAILED)

    @property
    def failing(self) -> tuple[CheckId, ...]:
        """Ids of the tests that failed; the check's own name when it failed without naming one."""
        failed = tuple(test.id for test in self.failed)
        if failed or (self.exit_status == 0 and self.complete):
            return failed
        return (self.check,)

    @property
    def unread(self) -> tuple[TestOutcome, ...]:
        """Files and folders that failed as their tests were collected, so that none of these is known."""
        return tuple(test for test in self.failed if test.id not in self.collected)

    @property
    def ran_nothing(self) -> bool:
        """True when no test was collected; for a command, never."""
        return self.exit_status == PYTEST_NO_TESTS and not self.outcomes


PYTEST_NO_TESTS: Final = 5


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """One id among the checks, or one new test file, that shows the failure. `text` is empty for a known id."""

    check: CheckId
    test: CheckId  # the test's id; the check's name for a command
    path: str = ""
    text: str = ""
    sha256: str = ""  # of `text`; frozen before development
    with_file: bool = False  # run with all tests of its file: alone it shows another failure, or none

    @property
    def tests(self) -> tuple[CheckId, ...]:
        """The tests of the check that show the failure; none where the whole check does."""
        return () if self.test == self.check else (self.test,)
