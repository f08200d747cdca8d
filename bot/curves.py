"""A measurement as figures that can be drawn: how scores are spread, and what each threshold would let in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.intervals import Share
from memory.measuring import Measured, at_level

BINS: Final = 24
LEVELS: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
"""Shares of false admissions that the curve is told at."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How scores are spread over equal steps from `low` to `high`, as shares of their number."""

    low: float
    high: float
    unanswered: tuple[float, ...]
    answered: tuple[float, ...]  # by their own note; empty where no ticket is known

    def step(self, number: int) -> float:
        """Where a step begins."""
        return self.low + (self.high - self.low) * number / BINS

    def place(self, score: float) -> int:
        """The step that a score belongs to; the first or last for one beyond them."""
        return max(0, min(BINS - 1, int(BINS * (score - self.low) / (self.high - self.low))))


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one threshold lets in."""

    threshold: float
    false: Share
    found: Share


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All that a picture shows."""

    spread: Spread
    points: tuple[Point, ...]  # at `LEVELS`
    whole: tuple[Point, ...]  # at every score, strictest first
    chosen: Point


def curves(measured: Measured) -> Curves:
    """The figures of a measurement."""
    thresholds = sorted({*measured.false, *(score for answer in measured.answers for score, _ in answer.best)})
    return Curves(
        spread=_spread(measured),
        points=tuple(_point(measured, at_level(measured.false, level)) for level in LEVELS if measured.false),
        whole=tuple(_point(measured, threshold) for threshold in _thinned(thresholds[::-1])),
        chosen=_point(measured, measured.calibration.threshold),
    )


def _spread(measured: Measured) -> Spread:
    own = [max((score for score, right in answer.best if right), default=0.0) for answer in measured.answers]
    everything = [*measured.false, *own, measured.calibration.threshold]
    low, high = min(0.0, *everything), max(everything)
    high = high if high > low else low + 1.0
    empty = Spread(low=low, high=high, unanswered=(), answered=())
    return replace(empty, unanswered=_shares(empty, measured.false), answered=_shares(empty, own) if own else ())


def _shares(over: Spread, scores: Sequence[float]) -> tuple[float, ...]:
    counts = [0] * BINS
    for score in scores:
        counts[over.place(score)] += 1
    return tuple(count / max(1, len(scores)) for count in counts)


def _point(measured: Measured, threshold: float) -> Point:
    false, answers = measured.false, measured.answers
    return Point(
        threshold=threshold,
        false=Share(hits=sum(score >= threshold for score in false), of=len(false)),
        found=Share(hits=sum(answer.found(threshold) for answer in answers), of=len(answers)),
    )


def _thinned(thresholds: Sequence[float], at_most: int = 200) -> Sequence[float]:
    return thresholds[:: max(1, math.ceil(len(thresholds) / at_most))]
