"""Runs the tests that a review names, on the attempt: only what fails there, and not at the base, is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from memory.types import CheckId
from stages.case import Case
from stages.comparison import shows_red
from stages.report import Check
from stages.verdict import Finding
from stages.workspace import Workspace

TESTS_AT_MOST: Final = 5
_TRIES: Final = 2  # a test that flips shows nothing


def evaluated(
    findings: Iterable[Finding], case: Case, workspace: Workspace, *, stopped: Callable[[], bool] = lambda: False
) -> tuple[Finding, ...]:
    """The findings, of which those `fail` whose test fails alone with the patch, and passes alone without it.

    The gate ran all tests together, so this is what it does not see. `workspace` stands at the base with the patch
    applied; it stands at the base afterwards where a test failed.
    """
    found = tuple(findings)
    named = {test: check for one in found if (check := _check_of(test := CheckId(one.check), case))}
    tests = list(named)[:TESTS_AT_MOST]

    def red(test: CheckId) -> bool:
        return all(_is_red(workspace, named[test], test, stopped) for _ in range(_TRIES))

    failing = [test for test in tests if red(test)]
    if failing:
        workspace.reset()
        failing = [test for test in failing if not _is_red(workspace, named[test], test, stopped)]
    return tuple(replace(one, fails=one.check in failing) for one in found)


def _check_of(test: CheckId, case: Case) -> Check | None:
    """None for what is no test, for a whole check, which the gate ran, and for what is red without the patch."""
    check = case.check_of(test)
    return check if check and check.name != test and test not in case.red else None


def _is_red(workspace: Workspace, check: Check, test: CheckId, stopped: Callable[[], bool]) -> bool:
    return shows_red(workspace.run(check.name, tests=(test,), stopped=stopped), test)
