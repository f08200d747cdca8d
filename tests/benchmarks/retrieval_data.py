"""Reports and runbooks on disk → notes and labelled queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory.notes import chunks
from memory.types import Chunk, MemoryQuery, NoteFile, RepositoryId, Scope, TicketId

FOLDS = 11
SCOPE = Scope(installation="benchmark", repository=RepositoryId("benchmark"))


@dataclass(frozen=True, kw_only=True)
class Question:
    """A query with the ids of the notes that answer it, and of those that are no fair answer to leave in."""

    id: str
    title: str
    body: str
    gold: frozenset[str]
    kin: frozenset[str]  # gold, its duplicates and the query itself

    def query(self) -> MemoryQuery:
        return MemoryQuery(
            scope=SCOPE,
            ticket=TicketId(self.id),
            entry_point="diagnose",
            title=self.title,
            body=self.body,
            at=datetime(2026, 1, 1, tzinfo=UTC),
        )


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Notes by id, as the product cuts them, and the questions about them."""

    name: str
    notes: dict[str, tuple[Chunk, ...]]
    questions: tuple[Question, ...]

    @property
    def chunks(self) -> list[Chunk]:
        return [chunk for parts in self.notes.values() for chunk in parts]

    def only(self, ids: Iterable[str]) -> Corpus:
        """The part that holds these notes, with the questions that they answer."""
        kept = {note: self.notes[note] for note in ids}
        return Corpus(
            name=self.name,
            notes=kept,
            questions=tuple(q for q in self.questions if q.gold and q.gold & kept.keys()),
        )

    def folds(self) -> list[Corpus]:
        """Parts of the size that a repository has."""
        parts: list[list[str]] = [[] for _ in range(FOLDS)]
        for note in self.notes:
            parts[int(hashlib.sha256(f"shard{note}".encode()).hexdigest(), 16) % FOLDS].append(note)
        return [self.only(part) for part in parts if part]


def read(notes: Path, queries: Path) -> Corpus:
    """The corpus in two folders, which may be one. Raises OSError when a file is missing."""
    documents = _lines(notes / "docs.jsonl")
    asked = _lines(queries / "queries.jsonl")
    cut = {d["id"]: chunks(NoteFile(path=d["id"], text=f"# {d['title']}\n\n{d['body']}")) for d in documents}
    gold_of = {q["id"]: frozenset(q.get("gold") or ()) for q in asked}
    return Corpus(
        name=notes.name,
        notes={note: parts for note, parts in cut.items() if parts},
        questions=tuple(
            Question(
                id=q["id"],
                title=q["title"],
                body=q["body"],
                gold=gold_of[q["id"]],
                kin=_kin(q["id"], gold_of),
            )
            for q in asked
        ),
    )


def _kin(query: str, gold_of: dict[str, frozenset[str]]) -> frozenset[str]:
    gold = gold_of[query]
    return gold | {query} | {other for other, theirs in gold_of.items() if theirs & gold}


def _lines(path: Path) -> Sequence[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
