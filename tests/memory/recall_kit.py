"""What the tests of recall build upon: a shelf in memory, notes and queries in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memory.calibration import Calibration
from memory.notes import chunks
from memory.types import (
    Chunk,
    CommitId,
    Drop,
    DropCause,
    Eligible,
    Ending,
    Lesson,
    LessonId,
    LessonStatus,
    MemoryQuery,
    MemoryVersion,
    NoteFile,
    RepositoryId,
    RunId,
    Scope,
    TicketId,
)

SCOPE = Scope(installation="here", repository=RepositoryId("host/shop"))
NOW = datetime(2026, 11, 3, 12, tzinfo=UTC)


@dataclass
class ShelfOf:
    """A shelf that counts how often its notes were asked for."""

    notes: Sequence[NoteFile] = ()
    lessons: Sequence[tuple[Lesson, str]] = ()
    rules: Sequence[str] = ()
    unread: int = 0  # lessons that are eligible too
    measured: Calibration | None = None
    asked_for_chunks: int = field(default=0, init=False)

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Eligible:
        return Eligible(lessons=tuple(self.lessons), count=len(self.lessons) + self.unread)

    def tuning(self, version: MemoryVersion) -> Sequence[str]:
        return self.rules

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        self.asked_for_chunks += 1
        return chunks_of(self.notes)

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        return self.measured


def chunks_of(notes: Sequence[NoteFile]) -> list[Chunk]:
    return [chunk for note in notes for chunk in chunks(note)]


def note(path: str, text: str, changed: str = "2026-10-11") -> NoteFile:
    return NoteFile(path=path, text=text, changed=changed)


def filler(count: int) -> list[NoteFile]:
    """Notes that have a word of their own and some in common."""
    return [note(f"filler{n:03}.md", f"# Filler qq{n:03}\nNothing about alpha{n % 7} here") for n in range(count)]


def asking(title: str, *, headline: str = "", body: str = "", environment: str = "", rule: str = "auto") -> MemoryQuery:
    return MemoryQuery(
        scope=SCOPE,
        ticket=TicketId("7"),
        entry_point="diagnose",
        title=title,
        headline=headline,
        body=body,
        environment=environment,
        rule=rule,
        at=NOW,
    )


def version(digest: str = "d1", number: int = 1) -> MemoryVersion:
    return MemoryVersion(scope=SCOPE, number=number, digest=digest)


def learned(
    name: str,
    ending: Ending | None = None,
    *,
    days_ago: int = 0,
    status: LessonStatus = LessonStatus.VALIDATED,
    maintainer: str = "",
) -> Lesson:
    return Lesson(
        id=LessonId(name),
        scope=SCOPE,
        ending=ending or Drop(cause=DropCause.BUDGET),
        status=status,
        run=RunId("01J5"),
        ticket=TicketId("7"),
        commit=CommitId("4be1f0a" + "0" * 33),
        signatures=(),
        maintainer=maintainer,
        first_seen=NOW - timedelta(days=days_ago),
        last_seen=NOW - timedelta(days=days_ago),
    )
