"""What recall and the section cost beside the bare search: `python -m tests.benchmarks.recall_costs [--json]`.

Notes are made by a seed, with words as rare and as frequent as in English (Zipf's law). Each question is asked in turn
by `per_word` with its section, and by the one FTS5 query that stands behind it, in the same process and on the same
file: CPU time, median of the ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from memory.recall import Recall
from memory.rules import WORDS_AT_MOST, PerWord
from memory.types import Chunk, MemoryQuery, TicketId
from memory.words import distinct, words
from stages.prompt import render_section
from tests.benchmarks.retrieval_data import SCOPE
from tests.benchmarks.retrieval_score import VERSION, opened

SIZES: Final = (170, 10_000, 100_000)
"""Notes: of the first bot of this kind, and two that are far beyond what people write for one repository."""
AT_MOST: Final = 2.0
SEED: Final = 5
_VOCABULARY: Final = 40_000
_QUESTIONS: Final = 60
_WORDS_OF_A_NOTE: Final = (30, 110)
_WORDS_OF_A_QUESTION: Final = (5, 14)
_HITS: Final = 32  # as many as recall asks for at first
_SYLLABLES: Final = ("ka", "lo", "mi", "ne", "ru", "ta", "so", "vi", "pe", "du")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Milliseconds of CPU time, medians, and the median of the ratios."""

    notes: int
    recall: float
    same_words: float
    all_words: float
    ratio: float
    ratio_all: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in vars(self).items()}


class _Language:
    """Words by rank: the n-th is n times rarer than the first."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._words = [_word(number) for number in range(_VOCABULARY)]
        self._weights = list(accumulate(1 / (rank + 1) for rank in range(_VOCABULARY)))

    def text(self, between: tuple[int, int]) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=self._chance.randint(*between))


def _word(number: int) -> str:
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:05d}")


def measured(notes: int) -> Cost:
    """One size: an index of its own, every question asked both ways in turn."""
    chance = random.Random(SEED)
    language = _Language(chance)
    chunks = [_chunk(number, language) for number in range(notes)]
    questions = [_question(number, chunks, language, chance) for number in range(_QUESTIONS)]
    with opened(chunks) as (shelf, search):
        index = search.open(VERSION.digest, lambda: shelf.chunks(VERSION))
        recall = Recall(shelf, search, PerWord())
        bare = sqlite3.connect(f"{index.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        rows = list(_asked(recall, index, bare, questions))
        bare.close()
    return Cost(
        notes=notes,
        recall=1000 * statistics.median(row[0] for row in rows),
        same_words=1000 * statistics.median(row[1] for row in rows),
        all_words=1000 * statistics.median(row[2] for row in rows),
        ratio=statistics.median(row[0] / row[1] for row in rows),
        ratio_all=statistics.median(row[0] / row[2] for row in rows),
    )


def _asked(recall: Recall, index: Any, bare: sqlite3.Connection, questions: Sequence[MemoryQuery]) -> Iterator[Any]:
    for question in questions:
        looked_for = distinct(words(question.title), WORDS_AT_MOST)
        held = index.chunks_with(looked_for)
        telling = [word for word in looked_for if 0 < 2 * held.get(word, 0) < index.totals.chunks]
        if telling:
            yield (
                _seconds(partial(_section, recall, question)),
                _seconds(partial(_found, bare, telling)),
                _seconds(partial(_found, bare, looked_for)),
            )


def _section(recall: Recall, question: MemoryQuery) -> object:
    return render_section(recall(question, VERSION))


def _found(bare: sqlite3.Connection, wanted: Sequence[str]) -> list[Any]:
    sql = "SELECT rowid, rank FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?"
    return bare.execute(sql, (" OR ".join(f'"{word}"' for word in wanted), _HITS)).fetchall()


def _seconds(ask: Callable[[], object]) -> float:
    """CPU seconds of the second time: the first one warms caches for both ways alike."""
    ask()
    began = time.process_time()
    ask()
    return max(time.process_time() - began, 1e-7)


def _chunk(number: int, language: _Language) -> Chunk:
    text = " ".join(language.text(_WORDS_OF_A_NOTE))[:900]
    return Chunk(note=f"notes/n{number}.md", anchor="", ordinal=0, heading=text[:40], text=text)


def _question(number: int, chunks: Sequence[Chunk], language: _Language, chance: random.Random) -> MemoryQuery:
    """Half of its words come from one note, as those of a ticket do whose answer was written down."""
    own = chance.choice(chunks).text.split()
    asked = language.text(_WORDS_OF_A_QUESTION)
    title = [chance.choice(own) if place % 2 else word for place, word in enumerate(asked)]
    return MemoryQuery(
        scope=SCOPE,
        ticket=TicketId(str(number)),
        entry_point="diagnose",
        title=" ".join(title),
        at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.recall_costs", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    costs = [measured(notes) for notes in given.sizes]
    table = Table(title=f"per_word with its section against the bare FTS5 query (at most {AT_MOST:g} times)")
    for column in ("notes", "recall ms", "same words ms", "all words ms", "times same words", "times all words"):
        table.add_column(column, justify="right")
    for cost in costs:
        shown = (cost.recall, cost.same_words, cost.all_words, cost.ratio, cost.ratio_all)
        table.add_row(f"{cost.notes:,}", *(f"{value:.2f}" for value in shown))
    Console(stderr=given.json).print(table)
    if given.json:
        print(json.dumps([cost.as_json() for cost in costs], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
