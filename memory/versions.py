"""Versions of a repository's memory: what is live in one, and how notes and tuning are published in the next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, TypeAlias

from sqlalchemy import insert
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, col, or_, select

from memory.columns import scope_json, scope_of
from memory.errors import MemoryFault
from memory.notes import chunks
from memory.slots import Scrub
from memory.tables import ChunkRow, LessonRow, NoteRow, Scoped, TuningRow, VersionRow
from memory.text import fold
from memory.types import Chunk, CommitId, MemoryVersion, NoteFile, Scope, Sources

_BULLETS: Final = ("- ", "* ", "+ ")
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
    return MemoryVersion(scope=scope, number=0, digest=digest_of((), ""))


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


def publish_sources(session: Session, scope: Scope, sources: Sources, at: datetime, scrub: Scrub) -> MemoryVersion:
    """A version with these notes and this tuning: the newest one when it has them, else a new one."""
    newest = current(session, scope)
    wanted = {_note_digest(note): note for note in sources.notes}
    digest = digest_of_sources(sources)
    if digest == newest.digest:
        return newest
    version = MemoryVersion(scope=scope, number=newest.number + 1, digest=digest, commit=sources.commit)
    publish(session, version, at)
    live: set[str] = set()
    for row in session.exec(select(NoteRow).where(*of(NoteRow, scope), col(NoteRow.live_until).is_(None))):
        live.add(row.digest)
        if row.digest not in wanted:
            row.live_until = version.number
    _add_notes(session, version, {one: note for one, note in wanted.items() if one not in live}, scrub)
    _replace_tuning(session, version, scrub(sources.tuning))
    return version


def notes(session: Session, version: MemoryVersion) -> tuple[NoteFile, ...]:
    """The notes of a version, by path."""
    rows = select(NoteRow).where(*live_in(NoteRow, version)).order_by(NoteRow.path, col(NoteRow.shared))
    return tuple(_note_of(row) for row in session.exec(rows))


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
    """The rules of a version: one for each line that is not empty, without its bullet."""
    text = session.exec(select(TuningRow.text).where(*live_in(TuningRow, version))).first() or ""
    return tuple(rule for line in fold(text) if (rule := _unbulleted(line.strip())))


def of(table: type[Scoped], scope: Scope) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Rows of one repository."""
    return col(table.installation) == scope.installation, col(table.repository) == scope.repository


def live_in(table: Live, version: MemoryVersion) -> tuple[ColumnElement[bool], ...]:
    """Rows that hold in a version."""
    until = col(table.live_until)
    number = version.number
    return *of(table, version.scope), col(table.live_from) <= number, or_(until.is_(None), until > number)


def digest_of_sources(sources: Sources) -> str:
    """The digest of the version that these sources make."""
    return digest_of((_note_digest(note) for note in sources.notes), sources.tuning)


def digest_of(notes: Iterable[str], tuning: str) -> str:
    """What names the content of a version: SHA-256 over the digests of its notes and its tuning."""
    return hashlib.sha256(json.dumps([sorted(set(notes)), tuning]).encode("utf-8", "surrogatepass")).hexdigest()


def _note_digest(note: NoteFile) -> str:
    parts = json.dumps([note.path, note.shared, note.changed, note.text])
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _add_notes(session: Session, version: MemoryVersion, notes: Mapping[str, NoteFile], scrub: Scrub) -> None:
    rows = [
        NoteRow(
            installation=version.scope.installation,
            repository=version.scope.repository,
            path=scrub(note.path),
            shared=note.shared,
            changed=scrub(note.changed),
            digest=digest,
            text=scrub(note.text),
            live_from=version.number,
            live_until=None,
        )
        for digest, note in notes.items()
    ]
    session.add_all(rows)
    session.flush()  # gives the ids
    parts = [part for row in rows for part in _chunk_rows(row)]
    if parts:
        session.connection().execute(insert(ChunkRow), parts)


def _chunk_rows(row: NoteRow) -> list[dict[str, object]]:
    return [
        {
            "note": row.id,
            "ordinal": chunk.ordinal,
            "name": chunk.note,
            "anchor": chunk.anchor,
            "heading": chunk.heading,
            "text": chunk.text,
            "changed": chunk.changed,
            "scope": scope_json(chunk.scope),
        }
        for chunk in chunks(_note_of(row))
    ]


def _note_of(row: NoteRow) -> NoteFile:
    return NoteFile(path=row.path, text=row.text, changed=row.changed, shared=row.shared)


def _replace_tuning(session: Session, version: MemoryVersion, text: str) -> None:
    rows = select(TuningRow).where(*of(TuningRow, version.scope), col(TuningRow.live_until).is_(None))
    before = session.exec(rows).first()
    if before and before.text == text:
        return
    if before:
        before.live_until = version.number
    session.add(
        TuningRow(
            installation=version.scope.installation,
            repository=version.scope.repository,
            text=text,
            live_from=version.number,
            live_until=None,
        )
    )


def _version(scope: Scope, row: VersionRow) -> MemoryVersion:
    commit = None if row.source_commit is None else CommitId(row.source_commit)
    return MemoryVersion(scope=scope, number=row.number, digest=row.digest, commit=commit)


def _unbulleted(line: str) -> str:
    return line[2:].strip() if line.startswith(_BULLETS) else line
