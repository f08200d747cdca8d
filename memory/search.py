"""What recall asks of a search engine; FTS5 in `memory.index` is the one that comes with the program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memory.errors import MemoryFault
from memory.types import Chunk


class IndexUnusable(MemoryFault):
    """The index of notes in {folder} cannot be used: {reason}. Make the folder writable or make room, then retry."""


class Hit(NamedTuple):
    """A chunk that holds at least one of the words. Many are made for each call, so it is as light as can be."""

    row: int
    note: int
    bm25: float  # the greater, the better


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a rule may know of a whole note; function words are not counted."""

    note: int
    title: Mapping[str, int]  # how often each word stands in the title and the tags
    text: Mapping[str, int]  # and in all of the note
    length: float  # of the text as a vector of (1 + ln count) * rarity


def rarity(notes: int, holding: int) -> float:
    """How much a word tells that `holding` of so many notes hold; never below 0."""
    return max(0.0, math.log((notes + 1) / (holding + 0.5)))


@dataclass(frozen=True, kw_only=True)
class Totals:
    """How much an index holds."""

    notes: int
    chunks: int
    title_words: int  # of all titles, function words not counted
    text_words: int


class Index(Protocol):
    """Notes, ready to be searched. Words come from `memory.words`; nothing else is ever a part of a search.

    Every method raises IndexUnusable when the index turns out to be damaged.
    """

    @property
    def digest(self) -> str:
        """Of what the index holds."""

    @property
    def totals(self) -> Totals:
        """How much it holds."""

    def chunks_with(self, words: Sequence[str]) -> Mapping[str, int]:
        """How many chunks hold each word; no entry for a word that none holds."""

    def notes_with(self, words: Sequence[str]) -> Mapping[str, int]:
        """How many notes hold each word; no entry for a word that none holds."""

    def best(self, words: Sequence[str], at_most: int) -> tuple[Hit, ...]:
        """The best chunks by bm25, best first."""

    def rows_of(self, word: str) -> frozenset[int]:
        """The chunks that hold a word."""

    def note_of(self, row: int) -> int:
        """The note that a chunk belongs to."""

    def chunk(self, row: int) -> Chunk:
        """The chunk itself."""

    def chunks_of(self, note: int) -> tuple[Chunk, ...]:
        """All chunks of a note, in order."""

    def profiles(self, notes: Sequence[int]) -> Mapping[int, Profile]:
        """What is in each of these notes."""


class Search(Protocol):
    """An engine that makes indexes."""

    def open(self, digest: str, chunks: Callable[[], Sequence[Chunk]]) -> Index:
        """The index of exactly `digest`; `chunks` is called only when it must be built.

        Raises IndexUnusable when it cannot be built. An index of another digest is never given.
        """

    def discard(self, digest: str) -> None:
        """Forget the index of `digest`: its file is gone when this returns."""
