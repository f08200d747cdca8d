"""Other runs of the same failure: an open fix makes this ticket a duplicate; a merged one did not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import TypeAdapter

from bot import facts
from bot.alone import alone
from bot.closing import write_down
from bot.endings import About
from bot.errors import BeingWorkedOn
from bot.failures import failures_of
from bot.fix import fix_of
from bot.pursuit import Pursuit
from bot.run import Run, RunState
from bot.witness import outcome_of
from memory.signature import match
from memory.types import ErrorSignature, Evidence, Verify, VerifyOutcome
from stages.diagnosis import Diagnosed
from stages.patch import Patch
from stages.report import Reproduction

_DIAGNOSED: Final = TypeAdapter(Diagnosed)


def duplicate_of(pursuit: Pursuit, reproduction: Reproduction) -> Run | None:
    """A published run that fixes the same failure, shown by the same test, on the same base."""
    for other in _of_same_failure(pursuit, pursuit.signatures, _published(pursuit)):
        theirs = pursuit.stores.steps.recorded(other.id, "diagnose", _DIAGNOSED)
        shown = theirs.value.reproduction if theirs else None
        if other.base == pursuit.run.base and shown is not None and shown.test == reproduction.test:
            return other
    return None


def mark_recurred(pursuit: Pursuit) -> tuple[Run, ...]:
    """Write down that the fixes of the same failure that are in this base already did not hold.

    A published run ends with that; one that was verified is contradicted. What counts is the failure that code saw
    here, not the one that somebody pasted.
    """
    before = (*_published(pursuit), *_verified(pursuit))
    same = _of_same_failure(pursuit, pursuit.red, before)
    came_back = tuple(run for run in same if _is_in_base(pursuit, run))
    for run in came_back:
        try:
            with alone(pursuit.stores.work, run.id):
                _contradict(pursuit, pursuit.stores.runs.get(run.id))
        except BeingWorkedOn:
            pursuit.tell(facts.Decided(what=f"run {run.id} is left to the process that works on it"))
    return came_back


def _contradict(pursuit: Pursuit, run: Run) -> None:
    if run.state not in (RunState.PUBLISHED, RunState.ENDED):
        return  # sent back meanwhile: its next attempt will see
    fix = fix_of(pursuit.stores.steps, run)
    ending = About.of(run, pursuit.signatures, pursuit.environment).ending(
        Verify(outcome=VerifyOutcome.RECURRED, edits=fix.patch.edits if fix else (), commit=pursuit.run.base),
        at=pursuit.stores.now(),
        final=run.open,
        evidence=Evidence.EXIT_STATUS,
    )
    pursuit.tell(facts.Decided(what=f"the fix of run {run.id} did not hold", because="the same failure is red with it"))
    write_down(pursuit.stores, ending)


def _published(pursuit: Pursuit) -> Iterator[Run]:
    return iter(pursuit.stores.runs.list(RunState.PUBLISHED, scope=pursuit.run.scope))


def _verified(pursuit: Pursuit) -> Iterator[Run]:
    """Runs whose fix was seen to work."""
    ended = pursuit.stores.runs.list(RunState.ENDED, scope=pursuit.run.scope)
    worked = outcome_of(Verify(outcome=VerifyOutcome.WORKED))
    return (run for run in ended if run.outcome == worked)


def _of_same_failure(pursuit: Pursuit, ours: tuple[ErrorSignature, ...], runs: Iterable[Run]) -> Iterator[Run]:
    """Those whose alert or red output has an equal signature, this run left out."""
    for run in runs:
        met = match(ours, failures_of(pursuit.stores.steps, run, pursuit.view))
        if run.id != pursuit.run.id and met is not None and met.strong:
            yield run


def _is_in_base(pursuit: Pursuit, run: Run) -> bool:
    return pursuit.repository.contains(pursuit.run.base, Patch(diff=run.patch))
