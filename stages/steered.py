"""A patch that changes what steers tests, or tests: both must show the same as what the base has of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from memory.types import CheckId
from stages.comparison import Comparison
from stages.early_end import ended
from stages.flaky import Run, Suspects, on_head
from stages.report import Check, CheckKind, CheckReport, Outcome
from stages.weakening import Weakened, Weakening

_HIDES: Final = frozenset({Outcome.SKIPPED, Outcome.XFAILED})


def steered(
    check: Check, judged: CheckReport, published: CheckReport, *, flaky: tuple[CheckId, ...], run: Run
) -> Iterator[Weakened]:
    """Tests that are gone, hidden or end otherwise in the tree as it would be published.

    `judged` was run with the base's settings, `published` with those of the patch; `run` runs tests there once more,
    for what fails only now may just flip. `flaky` is known to.
    """
    whole = ended(check, judged, published)
    if not whole or (judged.passed and not published.passed and not published.outcomes):
        yield Weakened(what=check.name, how=Weakening.CONFIGURATION)
    there = frozenset(published.collected)
    yield from (Weakened(what=test, how=Weakening.DELETED) for test in judged.collected if test not in there)
    before = {outcome.id: outcome.outcome for outcome in judged.outcomes}
    after = {outcome.id: outcome.outcome for outcome in published.outcomes}
    fails = list[CheckId]()
    for test, outcome in after.items():
        known = before.get(test)
        if known is None or known is outcome or test in flaky:
            continue
        if outcome in _HIDES:
            yield Weakened(what=test, how=Weakening.SKIPPED)
        elif outcome is Outcome.FAILED:
            fails.append(test)
        else:
            yield Weakened(what=test, how=Weakening.CONFIGURATION)
    if check.kind is not CheckKind.COMMAND and fails and whole:
        again = on_head(check, Comparison(newly_failing=tuple(fails)), published, CheckId(""), run)
        fails = [test for test in fails if test not in again.flaky]
    yield from (Weakened(what=test, how=Weakening.CONFIGURATION) for test in fails)


def unproven(
    check: Check,
    base: Collection[CheckId],
    judged: CheckReport,
    as_before: CheckReport,
    *,
    flaky: tuple[CheckId, ...],
    run: Run,
) -> Iterator[Weakened]:
    """Tests that pass only as the patch has them: `as_before` was run with the test files of the base.

    `base` are the tests that were collected there; those that the patch adds prove nothing, and need not. `run` runs
    tests with the base's files once more.
    """
    if check.kind is CheckKind.COMMAND:
        if judged.passed and not as_before.passed:
            yield Weakened(what=check.name, how=Weakening.CHANGED)
        return
    now = {outcome.id: outcome.outcome for outcome in as_before.outcomes}
    passed = [outcome.id for outcome in judged.outcomes if outcome.outcome is Outcome.PASSED and outcome.id in base]
    lost = [test for test in passed if now.get(test) is not Outcome.PASSED and test not in flaky]
    failed = tuple(test for test in lost if now.get(test) is Outcome.FAILED)
    again = Suspects(check=check)
    if ended(check, judged, as_before):
        again = on_head(check, Comparison(newly_failing=failed), as_before, CheckId(""), run)
    yield from (Weakened(what=test, how=Weakening.CHANGED) for test in lost if test not in again.flaky)
