"""Upkeep of memory outside a run: measuring anew where notes changed. What a schedule or the end of a run calls."""

from __future__ import annotations

from bot.labelled import labelled
from bot.stores import Stores
from memory.calibration import LEVEL
from memory.measuring import Told
from memory.types import Scope
from memory.upkeep import Renewed


def keep_up(stores: Stores, scope: Scope, *, told: Told = lambda _done, _of: None) -> Renewed | None:
    """Calibrate the repository's newest memory where that is due, at the level that was asked for last; else None.

    Raises IndexUnusable and the errors of `memory.database`; a run that goes on meanwhile keeps its pinned version.
    """
    version = stores.memory.current(scope)
    if stores.upkeep.due(version) is None:
        return None
    before = stores.memory.calibration(version)
    level = before.level if before else LEVEL
    return stores.upkeep.calibrate(version, stores.now(), labelled(stores, version), level=level, told=told)
