"""How long tests take where they end, so that one that hangs is soon known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.types import CheckId, CommitId
from stages.report import Check, CheckReport, Outcome

TEST_SECONDS_AT_LEAST: Final = 10.0
_TIMES_SLOWER: Final = 10  # than at the base: then a test that was named counts as hanging
_TIMES_SLOWER_THAN_ANY: Final = 30  # than the slowest test of the base: the same for every other test
_TIMES_SLOWER_IN_A_HURRY: Final = 5
_TIMES_A_START: Final = 5
_START_SECONDS_AT_LEAST: Final = 20.0  # a busy machine takes that long to start an interpreter
_HURRY_FOR_WHAT_HUNG: Final = 0.25  # most that hung at the base hang with a candidate too, or end at once
_START_SECONDS_IN_A_HURRY: Final = 5.0  # what runs once in a second has mostly begun already
_SECONDS_FOR_WHAT_HUNG: Final = 2.0  # at the base, where the first run of it has waited long enough
_PARTS: Final = 3  # set-up, call and tear-down of a test have the time each


@dataclass(kw_only=True)
class _Seen:
    tests: dict[CheckId, float] = field(default_factory=dict)
    hung: set[CheckId] = field(default_factory=set)
    slowest: float = 0.0
    start: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Seconds that one test may take, and that the whole command may."""

    test: float
    command: float


class Pace:
    """The times of the tests of each check, by base commit."""

    def __init__(self) -> None:
        self._seen: dict[tuple[CommitId, CheckId], _Seen] = {}

    def saw(self, base: CommitId, report: CheckReport) -> None:
        """Remember how long the tests took, and which ones hung: those say nothing of how long they take."""
        if not report.complete or not report.outcomes:
            return
        seen = self._seen.setdefault((base, report.check), _Seen())
        # The base runs first: what hangs before it ever ended hangs there.
        seen.hung.update(outcome.id for outcome in report.outcomes if outcome.hung and outcome.id not in seen.tests)
        ended = [outcome for outcome in report.outcomes if not outcome.hung]
        for outcome in ended:
            seen.tests[outcome.id] = max(outcome.seconds, seen.tests.get(outcome.id, 0.0))
        seen.slowest = max([seen.slowest, *(one.seconds for one in ended if one.outcome is Outcome.PASSED)])
        if len(ended) == len(report.outcomes):
            seen.start = max(seen.start, report.seconds - sum(outcome.seconds for outcome in ended))

    def patience(
        self,
        base: CommitId,
        check: Check,
        tests: Sequence[CheckId] = (),
        *,
        coverage: bool = False,
        hurry: float | None = None,
        at_base: bool = False,
    ) -> Patience | None:
        """When tests of this check hang; None before any run has ended.

        `hurry` asks for fewer seconds; a test has at least five times what it took at the base, thirty times where its
        lines are watched. `at_base` says that nothing is changed. What hung at the base has less time in both cases.
        """
        seen = self._seen.get((base, check.name))
        if seen is None:
            return None
        test = _seconds(tests, seen, coverage=coverage, hurry=hurry, at_base=at_base)
        if not tests or not _are_single(tests, seen):
            return Patience(test=test, command=check.timeout_seconds)
        least = _START_SECONDS_AT_LEAST if hurry is None else _START_SECONDS_IN_A_HURRY
        start = max(least, seen.start * _TIMES_A_START)
        return Patience(test=test, command=min(check.timeout_seconds, start + _PARTS * test * len(tests)))


def _seconds(tests: Sequence[CheckId], seen: _Seen, *, coverage: bool, hurry: float | None, at_base: bool) -> float:
    """What one test may take."""
    known = [seconds for seconds in (_of(test, seen) for test in tests) if seconds is not None]
    exact = len(known) == len(tests) and bool(tests) and not coverage
    usual = max(known) * _TIMES_SLOWER if exact else seen.slowest * _TIMES_SLOWER_THAN_ANY
    at_most = max(TEST_SECONDS_AT_LEAST, usual)
    if tests and seen.hung.issuperset(tests):
        least = _SECONDS_FOR_WHAT_HUNG if at_base else _HURRY_FOR_WHAT_HUNG
        enough = max(least, seen.slowest * _TIMES_SLOWER, *(seconds * _TIMES_SLOWER for seconds in known))
        wanted = enough if at_base or hurry is not None else at_most
        return min(at_most, wanted, hurry or at_most)
    if hurry is None:
        return at_most
    slower = _TIMES_SLOWER_THAN_ANY if coverage else _TIMES_SLOWER_IN_A_HURRY
    return min(at_most, max(hurry, slower * (max(known, default=0.0) if tests else seen.slowest)))


def _of(test: CheckId, seen: _Seen) -> float | None:
    """Seconds of a test, or of the slowest one in a file or class; None when it never ended."""
    if test in seen.tests:
        return seen.tests[test]
    inside = [seconds for name, seconds in seen.tests.items() if name.startswith((f"{test}::", f"{test}["))]
    return max(inside, default=None)


def _are_single(tests: Sequence[CheckId], seen: _Seen) -> bool:
    return not any(name.startswith((f"{test}::", f"{test}[")) for test in tests for name in seen.tests)
