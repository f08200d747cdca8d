"""Asking the product's own recall, and counting what it admits."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory.calibration import Calibration
from memory.index import FtsIndex, FtsSearch
from memory.index_build import NOTE_BITS, indexed
from memory.recall import Recall
from memory.rules import Rule
from memory.search import Index
from memory.types import Chunk, Eligible, MemoryQuery, MemoryVersion
from memory.without import Without
from memory.words import words
from stages.prompt import render_section
from tests.benchmarks.intervals import Share
from tests.benchmarks.retrieval_data import SCOPE, Corpus, Question

_TIMED = 100  # questions
VERSION = MemoryVersion(scope=SCOPE, number=1, digest="benchmark")
Best = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The at most two notes that a question gets, with scores: its own note in the index, taken out, struck off."""

    question: Question
    found: Best
    false: Best
    struck: Best  # its own note is struck off the list, but words are counted with it


class Notes:
    """A shelf of notes and nothing else."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Eligible:
        return Eligible()

    def tuning(self, version: MemoryVersion) -> Sequence[str]:
        return ()

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        return self._chunks

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        return None


class Struck(Without):
    """An easier count, for comparison: the answer cannot be found, and every word is as rare as with it."""

    def __init__(self, index: Index, notes: Collection[int]) -> None:
        super().__init__(index, notes)
        self.totals = index.totals

    def chunks_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return self._index.chunks_with(words)

    def notes_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return self._index.notes_with(words)


class Hiding:
    """Gives one index without some of its notes, as if they had never been in it: bm25 forgets them too."""

    def __init__(self, index: FtsIndex, connection: sqlite3.Connection) -> None:
        self._index, self._connection = index, connection
        self._numbers = {index.chunks_of(note)[0].note: note for note in range(index.totals.notes)}
        self._view: Index = index

    def strike(self, notes: Collection[str]) -> None:
        """From now on these notes are not found, though words are counted as if they could be."""
        self._view = Struck(self._index, self._forget(notes))

    def hide(self, notes: Collection[str]) -> None:
        """From now on without these notes, and with those that were hidden before."""
        hidden = self._forget(notes)
        for note in hidden:
            for ordinal, chunk in enumerate(self._index.chunks_of(note)):
                row = ((note << NOTE_BITS) + ordinal, " ".join(words(indexed(chunk))))
                self._connection.execute("INSERT INTO fts(fts, rowid, words) VALUES('delete', ?, ?)", row)
        self._view = Without(self._index, hidden) if hidden else self._index

    def _forget(self, notes: Collection[str]) -> list[int]:
        self._connection.execute("ROLLBACK")
        self._connection.execute("BEGIN")
        return [self._numbers[note] for note in notes if note in self._numbers]

    def open(self, digest: str, chunks: Callable[[], Sequence[Chunk]]) -> Index:
        return self._view

    def discard(self, digest: str) -> None:
        raise AssertionError("an index of the benchmark is whole")


@contextmanager
def hiding(corpus: Corpus) -> Iterator[tuple[Notes, Hiding]]:
    """A shelf of a corpus, and its index, from which notes can be taken."""
    with opened(corpus.chunks) as (shelf, search):
        built = search.open(VERSION.digest, lambda: corpus.chunks)
        with closing(sqlite3.connect(built.path, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            yield shelf, Hiding(FtsIndex(built.path, built.digest, connection, built.totals), connection)
            connection.execute("ROLLBACK")


@contextmanager
def opened(chunks: Sequence[Chunk]) -> Iterator[tuple[Notes, FtsSearch]]:
    """A shelf and the engine for it, on disk for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        yield Notes(chunks), FtsSearch(Path(folder))


def ask(corpus: Corpus, rules: Mapping[str, Rule]) -> dict[str, list[Asked]]:
    """Every question of the corpus by every rule. Rules should let everything pass: thresholds are applied later."""
    asked: dict[str, list[Asked]] = {name: [] for name in rules}
    with hiding(corpus) as (shelf, search):
        for question in corpus.questions:
            search.hide({question.id})
            found = {name: _admitted(Recall(shelf, search, rule), question) for name, rule in rules.items()}
            if question.gold:
                search.hide(question.kin)
            false = {name: _admitted(Recall(shelf, search, rule), question) for name, rule in rules.items()}
            search.strike(question.kin if question.gold else {question.id})
            struck = {name: _admitted(Recall(shelf, search, rule), question) for name, rule in rules.items()}
            for name in rules:
                asked[name].append(Asked(question=question, found=found[name], false=false[name], struck=struck[name]))
    return asked


def foreign(corpus: Corpus, others: Sequence[Question], rule: Rule) -> list[float]:
    """The best score that each question of another project gets here."""
    with opened(corpus.chunks) as (shelf, search):
        recall = Recall(shelf, search, rule)
        return [_highest(_admitted(recall, other)) for other in others]


def milliseconds(corpus: Corpus, rule: Rule) -> float:
    """Median time of one recall with its section."""
    with opened(corpus.chunks) as (shelf, search):
        recall = Recall(shelf, search, rule)
        taken = []
        for question in corpus.questions[:_TIMED]:
            query = question.query()
            began = time.perf_counter()
            render_section(recall(query, VERSION))
            taken.append(time.perf_counter() - began)
    return 1000 * statistics.median(taken)


def _admitted(recall: Recall, question: Question) -> Best:
    context = recall(question.query(), VERSION)
    return tuple((record.id.partition("#")[0], record.score or 0.0) for record in context.notes.shown)


def _highest(best: Best) -> float:
    return max((score for _, score in best), default=0.0)


def threshold_for(asked: Sequence[Asked], level: float) -> float:
    """The lowest threshold at which at most `level` of the questions get a note when theirs is taken out."""
    ranked = sorted((_highest(one.false) for one in asked if one.question.gold), reverse=True)
    return ranked[min(len(ranked) - 1, int(level * len(ranked)))] + 1e-9


def figures(judged: Sequence[tuple[Asked, float]]) -> dict[str, object]:
    """What the thresholds give: each question comes with the one that it is judged by.

    Questions that no note answers count as false admissions only.
    """
    found = admitted = right = answered = false = 0
    for one, threshold in judged:
        false += _highest(one.false) >= threshold
        if one.question.gold:
            notes = [note for note, score in one.found if score >= threshold]
            answered += 1
            admitted += len(notes)
            right += sum(note in one.question.gold for note in notes)
            found += any(note in one.question.gold for note in notes)
    return {
        "recall": Share(hits=found, of=answered).as_json(),
        "false_admission": Share(hits=false, of=len(judged)).as_json(),
        "precision": Share(hits=right, of=admitted).as_json(),
    }
