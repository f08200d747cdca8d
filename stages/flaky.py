"""Tests that fail newly, run again: which of them flip, and which fail at the base as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from memory.types import CheckId
from stages.comparison import Comparison, has_passed, shows_green, shows_red
from stages.report import Check, CheckKind, CheckReport

RERUNS_AT_MOST: Final = 3
TESTS_AT_MOST: Final = 20
"""More tests than these do not flip at once: something broke them."""

Run = Callable[[Check, tuple[CheckId, ...]], CheckReport]
"""Runs some tests of a check, or all of it for none."""

Shows = Callable[[CheckReport, CheckId], bool]

_CHOOSES: Final = frozenset({CheckKind.PYTEST, CheckKind.GO})  # whose runners can run some tests alone


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """What is left to be explained of one check. `flaky` flipped with the patch, `firm` failed every time."""

    check: Check
    flaky: tuple[CheckId, ...] = ()
    firm: tuple[CheckId, ...] = ()


def on_head(check: Check, compared: Comparison, report: CheckReport, not_these: CheckId, run: Run) -> Suspects:
    """Run again with the patch what fails newly. A test that passes alone must pass in a whole run too.

    Else a patch that breaks a test only after another one had run would pass for a flaky test. Where whole runs end
    early, at the base as well, one counts for the tests before its end. `not_these` is the reproduction, which has no
    excuse.
    """
    named = {outcome.id for outcome in report.outcomes} - {not_these}
    failing = tuple(test for test in compared.newly_failing if test in named)
    broken = not report.complete and check.name in compared.newly_failing
    if broken or not failing or len(failing) > TESTS_AT_MOST:
        return Suspects(check=check)
    passed = _passing(failing, run, check)
    if check.kind in _CHOOSES:
        green = shows_green if report.complete else has_passed
        passed = _passing(passed, lambda one, _: run(one, ()), check, green)
    return Suspects(check=check, flaky=passed, firm=tuple(test for test in failing if test not in passed))


def on_base(suspects: Suspects, run: Run) -> tuple[CheckId, ...]:
    """Which of the firm ones fail at the base too, when they are run there again."""
    red: dict[CheckId, None] = {}
    for _ in range(RERUNS_AT_MOST):
        left = tuple(test for test in suspects.firm if test not in red)
        if not left:
            break
        report = run(suspects.check, left)
        red |= dict.fromkeys(test for test in left if shows_red(report, test))
    return tuple(red)


def explained(compared: Comparison, flaky: Iterable[CheckId], red: tuple[CheckId, ...]) -> Comparison:
    """The comparison without tests that flip, and with those that are red at the base where they belong."""
    gone = {*flaky, *red}
    return replace(
        compared,
        newly_failing=tuple(test for test in compared.newly_failing if test not in gone),
        still_failing=(*compared.still_failing, *red),
    )


def _passing(tests: tuple[CheckId, ...], run: Run, check: Check, passes: Shows = shows_green) -> tuple[CheckId, ...]:
    """Those that pass in one of some runs."""
    green: dict[CheckId, None] = {}
    for _ in range(RERUNS_AT_MOST):
        left = tuple(test for test in tests if test not in green)
        if not left:
            break
        report = run(check, left)
        green |= dict.fromkeys(test for test in left if passes(report, test))
    return tuple(green)
