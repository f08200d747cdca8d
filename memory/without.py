"""An index as it would be without some of its notes: for asking it about what it does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memory.index_build import indexed
from memory.search import Hit, Index, Profile, Totals
from memory.types import Chunk
from memory.words import words


class Without:
    """A view on `index` that does not hold `notes`.

    Counts are exact; bm25 stays that of the whole index, which has a few rows more.
    """

    def __init__(self, index: Index, notes: Collection[int]) -> None:
        self._index, self._hidden = index, frozenset(notes)
        self.digest = index.digest
        self._in_notes: Counter[str] = Counter()
        self._in_chunks: Counter[str] = Counter()
        chunks = title_words = text_words = 0
        for note, profile in index.profiles(sorted(self._hidden)).items():
            title_words += sum(profile.title.values())
            text_words += sum(profile.text.values())
            held: set[str] = set()
            for chunk in index.chunks_of(note):
                chunks += 1
                found = set(words(indexed(chunk)))
                self._in_chunks.update(found)
                held |= found
            self._in_notes.update(held)
        self._chunks_hidden = chunks
        whole = index.totals
        self.totals = Totals(
            notes=whole.notes - len(self._hidden),
            chunks=whole.chunks - chunks,
            title_words=whole.title_words - title_words,
            text_words=whole.text_words - text_words,
        )

    def chunks_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return _less(self._index.chunks_with(words), self._in_chunks)

    def notes_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return _less(self._index.notes_with(words), self._in_notes)

    def best(self, words: Sequence[str], at_most: int) -> tuple[Hit, ...]:
        hits = self._index.best(words, at_most + self._chunks_hidden)
        return tuple(hit for hit in hits if hit.note not in self._hidden)[:at_most]

    def rows_of(self, word: str) -> frozenset[int]:
        return frozenset(row for row in self._index.rows_of(word) if self.note_of(row) not in self._hidden)

    def note_of(self, row: int) -> int:
        return self._index.note_of(row)

    def chunk(self, row: int) -> Chunk:
        return self._index.chunk(row)

    def chunks_of(self, note: int) -> tuple[Chunk, ...]:
        return self._index.chunks_of(note)

    def profiles(self, notes: Sequence[int]) -> Mapping[int, Profile]:
        return self._index.profiles(notes)


def _less(held: Mapping[str, int], hidden: Mapping[str, int]) -> dict[str, int]:
    return {word: count - hidden.get(word, 0) for word, count in held.items() if count > hidden.get(word, 0)}
