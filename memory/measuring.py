"""Measuring a calibration: what questions that have no answer here find all the same, and what the others find."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.calibrated import Calibrated
from memory.calibration import ALGORITHM, LEVEL, Basis, Calibration, fixed_threshold
from memory.intervals import Share
from memory.rules import Scored
from memory.search import Index
from memory.types import Chunk, MemoryQuery, Scope, TicketId
from memory.without import Without

NOTES_ASKED: Final = 1_000
TICKETS_ENOUGH: Final = 100
NOTES_SHOWN: Final = 2
_CROWDED, _CROWDED_LEVEL = 0.25, 0.05  # so many notes find one that passes the line for this level: those are siblings
_BELOW_ALL: Final = -1e9

Told = Callable[[int, int], None]
"""Is told how many questions were asked, and of how many."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A ticket, and the paths of the notes that are about it; none when no note is."""

    query: MemoryQuery
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a labelled ticket found: its best notes by score, and which of them are about it."""

    best: tuple[tuple[float, bool], ...]

    def found(self, threshold: float) -> bool:
        return any(right for score, right in self.best if score >= threshold)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A calibration with the scores that it rests on."""

    calibration: Calibration
    false: tuple[float, ...]  # the best score of each question without an answer
    answers: tuple[Answer, ...]  # of the tickets that have one

    def at(self, threshold: float, basis: Basis) -> Measured:
        """The same scores, counted at another threshold."""
        return replace(self, calibration=_counted(self.calibration, self.false, self.answers, threshold, basis))


def measure(
    index: Index,
    scope: Scope,
    at: datetime,
    labelled: Sequence[Labelled] = (),
    level: float = LEVEL,
    told: Told = lambda _done, _of: None,
) -> Measured:
    """Measure on the tickets where there are enough of them, else on the notes themselves.

    The threshold is chosen by the observed rate: the lowest that lets at most `level` of the questions get a note.
    Raises IndexUnusable when the index is damaged.
    """
    notes = index.totals.notes
    answers = tuple(_answers(index, labelled))
    if len(labelled) >= TICKETS_ENOUGH:
        false = tuple(_without_their_notes(index, labelled, told))
        threshold, basis = at_level(false, level), Basis.TICKETS
    else:
        false = tuple(_own_questions(index, scope, at, told))
        threshold, basis = _from_notes(false, notes, level)
    nothing = Share(hits=0, of=0)
    blank = Calibration(
        algorithm=ALGORITHM,
        basis=basis,
        level=level,
        threshold=threshold,
        notes=notes,
        false=nothing,
        found=nothing,
        precision=nothing,
        at=at,
    )
    return Measured(calibration=blank, false=false, answers=answers).at(threshold, basis)


def _counted(
    calibration: Calibration, false: Sequence[float], answers: Sequence[Answer], threshold: float, basis: Basis
) -> Calibration:
    admitted = [right for answer in answers for score, right in answer.best if score >= threshold]
    return replace(
        calibration,
        threshold=threshold,
        basis=basis,
        false=Share(hits=sum(score >= threshold for score in false), of=len(false)),
        found=Share(hits=sum(answer.found(threshold) for answer in answers), of=len(answers)),
        precision=Share(hits=sum(admitted), of=len(admitted)),
    )


def _without_their_notes(index: Index, labelled: Sequence[Labelled], told: Told) -> Iterator[float]:
    numbers = _numbers(index)
    for done, one in enumerate(labelled, 1):
        yield _best(Without(index, _hidden(one, numbers)), one.query)
        told(done, len(labelled))


def _own_questions(index: Index, scope: Scope, at: datetime, told: Told) -> Iterator[float]:
    """What each note finds when it asks the index without itself."""
    notes = index.totals.notes
    asked = range(0, notes, max(1, math.ceil(notes / NOTES_ASKED)))
    for done, note in enumerate(asked, 1):
        yield _best(Without(index, [note]), _as_query(index.chunks_of(note), scope, at))
        told(done, len(asked))


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
    siblings = sum(score >= fixed_threshold(notes, _CROWDED_LEVEL) for score in scores)
    if len(scores) * level < 1 or siblings > _CROWDED * len(scores):
        return fixed, Basis.FIXED
    return (fixed + at_level(scores, level)) / 2, Basis.NOTES


def at_level(scores: Sequence[float], level: float) -> float:
    """The lowest threshold that at most `level` of the scores reach."""
    ranked = sorted(scores, reverse=True)
    return math.nextafter(ranked[min(int(level * len(ranked)), len(ranked) - 1)], math.inf)


def _answers(index: Index, labelled: Sequence[Labelled]) -> Iterator[Answer]:
    numbers = _numbers(index)
    for one in labelled:
        if gold := _hidden(one, numbers):
            best = _judged(index, one.query)[:NOTES_SHOWN]
            yield Answer(best=tuple((scored.score, scored.note in gold) for scored in best))


def _numbers(index: Index) -> Mapping[str, int]:
    return {index.chunks_of(note)[0].note: note for note in range(index.totals.notes)}


def _hidden(one: Labelled, numbers: Mapping[str, int]) -> frozenset[int]:
    return frozenset(numbers[path] for path in one.notes if path in numbers)


def _best(index: Index, query: MemoryQuery) -> float:
    return max((scored.score for scored in _judged(index, query)), default=0.0)


def _judged(index: Index, query: MemoryQuery) -> Sequence[Scored]:
    return Calibrated(threshold=_BELOW_ALL).judge(index, query).scored
