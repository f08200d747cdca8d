"""One check before and after a patch: what fails now, what failed before, what is fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from memory.types import CheckId
from stages.early_end import ended_as_before
from stages.report import PYTEST_NO_TESTS, Check, CheckKind, CheckReport, Outcome
from stages.weakening import Weakened, weakened_runs

_TESTS_RAN: Final = frozenset({0, 1})  # pytest's exit statuses when all tests were run to their ends


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What a patch did to one check. A test that was red before is compared, not demanded."""

    newly_failing: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()
    fixed: tuple[CheckId, ...] = ()
    weakened: tuple[Weakened, ...] = ()


def compare(check: Check, base: CheckReport, head: CheckReport) -> Comparison:
    """The check at the base against the check with the patch. What could not be run to its end counts as failing.

    Where the base's run ended early too, that alone is nothing new: its tests are compared, one by one.
    """
    before, now = dict.fromkeys(base.failing), dict.fromkeys(head.failing)
    as_before = ended_as_before(check, base, head)
    if as_before:
        before[check.name] = None
    elif not _can_be_judged(check, base, head):
        now[check.name] = None
        before.pop(check.name, None)
    passing = {outcome.id for outcome in head.outcomes if outcome.outcome is Outcome.PASSED}
    return Comparison(
        newly_failing=tuple(test for test in now if test not in before),
        still_failing=tuple(test for test in now if test in before),
        fixed=tuple(test for test in before if test in passing or (test == check.name and head.passed)),
        weakened=weakened_runs(base, head) if head.complete or as_before else (),  # what is missing else was not run
    )


def _can_be_judged(check: Check, base: CheckReport, head: CheckReport) -> bool:
    if not head.complete:
        return False
    match check.kind:
        case CheckKind.COMMAND:
            return True
        case CheckKind.PYTEST:
            return head.exit_status in _TESTS_RAN or head.exit_status == PYTEST_NO_TESTS == base.exit_status
        case CheckKind.JUNIT | CheckKind.JEST | CheckKind.GO | CheckKind.CARGO:
            # Tests that failed before do not explain a failure of another kind.
            return head.exit_status == 0 or base.exit_status in (0, head.exit_status)
    assert_never(check.kind)


def shows_red(report: CheckReport, test: CheckId) -> bool:
    """True when the test failed, or when the run broke off in it."""
    if test == report.check:
        return not report.passed and not report.ran_nothing
    return any(outcome.id == test and outcome.outcome is Outcome.FAILED for outcome in report.outcomes)


def shows_green(report: CheckReport, test: CheckId) -> bool:
    """True when the test was run to its end and passed: not skipped, not missing, not expected to fail."""
    if test == report.check:
        return report.passed
    return report.complete and has_passed(report, test)


def has_passed(report: CheckReport, test: CheckId) -> bool:
    """True when the test passed, whatever became of the run after it."""
    return [outcome.outcome for outcome in report.outcomes if outcome.id == test] == [Outcome.PASSED]
