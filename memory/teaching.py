"""Lessons as they are written: new, seen once more, or contradicted. Each change is a new row of the same lesson."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlmodel import Session, col, or_, select

from memory.authorship import Authorship, listed
from memory.columns import ending_json, paths_json, signatures_json
from memory.lesson_table import lesson_of, live, live_lesson
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


def teach(
    session: Session, ending: RunEnding, taught: Lesson, written: EndingId, version: MemoryVersion, author: Authorship
) -> Lesson:
    """Make `taught` live in `version`, new or as the known lesson seen once more; give it as it is then.

    `written` is the ending's row, on which the lesson rests from now on. Where two lessons contradict each other, the
    later evidence decides. A lesson that somebody else changed is not built upon: it is made anew from `taught`.
    """
    _add_evidence(session, ending, taught.id, written, version)
    known = live_lesson(session, taught.scope, taught.id, author)
    if known is not None:
        taught = again(known, taught, _sightings(session, taught))
    taught = _weighed(session, ending.run, taught, version, author)
    put(session, taught, version, author)
    return taught


def known_as(session: Session, taught: Lesson, author: Authorship) -> Lesson:
    """`taught` under the id of the lesson that it is, where keys of another algorithm gave that one its id."""
    if live_lesson(session, taught.scope, taught.id, author) is not None:
        return taught
    alike = select(KeyRow.lesson).where(
        *of(KeyRow, taught.scope),
        col(KeyRow.level).in_(STRONG_LEVELS),
        col(KeyRow.key).in_(strong_keys(taught.signatures)),
    )
    rows = select(LessonRow.id).where(
        *live(taught.scope), col(LessonRow.kind) == kind_of(taught.ending), col(LessonRow.lesson).in_(alike)
    )
    lessons = (lesson_of(row) for row in author.rows(session, rows).values() if row)
    same = (known for known in lessons if named(known) == taught.id)
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


def _weighed(session: Session, run: RunId, taught: Lesson, version: MemoryVersion, author: Authorship) -> Lesson:
    """`taught` beside what says the opposite of the same run or the same fix: what was seen last stands.

    The others are invalidated; it supersedes the newest verification among them.
    """
    opposed = _opposed(session, run, taught, author)
    if any(other.last_seen > taught.last_seen for other in opposed):
        return replace(taught, status=LessonStatus.INVALIDATED)
    for other in opposed:
        put(session, replace(other, status=LessonStatus.INVALIDATED), version, author)
    verified = [other for other in opposed if isinstance(other.ending, Verify)]
    newest = max(verified, key=lambda other: other.last_seen, default=None)
    return replace(taught, supersedes=newest.id if newest else taught.supersedes)


def _opposed(session: Session, run: RunId, taught: Lesson, author: Authorship) -> list[Lesson]:
    """Lessons that are believed and say the opposite: what this run reached, and how the same fix was verified."""
    if not isinstance(taught.ending, Verify):
        return []
    of_run = select(EvidenceRow.lesson).where(*of(EvidenceRow, taught.scope), col(EvidenceRow.run) == run)
    of_failure = select(KeyRow.lesson).where(
        *of(KeyRow, taught.scope),
        col(KeyRow.level).in_(STRONG_LEVELS),
        col(KeyRow.key).in_(strong_keys(taught.signatures)),
    )
    rows = select(LessonRow.id).where(
        *live(taught.scope),
        col(LessonRow.status) != LessonStatus.INVALIDATED,
        col(LessonRow.kind).in_([EndingKind.PASS_AFTER_HOLD, EndingKind.VERIFY]),
        or_(col(LessonRow.lesson).in_(of_run), col(LessonRow.lesson).in_(of_failure)),
    )
    here = set(session.exec(of_run))
    return [
        other
        for row in author.rows(session, rows).values()
        if row
        and _contradicts(taught.ending, (other := lesson_of(row)).ending)
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


def put(session: Session, lesson: Lesson, version: MemoryVersion, author: Authorship) -> None:
    """A new state of a lesson in place of the one before, signed, with the keys that are new."""
    before = select(LessonRow.id).where(*live(lesson.scope), col(LessonRow.lesson) == lesson.id)
    # The index allows one live state of a lesson.
    author.close(session, listed(session, before), version.number)
    kind = kind_of(lesson.ending)
    session.add(
        row := LessonRow(
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
    assert row.id is not None
    author.sign(session, [row.id])


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
