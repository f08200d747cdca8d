"""A patch that changes what steers tests: its own settings must show just what the base's showed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memory.types import CheckId
from stages.comparison import Comparison
from stages.flaky import Run, on_head
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
    if not published.complete or (judged.passed and not published.passed and not published.outcomes):
        yield Weakened(what=check.name, how=Weakening.CONFIGURATION)
    there = frozenset(published.collected)
    yield from (Weakened(what=test, how=Weakening.DELETED) for test in judged.collected if test not in there)
    before = {outcome.id: outcome.outcome for outcome in judged.outcomes}
    after = {outcome.id: outcome.outcome for outcome in published.outcomes}
    fails = list[CheckId]()
    for test, ended in after.items():
        known = before.get(test)
        if known is None or known is ended or test in flaky:
            continue
        if ended in _HIDES:
            yield Weakened(what=test, how=Weakening.SKIPPED)
        elif ended is Outcome.FAILED:
            fails.append(test)
        else:
            yield Weakened(what=test, how=Weakening.CONFIGURATION)
    if check.kind is not CheckKind.COMMAND and fails:
        again = on_head(check, Comparison(newly_failing=tuple(fails)), published, CheckId(""), run)
        fails = [test for test in fails if test not in again.flaky]
    yield from (Weakened(what=test, how=Weakening.CONFIGURATION) for test in fails)
