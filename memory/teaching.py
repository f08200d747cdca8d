"""Lessons as they are written: new, seen once more, or contradicted. Each change is a new row of the same lesson."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlmodel import Session, col, or_, select

from memory.columns import ending_json, paths_json, signatures_json
from memory.lesson_table import lesson_of, live_row
from memory.lessons import STRONG_LEVELS, again, named, same_fix, strong_keys
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
    TicketId,
    Verify,
    VerifyOutcome,
)
from memory.versions import of


def teach(session: Session, ending: RunEnding, taught: Lesson, written: EndingId, version: MemoryVersion) -> Lesson:
    """Make `taught` live in `version`, new or as the known lesson seen once more; give it as it is then.

    `written` is the ending's row, on which the lesson rests from now on. Where two lessons contradict each other, the
    later evidence decides.
    """
    _add_evidence(session, ending, taught.id, written, version)
    known = live_row(session, taught.scope, taught.id)
    if known is not None:
        taught = again(lesson_of(known), taught, _sightings(session, taught))
    taught = _weighed(session, ending.run, taught, version)
    put(session, taught, version, known)
    return taught


def known_as(session: Session, taught: Lesson) -> Lesson:
    """`taught` under the id of the lesson that it is, where keys of another algorithm gave that one its id."""
    if live_row(session, taught.scope, taught.id) is not None:
        return taught
    alike = select(KeyRow.lesson).where(
        *of(KeyRow, taught.scope),
        col(KeyRow.level).in_(STRONG_LEVELS),
        col(KeyRow.key).in_(strong_keys(taught.signatures)),
    )
    rows = select(LessonRow).where(
        *of(LessonRow, taught.scope),
        col(LessonRow.live_until).is_(None),
        col(LessonRow.kind) == kind_of(taught.ending),
        col(LessonRow.lesson).in_(alike),
    )
    same = (known for row in session.exec(rows) if named(known := lesson_of(row)) == taught.id)
    found = next(same, None)
    return replace(taught, id=found.id) if found else taught


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


def _weighed(session: Session, run: RunId, taught: Lesson, version: MemoryVersion) -> Lesson:
    """`taught` beside what says the opposite of the same run or the same fix: what was seen last stands.

    The others are invalidated; it supersedes the newest verification among them.
    """
    opposed = _opposed(session, run, taught)
    if any(other.last_seen > taught.last_seen for _, other in opposed):
        return replace(taught, status=LessonStatus.INVALIDATED)
    for row, other in opposed:
        put(session, replace(other, status=LessonStatus.INVALIDATED), version, row)
    verified = [other for _, other in opposed if isinstance(other.ending, Verify)]
    newest = max(verified, key=lambda other: other.last_seen, default=None)
    return replace(taught, supersedes=newest.id if newest else taught.supersedes)


def _opposed(session: Session, run: RunId, taught: Lesson) -> list[tuple[LessonRow, Lesson]]:
    """Lessons that are believed and say the opposite: what this run reached, and how the same fix was verified."""
    if not isinstance(taught.ending, Verify):
        return []
    of_run = select(EvidenceRow.lesson).where(*of(EvidenceRow, taught.scope), col(EvidenceRow.run) == run)
    of_failure = select(KeyRow.lesson).where(
        *of(KeyRow, taught.scope),
        col(KeyRow.level).in_(STRONG_LEVELS),
        col(KeyRow.key).in_(strong_keys(taught.signatures)),
    )
    rows = select(LessonRow).where(
        *of(LessonRow, taught.scope),
        col(LessonRow.live_until).is_(None),
        col(LessonRow.status) != LessonStatus.INVALIDATED,
        col(LessonRow.kind).in_([EndingKind.PASS_AFTER_HOLD, EndingKind.VERIFY]),
        or_(col(LessonRow.lesson).in_(of_run), col(LessonRow.lesson).in_(of_failure)),
    )
    here = set(session.exec(of_run))
    return [
        (row, other)
        for row in session.exec(rows)
        if _contradicts(taught.ending, (other := lesson_of(row)).ending)
        and (other.id in here or (isinstance(other.ending, Verify) and same_fix(other, taught)))
    ]


def _contradicts(verified: Verify, other: Ending) -> bool:
    match verified.outcome:
        case VerifyOutcome.RECURRED:
            return isinstance(other, PassAfterHold) or _is(other, VerifyOutcome.WORKED)
        case VerifyOutcome.WORKED:
            return _is(other, VerifyOutcome.RECURRED)
        case VerifyOutcome.UNVERIFIED:
            return False
        case _:
            assert_never(verified.outcome)


def _is(ending: Ending, outcome: VerifyOutcome) -> bool:
    return isinstance(ending, Verify) and ending.outcome is outcome


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


def put(session: Session, lesson: Lesson, version: MemoryVersion, before: LessonRow | None) -> None:
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
