"""Versions of a repository's memory, and what is live in one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, col, or_, select

from memory.columns import scope_of
from memory.errors import MemoryFault
from memory.prepared import digest_of
from memory.tables import ChunkRow, LessonRow, NoteRow, Scoped, TuningRow, VersionRow
from memory.types import Chunk, CommitId, MemoryVersion, NoteFile, Scope

Live: TypeAlias = type[LessonRow] | type[NoteRow] | type[TuningRow]


class NoSuchVersion(MemoryFault):
    """Memory of {repository} has no version {number}: restore the database, or name another version."""


def current(session: Session, scope: Scope) -> MemoryVersion:
    """The newest version; number 0 before anything was published."""
    rows = select(VersionRow).where(*of(VersionRow, scope)).order_by(col(VersionRow.number).desc()).limit(1)
    row = session.exec(rows).first()
    return _version(scope, row) if row else empty(scope)


def numbered(session: Session, scope: Scope, number: int) -> MemoryVersion:
    """The version of that number. Raises NoSuchVersion when it was never published; number 0 always was."""
    if number == 0:
        return empty(scope)
    row = session.get(VersionRow, (scope.installation, scope.repository, number))
    if row is None:
        raise NoSuchVersion(number=number, repository=scope.repository)
    return _version(scope, row)


def empty(scope: Scope) -> MemoryVersion:
    """The version before anything was published."""
    return MemoryVersion(scope=scope, number=0, digest=digest_of_notes(()))


def publish(session: Session, version: MemoryVersion, at: datetime) -> None:
    """Make `version` the newest one; its number is taken or the transaction fails."""
    session.add(
        VersionRow(
            installation=version.scope.installation,
            repository=version.scope.repository,
            number=version.number,
            digest=version.digest,
            source_commit=version.commit,
            published_at=at,
        )
    )
    session.flush()


def notes(session: Session, version: MemoryVersion) -> tuple[NoteFile, ...]:
    """The notes of a version, by path."""
    rows = select(NoteRow).where(*live_in(NoteRow, version)).order_by(NoteRow.path, col(NoteRow.shared))
    return tuple(note_of(row) for row in session.exec(rows))


def version_chunks(session: Session, version: MemoryVersion) -> tuple[Chunk, ...]:
    """The chunks of a version's notes, by name and place."""
    rows = (
        select(ChunkRow)
        .join(NoteRow, col(NoteRow.id) == col(ChunkRow.note))
        .where(*live_in(NoteRow, version))
        .order_by(ChunkRow.name, col(ChunkRow.ordinal))
    )
    return tuple(
        Chunk(
            note=row.name,
            anchor=row.anchor,
            ordinal=row.ordinal,
            heading=row.heading,
            text=row.text,
            changed=row.changed,
            scope=scope_of(row.scope),
        )
        for row in session.exec(rows)
    )


def tuning(session: Session, version: MemoryVersion) -> tuple[str, ...]:
    """The rules of a version."""
    text = session.exec(select(TuningRow.text).where(*live_in(TuningRow, version))).first()
    return tuple(text.split("\n")) if text else ()


def note_of(row: NoteRow) -> NoteFile:
    return NoteFile(path=row.path, text=row.text, changed=row.changed, shared=row.shared)


def of(table: type[Scoped], scope: Scope) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Rows of one repository."""
    return col(table.installation) == scope.installation, col(table.repository) == scope.repository


def live_in(table: Live, version: MemoryVersion) -> tuple[ColumnElement[bool], ...]:
    """Rows that hold in a version."""
    until = col(table.live_until)
    number = version.number
    return *of(table, version.scope), col(table.live_from) <= number, or_(until.is_(None), until > number)


def digest_of_notes(notes: Iterable[str]) -> str:
    """What names the notes of a version: the digest over theirs."""
    return digest_of(sorted(set(notes)))


def _version(scope: Scope, row: VersionRow) -> MemoryVersion:
    commit = None if row.source_commit is None else CommitId(row.source_commit)
    return MemoryVersion(scope=scope, number=row.number, digest=row.digest, commit=commit)
