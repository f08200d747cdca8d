"""A version with the notes and the tuning that people wrote."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import insert
from sqlmodel import Session, col, select

from memory.columns import scope_json
from memory.prepared import KeptNote, Prepared, PreparedNote
from memory.tables import ChunkRow, NoteRow, TuningRow
from memory.types import MemoryVersion, Scope
from memory.versions import current, digest_of_notes, of, publish


def kept_notes(session: Session, scope: Scope) -> dict[str, KeptNote]:
    """The live notes of a repository by what they were made of."""
    rows = select(NoteRow).where(*of(NoteRow, scope), col(NoteRow.live_until).is_(None))
    return {
        row.source: KeptNote(source=row.source, digest=row.digest, path=row.path, text=row.text)
        for row in session.exec(rows)
    }


def published(session: Session, scope: Scope, prepared: Prepared) -> MemoryVersion | None:
    """The newest version when it has just these notes and this tuning."""
    newest = current(session, scope)
    tuning = _live_tuning(session, scope)
    same = newest.digest == digest_of_notes(prepared.notes) and (tuning.text if tuning else "") == prepared.tuning
    return newest if same else None


def publish_prepared(session: Session, scope: Scope, prepared: Prepared, at: datetime) -> MemoryVersion | None:
    """A version with what was prepared: the newest one when it has that, else a new one.

    None, and nothing is written, when a note that was live while they were prepared is not live any more.
    """
    if newest := published(session, scope, prepared):
        return newest
    rows = select(NoteRow).where(*of(NoteRow, scope), col(NoteRow.live_until).is_(None))
    live = {row.digest: row for row in session.exec(rows)}
    fresh = {digest: note for digest, note in prepared.notes.items() if digest not in live}
    notes = [note for note in fresh.values() if note]
    if len(notes) < len(fresh):
        return None
    version = MemoryVersion(
        scope=scope,
        number=current(session, scope).number + 1,
        digest=digest_of_notes(prepared.notes),
        commit=prepared.commit,
    )
    publish(session, version, at)
    for digest, row in live.items():
        if digest not in prepared.notes:
            row.live_until = version.number
    _add_notes(session, version, notes)
    _replace_tuning(session, version, prepared.tuning)
    return version


def _add_notes(session: Session, version: MemoryVersion, notes: list[PreparedNote]) -> None:
    rows = [
        NoteRow(
            installation=version.scope.installation,
            repository=version.scope.repository,
            path=made.note.path,
            shared=made.note.shared,
            changed=made.note.changed,
            source=made.source,
            digest=made.digest,
            text=made.note.text,
            live_from=version.number,
            live_until=None,
        )
        for made in notes
    ]
    session.add_all(rows)
    session.flush()  # gives the ids
    parts = [part for row, made in zip(rows, notes, strict=True) for part in _chunk_rows(row, made)]
    if parts:
        session.connection().execute(insert(ChunkRow), parts)


def _chunk_rows(row: NoteRow, made: PreparedNote) -> list[Mapping[str, object]]:
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
        for chunk in made.chunks
    ]


def _live_tuning(session: Session, scope: Scope) -> TuningRow | None:
    rows = select(TuningRow).where(*of(TuningRow, scope), col(TuningRow.live_until).is_(None))
    return session.exec(rows).first()


def _replace_tuning(session: Session, version: MemoryVersion, text: str) -> None:
    before = _live_tuning(session, version.scope)
    if (before.text if before else "") == text:
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
