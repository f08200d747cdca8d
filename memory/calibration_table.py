"""Calibrations in their table: a version has the last one that was made before it."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session, col, select

from memory.calibration import Basis, Calibration
from memory.intervals import Share
from memory.tables import CalibrationRow, NoteRow
from memory.types import MemoryVersion
from memory.versions import current, live_in, numbered, of, publish


def calibration(session: Session, version: MemoryVersion) -> Calibration | None:
    """What a version carries; None when nothing was measured until then."""
    row = _row(session, version)
    return _calibration(row) if row else None


def changed(session: Session, version: MemoryVersion) -> float | None:
    """The share of notes that came, went or were edited since the calibration that `version` carries."""
    row = _row(session, version)
    if row is None:
        return None
    before, now = (_notes(session, one) for one in (numbered(session, version.scope, row.version), version))
    # An edited note is one that went and one that came: counted once.
    return max(len(before - now), len(now - before)) / max(1, len(before))


def keep(session: Session, version: MemoryVersion, made: Calibration) -> MemoryVersion:
    """A new version of the repository that carries `made`; its notes are those of the newest one."""
    newest = current(session, version.scope)
    carrying = replace(newest, number=newest.number + 1)
    publish(session, carrying, made.at)
    session.add(
        CalibrationRow(
            installation=version.scope.installation,
            repository=version.scope.repository,
            version=carrying.number,
            algorithm=made.algorithm,
            basis=made.basis.value,
            level=made.level,
            threshold=made.threshold,
            notes=made.notes,
            false_hits=made.false.hits,
            false_of=made.false.of,
            found_hits=made.found.hits,
            found_of=made.found.of,
            right_hits=made.precision.hits,
            right_of=made.precision.of,
            at=made.at,
        )
    )
    return carrying


def _row(session: Session, version: MemoryVersion) -> CalibrationRow | None:
    until = select(CalibrationRow).where(
        *of(CalibrationRow, version.scope), col(CalibrationRow.version) <= version.number
    )
    return session.exec(until.order_by(col(CalibrationRow.version).desc()).limit(1)).first()


def _notes(session: Session, version: MemoryVersion) -> set[str]:
    return set(session.exec(select(NoteRow.digest).where(*live_in(NoteRow, version))))


def _calibration(row: CalibrationRow) -> Calibration:
    return Calibration(
        algorithm=row.algorithm,
        basis=Basis(row.basis),
        level=row.level,
        threshold=row.threshold,
        notes=row.notes,
        false=Share(hits=row.false_hits, of=row.false_of),
        found=Share(hits=row.found_hits, of=row.found_of),
        precision=Share(hits=row.right_hits, of=row.right_of),
        at=row.at,
    )
