"""Rules of relevance: which notes are about what a ticket tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from memory.search import Hit, Index
from memory.types import MemoryQuery
from memory.words import FUNCTION_WORDS, distinct, words, written

WORDS_AT_MOST: Final = 24
FEW_NOTES: Final = 20
"""With fewer notes bm25 tells nothing: a word that half of them hold is worth nothing, one that one holds is cheap."""
_TITLE_READ: Final = 20_000  # characters of a title; what comes later is no title
_TEXT_SHOWN: Final = 100_000  # characters in which the form of a word is looked for
_HITS_AT_FIRST: Final = 32
_NOTES_WANTED: Final = 5  # two to show, and the three best that are not shown


class RuleName(StrEnum):
    PER_WORD = "per_word"
    COVERAGE = "coverage"
    CALIBRATED = "calibrated"


class Scored(NamedTuple):
    """A note, its best chunk, and how much it is about the ticket."""

    note: int
    row: int
    score: float
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a rule found, best first; what scores below the threshold stays out of the prompt."""

    rule: RuleName
    threshold: float
    looked_for: tuple[str, ...]
    scored: tuple[Scored, ...]


class Rule(Protocol):
    """Decides which notes are relevant. The same index and query always give the same judgement."""

    @property
    def name(self) -> RuleName:
        """What the section calls it."""

    def judge(self, index: Index, query: MemoryQuery) -> Judgement:
        """Every note at or above the threshold, and the best ones below it."""


def text_of(query: MemoryQuery) -> str:
    """All that a query says, from which words are shown to people as they were written."""
    return f"{query.headline}\n{query.title}\n{query.body}"[:_TEXT_SHOWN]


def asked(query: MemoryQuery) -> list[str]:
    """Words of the alert's headline, or of the title where there is no alert."""
    return words((query.headline.strip() or query.title)[:_TITLE_READ])


@dataclass(frozen=True, kw_only=True)
class PerWord:
    """The seed's rule: bm25 of a note's best chunk, for each distinct word that was looked for.

    1.8 was set by the first bot of this kind on 169 notes and 8 unrelated tickets.
    """

    threshold: float = 1.8
    name: RuleName = RuleName.PER_WORD

    def judge(self, index: Index, query: MemoryQuery) -> Judgement:
        looked_for = distinct(asked(query), WORDS_AT_MOST)
        held = index.chunks_with(looked_for)
        # FTS5 gives a word that half of the chunks hold no weight, and takes long to find them all.
        telling = [word for word in looked_for if 0 < 2 * held.get(word, 0) < index.totals.chunks]
        asked_for = len(looked_for)
        among = f"{asked_for} words looked for, {len(telling)} known"
        return Judgement(
            rule=self.name,
            threshold=self.threshold,
            looked_for=looked_for,
            scored=tuple(
                Scored(note=hit.note, row=hit.row, score=hit.bm25 / asked_for, why=f"bm25 {hit.bm25:.2f}, {among}")
                for hit in best_of_notes(index, telling, self.threshold * asked_for)
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """For few notes: the share of what was looked for that a note's best chunk holds, rare words counting more."""

    threshold: float = 0.55
    words_at_least: int = 3
    name: RuleName = RuleName.COVERAGE

    def judge(self, index: Index, query: MemoryQuery) -> Judgement:
        looked_for = distinct((word for word in asked(query) if word not in FUNCTION_WORDS), WORDS_AT_MOST)
        held = index.notes_with(looked_for)
        notes = index.totals.notes
        weights = {word: _rarity(notes, max(1, held.get(word, 0))) for word in looked_for}
        found: dict[int, list[str]] = {}
        for word in looked_for:
            for row in index.rows_of(word) if word in held else ():
                found.setdefault(row, []).append(word)
        everything = sum(weights.values())
        forms = written(looked_for, text_of(query))
        best: dict[int, Scored] = {}
        for row, matched in sorted(found.items()):
            if len(matched) < self.words_at_least:
                continue
            note = index.note_of(row)
            share = sum(weights[word] for word in matched) / everything
            if note not in best or share > best[note].score:
                why = f"{len(matched)} of {len(looked_for)} words: {' '.join(forms[word] for word in matched)}"
                best[note] = Scored(note=note, row=row, score=share, why=why)
        return Judgement(
            rule=self.name,
            threshold=self.threshold,
            looked_for=looked_for,
            scored=tuple(sorted(best.values(), key=lambda scored: (-scored.score, scored.row))),
        )


def best_of_notes(index: Index, looked_for: Sequence[str], enough: float) -> list[Hit]:
    """The best chunk of each note, best first: all with a bm25 of `enough`, and some below."""
    at_most = _HITS_AT_FIRST
    while True:
        hits = index.best(looked_for, at_most)
        best: dict[int, Hit] = {}
        for hit in hits:
            best.setdefault(hit.note, hit)
        if len(hits) < at_most or (hits[-1].bm25 < enough and len(best) >= _NOTES_WANTED):
            return list(best.values())
        at_most *= 4


def _rarity(notes: int, holding: int) -> float:
    return math.log(1 + (notes - holding + 0.5) / (holding + 0.5))
