"""Upkeep of a repository's calibration: when it is due, and making it anew, outside a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from memory.calibration import CHANGED, LEVEL, Basis, Calibration
from memory.measuring import Labelled, Measured, Told, measure
from memory.rules import FEW_NOTES
from memory.search import Index, Search
from memory.types import Chunk, MemoryVersion


class Due(StrEnum):
    """Why a calibration has to be made."""

    NEVER = "it was never made"
    ALGORITHM = "scores are computed otherwise since"
    NOTES = "a tenth of the notes changed since"


class Kept(Protocol):
    """What upkeep reads and writes of the store."""

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        """The live notes."""

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        """What the version carries."""

    def changed_since_calibration(self, version: MemoryVersion) -> float | None:
        """Share of the notes that changed since; None when nothing was measured."""

    def keep_calibration(self, version: MemoryVersion, made: Calibration) -> MemoryVersion:
        """A new version that carries it."""


@dataclass(frozen=True, kw_only=True)
class Renewed:
    """What was measured, the calibration before, and the version that carries the new one.

    `version` is None where nothing is kept: with few notes `coverage` decides, whatever was measured.
    """

    measured: Measured
    before: Calibration | None
    version: MemoryVersion | None


class Upkeep:
    """Measures with the index that a run of the same version would search."""

    def __init__(self, store: Kept, search: Search) -> None:
        self._store, self._search = store, search

    def due(self, version: MemoryVersion) -> Due | None:
        """Why a calibration has to be made for `version`; None while the one it carries holds, or with few notes.

        Raises IndexUnusable.
        """
        if self._index(version).totals.notes < FEW_NOTES:
            return None
        calibration = self._store.calibration(version)
        if calibration is None:
            return Due.NEVER
        if not calibration.fits:
            return Due.ALGORITHM
        changed = self._store.changed_since_calibration(version)
        return Due.NOTES if changed is not None and changed > CHANGED else None

    def calibrate(
        self,
        version: MemoryVersion,
        at: datetime,
        labelled: Sequence[Labelled] = (),
        *,
        level: float = LEVEL,
        told: Told = lambda _done, _of: None,
    ) -> Renewed:
        """Measure, and publish a version that carries the result.

        Where the threshold lets in more than `level` of what was measured, a stricter one from before stays; where
        there is none, or another level was asked for then, the measured one is taken all the same.
        Raises IndexUnusable.
        """
        index = self._index(version)
        measured = measure(index, version.scope, at, labelled, level, told)
        before = self._store.calibration(version)
        if before and _stays(before, measured.calibration):
            measured = measured.at(before.threshold, Basis.PREVIOUS)
        few = index.totals.notes < FEW_NOTES
        carrying = None if few else self._store.keep_calibration(version, measured.calibration)
        return Renewed(measured=measured, before=before, version=carrying)

    def _index(self, version: MemoryVersion) -> Index:
        return self._search.open(version.digest, lambda: self._store.chunks(version))


def _stays(before: Calibration, now: Calibration) -> bool:
    """Whether the threshold before is kept: it answers the same question, is stricter, and `now` lets in too much."""
    return not now.held and before.fits and before.level == now.level and before.threshold > now.threshold
