"""What a search for notes costs as they grow: recall with its section, the bare index, and two other engines.

`python -m tests.benchmarks.engines [--sizes 170,2000,10000] [--json]`. CPU milliseconds for one query, medians over all
queries and rounds; engines take turns, so that a machine that changes its speed changes all of them. bm25s and tantivy
take part where they are installed: `pip install bm25s tantivy`, or the group `bench` of pyproject.toml.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.index import FtsSearch
from memory.index_build import indexed
from memory.recall import Recall
from memory.rules import WORDS_AT_MOST
from memory.types import MemoryQuery, NoteFile
from memory.words import distinct, words
from stages.prompt import render_section
from tests.benchmarks.engine_notes import notes_of, questions_of
from tests.memory.recall_kit import ShelfOf, chunks_of, version

SIZES: Final = (170, 2_000, 10_000, 100_000)
LIMITS_MS: Final = {2_000: 5.0, 10_000: 15.0}
"""What recall with its section may take at so many notes."""
ROUNDS: Final = 5
SHOWN: Final = 2
OTHERS: Final = ("bm25s", "tantivy")

Ask = Callable[[MemoryQuery], object]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """CPU milliseconds of one engine at one size: of a query, and of building its index."""

    engine: str
    notes: int
    query_ms: float
    most_ms: float  # nine of ten queries take less
    build_ms: float


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when recall keeps within its limits."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.engines", description=__doc__)
    parser.add_argument("--sizes", default=",".join(str(size) for size in SIZES), help="numbers of notes")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found: list[Measured] = []
    for size in given.sizes.split(","):
        found += measure(int(size), given.rounds)
        if not given.json:
            print("\n".join(_told(one) for one in found if one.notes == int(size)), flush=True)
    if given.json:
        print(json.dumps([one.__dict__ for one in found], indent=2))
    else:
        print("\n".join(absent()))
    return 1 if any(is_slow(one) for one in found) else 0


def is_slow(one: Measured) -> bool:
    """Whether recall takes as long as its limit or longer."""
    return one.engine == RECALL and one.query_ms >= LIMITS_MS.get(one.notes, float("inf"))


def absent() -> list[str]:
    """Why an engine takes no part."""
    return [f"{name} is left out: it is not installed (pip install {name})" for name in OTHERS if not _is_here(name)]


def measure(size: int, rounds: int) -> list[Measured]:
    """All engines with one set of notes, which take turns."""
    notes, asked = notes_of(size), questions_of()
    with tempfile.TemporaryDirectory() as folder:
        made = [maker(notes, Path(folder)) for maker in _makers()]
        taken: dict[str, list[float]] = {engine: [] for engine, _, _ in made}
        for _ in range(rounds + 1):
            for query in asked:
                for engine, ask, _ in made:
                    taken[engine].append(_cpu_ms(lambda ask=ask, query=query: ask(query)))  # type: ignore[misc]
    return [_measured(engine, size, taken[engine][len(asked) :], build) for engine, _, build in made]


def _measured(engine: str, size: int, taken: list[float], build: float) -> Measured:
    # the first round warms caches: it is not counted
    return Measured(
        engine=engine,
        notes=size,
        query_ms=round(statistics.median(taken), 3),
        most_ms=round(statistics.quantiles(taken, n=10)[-1], 3),
        build_ms=round(build, 1),
    )


# --- Engines -------------------------------------------------------------------------------------------------------

RECALL: Final = "recall and section"
Made = tuple[str, Ask, float]


def _makers() -> list[Callable[[Sequence[NoteFile], Path], Made]]:
    others = {"bm25s": _bm25s, "tantivy": _tantivy}
    return [_recall, _fts5, *(make for name, make in others.items() if _is_here(name))]


def _is_here(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _recall(notes: Sequence[NoteFile], folder: Path) -> Made:
    """What a run does for one prompt: the product's own recall, and the section that it becomes."""
    shelf, pinned = ShelfOf(notes=notes), version()
    search = FtsSearch(folder)
    build = _cpu_ms(lambda: search.open(pinned.digest, lambda: shelf.chunks(pinned)))
    recall = Recall(shelf, search)
    return RECALL, lambda query: render_section(recall(query, pinned)), build


def _fts5(notes: Sequence[NoteFile], folder: Path) -> Made:
    """The index of recall asked for its two best chunks, and nothing else."""
    index = FtsSearch(folder).open(version().digest, lambda: chunks_of(notes))
    return "bare FTS5 query", lambda query: index.best(_asked(query), SHOWN), 0.0


def _bm25s(notes: Sequence[NoteFile], _: Path) -> Made:
    engine: Any = importlib.import_module("bm25s").BM25()
    texts = [words(indexed(chunk)) for chunk in chunks_of(notes)]
    build = _cpu_ms(lambda: engine.index(texts, show_progress=False))
    return "bm25s", lambda query: engine.retrieve([list(_asked(query))], k=SHOWN, show_progress=False), build


def _tantivy(notes: Sequence[NoteFile], folder: Path) -> Made:
    tantivy: Any = importlib.import_module("tantivy")
    texts = [" ".join(words(indexed(chunk))) for chunk in chunks_of(notes)]
    place = folder / "tantivy"
    place.mkdir()
    schema = tantivy.SchemaBuilder().add_text_field("text", stored=False, tokenizer_name="whitespace").build()
    index = tantivy.Index(schema, path=str(place))

    def build() -> None:
        writer = index.writer(num_threads=1)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()

    taken = _cpu_ms(build)
    searcher = index.searcher()

    def ask(query: MemoryQuery) -> object:
        terms = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", word)) for word in _asked(query)]
        return searcher.search(tantivy.Query.boolean_query(terms), SHOWN)

    return "tantivy", ask, taken


def _asked(query: MemoryQuery) -> tuple[str, ...]:
    """The words that every engine is asked with: those of the title, at most 24."""
    return distinct(words(query.title), WORDS_AT_MOST)


def _cpu_ms(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1000


def _told(one: Measured) -> str:
    limit = f"  (asked: under {LIMITS_MS[one.notes]:g})" if one.engine == RECALL and one.notes in LIMITS_MS else ""
    return (
        f"{one.notes:>7} notes  {one.engine:<20} {one.query_ms:>9.2f} ms a query, nine of ten under "
        f"{one.most_ms:.2f}{f'; index built in {one.build_ms / 1000:.1f} s' if one.build_ms else ''}{limit}"
    )


if __name__ == "__main__":
    sys.exit(main())
