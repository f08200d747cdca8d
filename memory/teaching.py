"""Lessons as they are written: new, seen once more, or contradicted. Each change is a new row of the same lesson."""

from __future__ import annotations

from dataclasses import replace

from sqlmodel import Session, col, select

from memory.columns import ending_json, ending_of, paths_json, signatures_json
from memory.lessons import again, same_fix
from memory.shelf import lesson_of, live_row
from memory.slots import kind_of
from memory.status import Sighting
from memory.tables import EvidenceRow, KeyRow, LessonRow
from memory.types import (
    Ending,
    EndingId,
    EndingKind,
    Evidence,
    Lesson,
    LessonId,
    LessonStatus,
    MemoryVersion,
    PassAfterHold,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Verify,
    VerifyOutcome,
)
from memory.versions import of


def teach(session: Session, ending: RunEnding, taught: Lesson, written: EndingId, version: MemoryVersion) -> Lesson:
    """Make `taught` live in `version`, new or as the known lesson seen once more; give it as it is then.

    `written` is the ending's row, on which the lesson rests from now on.
    """
    _add_evidence(session, ending, taught.id, written, version)
    known = live_row(session, taught.scope, taught.id)
    if known is not None:
        taught = again(lesson_of(known), taught, _sightings(session, taught))
    if isinstance(ending.ending, Verify) and ending.ending.outcome is VerifyOutcome.RECURRED:
        taught = replace(taught, supersedes=_contradict(session, ending.run, taught, version) or taught.supersedes)
    _put(session, taught, version, known)
    return taught


def _add_evidence(
    session: Session, ending: RunEnding, lesson: LessonId, written: EndingId, version: MemoryVersion
) -> None:
    session.add(
        EvidenceRow(
            ending=written,
            installation=ending.scope.installation,
            repository=ending.scope.repository,
            lesson=lesson,
            run=ending.run,
            ticket=ending.ticket,
            author=ending.author,
            evidence=ending.evidence,
            at=ending.at,
            live_from=version.number,
        )
    )
    session.flush()


def _contradict(session: Session, run: RunId, recurred: Lesson, version: MemoryVersion) -> LessonId | None:
    """The failure came back: what this run, or the same fix, was said to have reached no longer holds.

    Gives the `worked` that the recurrence supersedes.
    """
    superseded: LessonId | None = None
    for row in _believed(session, recurred.scope):
        believed = lesson_of(row)
        worked = isinstance(believed.ending, Verify)
        if _rests_on(session, believed, run) or (worked and same_fix(believed, recurred)):
            _put(session, replace(believed, status=LessonStatus.INVALIDATED), version, row)
            superseded = believed.id if worked else superseded
    return superseded


def _believed(session: Session, scope: Scope) -> list[LessonRow]:
    """Live lessons that say that a fix did its work."""
    rows = select(LessonRow).where(
        *of(LessonRow, scope),
        col(LessonRow.live_until).is_(None),
        col(LessonRow.status) != LessonStatus.INVALIDATED,
        col(LessonRow.kind).in_([EndingKind.PASS_AFTER_HOLD, EndingKind.VERIFY]),
    )
    return [row for row in session.exec(rows) if _says_fixed(ending_of(EndingKind(row.kind), row.body))]


def _says_fixed(ending: Ending) -> bool:
    return isinstance(ending, PassAfterHold) or (isinstance(ending, Verify) and ending.outcome is VerifyOutcome.WORKED)


def _rests_on(session: Session, lesson: Lesson, run: RunId) -> bool:
    rows = select(EvidenceRow).where(
        *of(EvidenceRow, lesson.scope), col(EvidenceRow.lesson) == lesson.id, col(EvidenceRow.run) == run
    )
    return session.exec(rows).first() is not None


def _sightings(session: Session, lesson: Lesson) -> list[Sighting]:
    rows = select(EvidenceRow).where(*of(EvidenceRow, lesson.scope), col(EvidenceRow.lesson) == lesson.id)
    return [
        Sighting(
            run=RunId(row.run),
            ticket=TicketId(row.ticket),
            author=row.author,
            evidence=Evidence(row.evidence),
            at=row.at,
        )
        for row in session.exec(rows)
    ]


def _put(session: Session, lesson: Lesson, version: MemoryVersion, before: LessonRow | None) -> None:
    """A new state of a lesson in place of the one before, with the keys that are new."""
    if before is not None:
        before.live_until = version.number
        session.flush()  # the index allows one live state of a lesson
    kind = kind_of(lesson.ending)
    session.add(
        LessonRow(
            installation=lesson.scope.installation,
            repository=lesson.scope.repository,
            lesson=lesson.id,
            kind=kind,
            body=ending_json(kind, lesson.ending),
            status=lesson.status,
            run=lesson.run,
            ticket=lesson.ticket,
            commit_id=lesson.commit,
            signatures=signatures_json(lesson.signatures),
            environment=lesson.environment,
            paths=paths_json(lesson.paths),
            maintainer=lesson.maintainer,
            supersedes=lesson.supersedes,
            count=lesson.count,
            first_seen=lesson.first_seen,
            last_seen=lesson.last_seen,
            expires=lesson.expires,
            live_from=version.number,
            live_until=None,
        )
    )
    _add_keys(session, lesson, version)
    session.flush()


def _add_keys(session: Session, lesson: Lesson, version: MemoryVersion) -> None:
    known = set(session.exec(select(KeyRow.key).where(*of(KeyRow, lesson.scope), col(KeyRow.lesson) == lesson.id)))
    keys = {key: level for signature in lesson.signatures for level, key in signature.keys.items()}
    session.add_all(
        KeyRow(
            installation=lesson.scope.installation,
            repository=lesson.scope.repository,
            lesson=lesson.id,
            algo=key.partition(":")[0],
            level=level,
            key=key,
            live_from=version.number,
        )
        for key, level in keys.items()
        if key not in known
    )
