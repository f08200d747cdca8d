"""Calibration: the threshold of the rule `calibrated`, what it was measured on, and when it speaks no more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, assert_never

from memory.calibrated import CALIBRATED_FORMAT, Calibrated
from memory.index_build import INDEX_FORMAT
from memory.intervals import Share
from memory.rules import FEW_NOTES, Coverage, PerWord, Rule, RuleName

ALGORITHM: Final = f"{CALIBRATED_FORMAT}{INDEX_FORMAT}"
"""A calibration of another algorithm is void."""
LEVEL: Final = 0.01
"""Share of tickets that may get a note though no note is about them."""
AUTO: Final = "auto"
"""The rule of a repository that names none: `calibrated` once it was measured there, else `per_word`."""
CHANGED: Final = 0.1
"""Share of the notes that may change before it is measured again."""
# On public pairs of duplicate reports: the threshold for each level with 170 notes, and with 1,888. Smoothed over the
# levels around, for one question of the dozen that make up 1 % moves it by 0.03.
_FEW_NOTES, _MANY_NOTES = 170, 1_888
_FIXED: Final = {0.01: (0.53, 0.59), 0.03: (0.40, 0.50), 0.05: (0.35, 0.45)}


class Basis(StrEnum):
    """What a threshold rests on."""

    TICKETS = "tickets"  # with their notes taken out
    NOTES = "notes"  # each asked the index without itself
    FIXED = "fixed"  # public reports: nothing here tells better
    PREVIOUS = "previous"  # the threshold before: the one measured now would have let more in than was asked for

    @property
    def told(self) -> str:
        """In words, after `by`."""
        match self:
            case Basis.TICKETS | Basis.NOTES:
                return f"these {self}"
            case Basis.FIXED:
                return "public reports"
            case Basis.PREVIOUS:
                return "the calibration before"
            case _:
                assert_never(self)


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A threshold and what was measured with it; a version carries its last one."""

    algorithm: str
    basis: Basis
    level: float
    threshold: float
    notes: int  # in the index
    false: Share  # questions without an answer in the index that got a note all the same
    found: Share  # labelled tickets that got their note
    precision: Share  # of the notes that labelled tickets got
    at: datetime

    @property
    def held(self) -> bool:
        """Whether no more than the level was let in where it was measured."""
        return self.false.value <= self.level

    @property
    def proven(self) -> bool:
        """Whether the level holds with 95 % certainty; for 1 % that takes 299 questions at least."""
        return self.false.of > 0 and self.false.surely_below <= self.level

    @property
    def fits(self) -> bool:
        """Whether scores still mean what they meant when it was made."""
        return self.algorithm == ALGORITHM

    def threshold_at(self, notes: int) -> float:
        """The threshold for so many notes: in a larger index chance finds more, so that it is never below its own."""
        return self.threshold + max(0.0, fixed_threshold(notes, self.level) - fixed_threshold(self.notes, self.level))

    def told(self) -> str:
        """The measurement in one line."""
        rate = (
            f"{self.false.hits} of {self.false.of} questions without an answer got a note "
            f"({100 * self.false.low:.1f} to {100 * self.false.high:.1f} %)"
        )
        proof = "proven" if self.proven else "not proven"
        return f"threshold {self.threshold:.2f} by {self.basis.told}: {rate}; ≤ {100 * self.level:g} % is {proof}"


def fixed_threshold(notes: int, level: float = LEVEL) -> float:
    """The threshold before anything was measured here, by notes and level: between known ones along their logarithm."""
    known = sorted(_FIXED)
    low, high = (known[0], known[1]) if level <= known[1] else (known[1], known[2])
    at = math.log(level / low) / math.log(high / low)
    few, many = (a + (b - a) * at for a, b in zip(_FIXED[low], _FIXED[high], strict=True))
    along = math.log(max(notes, 1) / _FEW_NOTES) / math.log(_MANY_NOTES / _FEW_NOTES)
    return max(0.0, few + (many - few) * min(2.0, max(-1.0, along)))


def rule_for(notes: int, wanted: str, calibration: Calibration | None) -> Rule:
    """The rule for an index of so many notes; `wanted` is a rule's name or `auto`.

    Where nothing fitting was measured, `calibrated` has the threshold of public reports.
    """
    if notes < FEW_NOTES or wanted == RuleName.COVERAGE:
        return Coverage()
    fitting = calibration if calibration and calibration.fits else None
    if wanted == RuleName.PER_WORD or (fitting is None and wanted != RuleName.CALIBRATED):
        return PerWord()
    return Calibrated(threshold=fitting.threshold_at(notes) if fitting else fixed_threshold(notes))
