"""A run that ended early: what it did not reach is run after it, and it is compared with how far the base's got."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from memory.types import CheckId
from stages.report import Check, CheckKind, CheckReport

RUNS_AT_MOST: Final = 3
"""For what a run did not reach: each may end early as well."""

_TESTS_RAN: Final = frozenset({0, 1})  # pytest's exit statuses when all tests were run to their ends


def with_the_rest(check: Check, report: CheckReport, run: Callable[[tuple[CheckId, ...]], CheckReport]) -> CheckReport:
    """The report of a whole run, and how the tests ended that it did not reach; it stays incomplete.

    Else nobody would see what a patch breaks behind a test that takes the run with it.
    """
    if check.kind is not CheckKind.PYTEST or report.timed_out:
        return report
    for _ in range(RUNS_AT_MOST):
        left = _left(report)
        if report.complete or not left:
            break
        more = run(left)
        report = _joined(report, more)
        if more.complete or more.timed_out or not more.outcomes:
            break
    return report


def ended_as_before(check: Check, base: CheckReport, head: CheckReport) -> bool:
    """True when both runs ended early, and that with the patch no earlier than the base's.

    What the base's run reached the other one reached as well, and so did the runs after each. Where it ended early is
    told by a channel that only pytest has.
    """
    if check.kind is not CheckKind.PYTEST or base.complete or head.complete or head.timed_out:
        return False
    if head.exit_status not in _TESTS_RAN | {base.exit_status}:
        return False
    known = bool(head.collected)
    return known and reaches_as_far(base, head) and reaches_as_far(_alone(base), _alone(head))


def ended(check: Check, one: CheckReport, other: CheckReport) -> bool:
    """True when the other run came to its end, or ended early just as the one did."""
    return other.complete or ended_as_before(check, one, other)


def reaches_as_far(one: CheckReport, other: CheckReport) -> bool:
    """True when no test that the other run could have run ended in the one only."""
    return {outcome.id for outcome in one.outcomes}.isdisjoint(_left(other))


def _joined(report: CheckReport, more: CheckReport) -> CheckReport:
    known = {outcome.id for outcome in report.outcomes}
    new = tuple(outcome for outcome in more.outcomes if outcome.id not in known)
    rest = (*report.rest, *(outcome.id for outcome in new))
    return replace(report, outcomes=(*report.outcomes, *new), rest=rest)


def _alone(report: CheckReport) -> CheckReport:
    """Without the runs after it."""
    rest = frozenset(report.rest)
    return replace(report, outcomes=tuple(outcome for outcome in report.outcomes if outcome.id not in rest))


def _left(report: CheckReport) -> tuple[CheckId, ...]:
    ended = {outcome.id for outcome in report.outcomes}
    return tuple(test for test in report.collected if test not in ended)
