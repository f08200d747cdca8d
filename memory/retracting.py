"""A lesson is taken back by a person: no later version has it; versions that runs have pinned stay as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session, col, select

from memory.tables import LessonRow
from memory.types import LessonId, MemoryVersion, Scope
from memory.versions import current, live_in, publish


def retract(session: Session, scope: Scope, lesson: LessonId, at: datetime) -> MemoryVersion | None:
    """The version without the lesson; None, and nothing published, where the newest one has no such lesson."""
    newest = current(session, scope)
    rows = session.exec(select(LessonRow).where(*live_in(LessonRow, newest), col(LessonRow.lesson) == lesson)).all()
    if not rows:
        return None
    version = replace(newest, number=newest.number + 1)
    publish(session, version, at)
    for row in rows:
        row.live_until = version.number
    return version
