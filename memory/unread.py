"""Notes of which nothing is searched: they are retired, empty, binary, or their head cannot be understood."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Engine, exists
from sqlmodel import Session, col, select

from memory.database import reading
from memory.tables import ChunkRow, NoteRow
from memory.types import MemoryVersion, NoteFile
from memory.versions import live_in, note_of

_UNSEARCHED = ~exists().where(col(ChunkRow.note) == col(NoteRow.id))


def unread(session: Session, version: MemoryVersion) -> tuple[NoteFile, ...]:
    """Those of a version, by path."""
    rows = select(NoteRow).where(*live_in(NoteRow, version), _UNSEARCHED).order_by(NoteRow.path, col(NoteRow.shared))
    return tuple(note_of(row) for row in session.exec(rows))


def unread_now(engine: Engine) -> Mapping[str, tuple[NoteFile, ...]]:
    """Those of the newest version of each repository, by its id."""
    rows = select(NoteRow).where(col(NoteRow.live_until).is_(None), _UNSEARCHED).order_by(NoteRow.path)
    found: dict[str, list[NoteFile]] = {}
    with reading(engine) as session:
        for row in session.exec(rows):
            found.setdefault(row.repository, []).append(note_of(row))
    return {repository: tuple(found[repository]) for repository in sorted(found)}
