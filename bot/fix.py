"""What a published run has to show: its patch, the reproduction that it answers, and the failure before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from bot.baseline import Baseline
from bot.run import Run
from bot.steps import StepStore
from memory.types import MemoryVersion
from stages.diagnosis import Diagnosed
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import CheckReport, Reproduction

_BASELINE: Final = TypeAdapter(Baseline)
_DIAGNOSED: Final = TypeAdapter(Diagnosed)
_PATCH: Final = TypeAdapter(Patch)
_VERSION: Final = TypeAdapter(MemoryVersion)
_REPORT: Final = TypeAdapter(CheckReport)


@dataclass(frozen=True, kw_only=True)
class Fix:
    """`before` is what the base showed without it; `red` is the reproduction there, None when it is not kept.

    `version` is the memory that the run reads, to its end.
    """

    patch: Patch
    reproduction: Reproduction
    before: Baseline
    version: MemoryVersion
    red: CheckReport | None


def fix_of(steps: StepStore, run: Run) -> Fix | None:
    """What the run's own steps say; None when they are not kept any more."""
    before = steps.recorded(run.id, "baseline", _BASELINE)
    version = steps.recorded(run.id, "memory", _VERSION)
    patches = [
        steps.recorded(run.id, name, _PATCH, attempt=run.attempt) for name in (EntryPoint.DEVELOP, EntryPoint.REFIX)
    ]
    diagnoses = [steps.recorded(run.id, EntryPoint.DIAGNOSE, _DIAGNOSED)] + [
        steps.recorded(run.id, EntryPoint.REDIAGNOSE, _DIAGNOSED, attempt=number)
        for number in range(2, run.attempt + 1)
    ]
    shown = [done.value.reproduction for done in diagnoses if done and done.value.reproduction]
    patch = next((done.value for done in patches if done), None)
    if before is None or version is None or patch is None or not shown:
        return None
    reds = [steps.recorded(run.id, "reproduce", _REPORT, attempt=number) for number in range(run.attempt, 0, -1)]
    return Fix(
        patch=patch,
        reproduction=shown[-1],
        before=before.value,
        version=version.value,
        red=next((done.value for done in reds if done), None),
    )
