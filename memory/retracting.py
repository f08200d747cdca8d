"""A lesson is taken back by a person: no later version has it; versions that runs have pinned stay as they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session, col, select

from memory.authorship import Authorship, listed
from memory.tables import LessonRow
from memory.types import LessonId, MemoryVersion, Scope
from memory.versions import current, live_in, publish


def retract(session: Session, scope: Scope, lesson: LessonId, at: datetime, author: Authorship) -> MemoryVersion | None:
    """The version without the lesson; None, and nothing published, where the newest one has no such lesson."""
    newest = current(session, scope)
    asked = select(LessonRow.id).where(*live_in(LessonRow, newest), col(LessonRow.lesson) == lesson)
    rows = listed(session, asked)
    if not rows:
        return None
    version = replace(newest, number=newest.number + 1)
    publish(session, version, at)
    author.close(session, rows, version.number)
    return version
