"""Calibration: how often the rule is wrong on a repository's own notes and tickets, and the threshold that follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.calibrated import CALIBRATED_FORMAT, Calibrated
from memory.index_build import INDEX_FORMAT
from memory.intervals import Share
from memory.search import Index
from memory.types import Chunk, MemoryQuery, Scope, TicketId
from memory.without import Without

ALGORITHM: Final = f"{CALIBRATED_FORMAT}{INDEX_FORMAT}"
"""A calibration of another algorithm is void."""
LEVEL: Final = 0.01
"""Share of tickets that may get a note though no note is about them."""
NOTES_ASKED: Final = 1_000
TICKETS_ENOUGH: Final = 100
_CROWDED: Final = 0.1  # share of notes whose sibling passes the fixed line for 5 %: then siblings are what they find
_CHANGED: Final = 0.1  # share by which the number of notes may change before measuring again
# On public pairs of duplicate reports: the threshold for each level with 170 notes, and with 1,888.
_FEW_NOTES, _MANY_NOTES = 170, 1_888
_FIXED: Final = {0.01: (0.59, 0.64), 0.03: (0.41, 0.46), 0.05: (0.33, 0.40)}


class Basis(StrEnum):
    """What a threshold rests on."""

    TICKETS = "tickets"  # with their notes taken out
    NOTES = "notes"  # each asked the index without itself
    FIXED = "fixed"  # public reports: nothing here tells better


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A ticket, and the paths of the notes that are about it; none when no note is."""

    query: MemoryQuery
    notes: tuple[str, ...] = ()


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
    def proven(self) -> bool:
        """Whether the level holds with 95 % certainty; for 1 % that takes 299 questions at least."""
        return self.false.of > 0 and self.false.surely_below <= self.level

    def fits(self, notes: int) -> bool:
        """Whether it still speaks for an index of so many notes."""
        return self.algorithm == ALGORITHM and abs(notes - self.notes) <= _CHANGED * self.notes

    def told(self) -> str:
        """The measurement in one line."""
        rate = (
            f"{self.false.hits} of {self.false.of} questions without an answer got a note "
            f"({100 * self.false.low:.1f} to {100 * self.false.high:.1f} %)"
        )
        proof = "proven" if self.proven else "not proven"
        return f"threshold {self.threshold:.2f} by {self.basis}: {rate}; ≤ {100 * self.level:g} % is {proof}"


def fixed_threshold(notes: int, level: float = LEVEL) -> float:
    """The threshold before anything was measured here, by the number of notes and the nearest known level."""
    few, many = _FIXED[min(_FIXED, key=lambda known: abs(known - level))]
    along = math.log(max(notes, 1) / _FEW_NOTES) / math.log(_MANY_NOTES / _FEW_NOTES)
    return few + (many - few) * min(2.0, max(-1.0, along))


def calibrate(
    index: Index, scope: Scope, at: datetime, labelled: Sequence[Labelled] = (), level: float = LEVEL
) -> Calibration:
    """Measure on the tickets where there are enough of them, else on the notes themselves.

    Raises IndexUnusable when the index is damaged.
    """
    numbers = {index.chunks_of(note)[0].note: note for note in range(index.totals.notes)}
    unanswered = [_best(Without(index, _hidden(one, numbers)), one.query) for one in labelled]
    if len(unanswered) >= TICKETS_ENOUGH:
        scores, basis = unanswered, Basis.TICKETS
        threshold = _at_level(scores, level)
    else:
        scores = _own_questions(index, scope, at)
        threshold, basis = _from_notes(scores, index.totals.notes, level)
    found, precision = _found(index, labelled, numbers, threshold)
    return Calibration(
        algorithm=ALGORITHM,
        basis=basis,
        level=level,
        threshold=threshold,
        notes=index.totals.notes,
        false=Share(hits=sum(score >= threshold for score in scores), of=len(scores)),
        found=found,
        precision=precision,
        at=at,
    )


def _own_questions(index: Index, scope: Scope, at: datetime) -> list[float]:
    """What each note finds when it asks the index without itself."""
    notes = index.totals.notes
    asked = range(0, notes, max(1, math.ceil(notes / NOTES_ASKED)))
    return [_best(Without(index, [note]), _as_query(index.chunks_of(note), scope, at)) for note in asked]


def _as_query(chunks: Sequence[Chunk], scope: Scope, at: datetime) -> MemoryQuery:
    return MemoryQuery(
        scope=scope,
        ticket=TicketId(chunks[0].note),
        entry_point="calibrate",
        title=chunks[0].heading.partition(" > ")[0],
        body="\n".join(chunk.text for chunk in chunks),
        at=at,
    )


def _from_notes(scores: Sequence[float], notes: int, level: float) -> tuple[float, Basis]:
    """Midway between the fixed threshold and what the notes themselves say; the fixed one where those are siblings."""
    fixed = fixed_threshold(notes, level)
    siblings = sum(score >= fixed_threshold(notes, max(_FIXED)) for score in scores)
    if len(scores) * level < 1 or siblings > _CROWDED * len(scores):
        return fixed, Basis.FIXED
    return (fixed + _at_level(scores, level)) / 2, Basis.NOTES


def _at_level(scores: Sequence[float], level: float) -> float:
    """The lowest threshold that at most `level` of the scores reach."""
    ranked = sorted(scores, reverse=True)
    return math.nextafter(ranked[min(int(level * len(ranked)), len(ranked) - 1)], math.inf)


def _found(
    index: Index, labelled: Sequence[Labelled], numbers: dict[str, int], threshold: float
) -> tuple[Share, Share]:
    found = admitted = right = answered = 0
    for one in labelled:
        gold = _hidden(one, numbers)
        if gold:
            scored = Calibrated(threshold=threshold).judge(index, one.query).scored[:2]
            got = [candidate.note for candidate in scored if candidate.score >= threshold]
            answered += 1
            admitted += len(got)
            right += sum(note in gold for note in got)
            found += any(note in gold for note in got)
    return Share(hits=found, of=answered), Share(hits=right, of=admitted)


def _hidden(one: Labelled, numbers: dict[str, int]) -> frozenset[int]:
    return frozenset(numbers[path] for path in one.notes if path in numbers)


def _best(index: Index, query: MemoryQuery) -> float:
    scored = Calibrated(threshold=0.0).judge(index, query).scored
    return scored[0].score if scored else 0.0
