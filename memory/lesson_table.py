"""Lessons as they are read: by id, all of them, or those that a query may see."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, text
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session, col, select

from memory.authorship import Authorship
from memory.columns import ending_of, paths_of, signatures_of
from memory.errors import MemoryFault
from memory.slots import Scrub, slotted_ticket
from memory.tables import LessonRow, Moment
from memory.types import (
    CommitId,
    Eligible,
    EndingKind,
    Lesson,
    LessonId,
    LessonStatus,
    MemoryQuery,
    MemoryVersion,
    RepositoryId,
    RunId,
    Scope,
    TicketId,
)
from memory.versions import live_in, of

LESSONS_READ: Final = 20
"""Lessons that one query reads: those that may be shown, and the next ones to tell why they are not."""
_KEY_SHOWN: Final = 12  # hex digits of a key
# One statement, so that no row of another repository, no dead, expired, invalidated or superseded lesson ever leaves
# the database. A message-only key (level t) admits nothing.
_ELIGIBLE: Final = text(
    """
    WITH same_ticket AS (
        SELECT DISTINCT lesson FROM lesson_evidence
        WHERE installation = :installation AND repository = :repository
          AND ticket = :ticket AND live_from <= :version
    ), same_key AS (
        SELECT lesson, MIN(CASE level WHEN 'x' THEN '0' WHEN 'f' THEN '1' ELSE '2' END || key) AS best
        FROM lesson_key
        WHERE installation = :installation AND repository = :repository
          AND level IN ('x', 'f', 'c') AND key IN :keys AND live_from <= :version
        GROUP BY lesson
    ), candidate AS (
        SELECT lesson FROM same_ticket UNION SELECT lesson FROM same_key
    ), eligible AS (
        SELECT lesson.id, lesson.lesson, lesson.kind, lesson.last_seen,
               CASE lesson.status WHEN 'validated' THEN 0 ELSE 1 END AS unsure,
               same_ticket.lesson IS NOT NULL AS of_ticket, SUBSTR(same_key.best, 2) AS same
        FROM candidate
        JOIN lesson ON lesson.lesson = candidate.lesson
        LEFT JOIN same_ticket ON same_ticket.lesson = candidate.lesson
        LEFT JOIN same_key ON same_key.lesson = candidate.lesson
        WHERE lesson.installation = :installation AND lesson.repository = :repository
          AND lesson.live_from <= :version AND (lesson.live_until IS NULL OR lesson.live_until > :version)
          AND lesson.status <> 'invalidated'
          AND (lesson.expires IS NULL OR lesson.expires > :at)
          AND NOT EXISTS (
              SELECT 1 FROM lesson AS later
              WHERE later.installation = :installation AND later.repository = :repository
                AND later.supersedes = lesson.lesson AND later.status = 'validated'
                AND later.live_from <= :version AND (later.live_until IS NULL OR later.live_until > :version)
          )
    ), ordered AS (
        SELECT eligible.*,
               ROW_NUMBER() OVER (PARTITION BY kind ORDER BY last_seen DESC, unsure, id DESC) AS place
        FROM eligible
    )
    SELECT id, lesson, of_ticket, same, COUNT(*) OVER () FROM ordered
    ORDER BY CASE place WHEN 1 THEN 0 ELSE 1 END, last_seen DESC, unsure, id DESC
    LIMIT :at_most
    """
).bindparams(bindparam("keys", expanding=True), bindparam("at", type_=Moment()))


class ForeignVersion(MemoryFault):
    """Version {number} is of {repository}: it says nothing about {asked}."""


def eligible_lessons(
    session: Session, query: MemoryQuery, version: MemoryVersion, scrub: Scrub, author: Authorship
) -> Eligible:
    """What a query may see: the newest of each kind first, then by date, `validated` before `pending` on ties.

    Raises ForeignVersion when query and version are of two repositories.
    """
    if query.scope != version.scope:
        raise ForeignVersion(number=version.number, repository=version.scope.repository, asked=query.scope.repository)
    found = (
        session.connection()
        .execute(
            _ELIGIBLE,
            {
                "installation": version.scope.installation,
                "repository": version.scope.repository,
                "version": version.number,
                "ticket": slotted_ticket(query.ticket, scrub),
                "keys": sorted({key for signature in query.signatures for key in signature.keys.values()}),
                "at": query.at,
                "at_most": LESSONS_READ,
            },
        )
        .all()
    )
    reasons = {
        row: "same ticket" if of_ticket else f"same signature {_cut(key)}" for row, _, of_ticket, key, _ in found
    }
    rows = author.rows(session, select(LessonRow.id).where(col(LessonRow.id).in_(reasons))) if reasons else {}
    foreign = tuple(LessonId(str(lesson)) for row, lesson, *_ in found if rows.get(row) is None)
    return Eligible(
        lessons=tuple((lesson_of(known), why) for row, why in reasons.items() if (known := rows.get(row))),
        count=found[0][-1] - len(foreign) if found else 0,
        foreign=foreign,
    )


def lessons(session: Session, version: MemoryVersion, author: Authorship) -> tuple[Lesson, ...]:
    """All lessons of a version that are ours, newest first; expired and invalidated ones too."""
    rows = (
        select(LessonRow.id)
        .where(*live_in(LessonRow, version))
        .order_by(col(LessonRow.last_seen).desc(), col(LessonRow.id).desc())
    )
    return tuple(lesson_of(row) for row in author.rows(session, rows).values() if row)


def foreign_rows(session: Session, version: MemoryVersion, author: Authorship) -> dict[int, LessonId]:
    """Lessons of a version that are not ours as they stand."""
    live = session.connection().execute(
        select(LessonRow.id, LessonRow.lesson).where(*live_in(LessonRow, version)).order_by(col(LessonRow.id))
    )
    called = {row: LessonId(str(lesson)) for row, lesson in live if row is not None}
    ours = author.ours(session, list(called))
    return {row: lesson for row, lesson in called.items() if row not in ours}


def lesson_at(session: Session, version: MemoryVersion, lesson: LessonId, author: Authorship) -> Lesson | None:
    """A lesson as it was in a version."""
    rows = select(LessonRow.id).where(*live_in(LessonRow, version), col(LessonRow.lesson) == lesson)
    return next((lesson_of(row) for row in author.rows(session, rows).values() if row), None)


def live_lesson(session: Session, scope: Scope, lesson: LessonId, author: Authorship) -> Lesson | None:
    """A lesson as it is now."""
    rows = select(LessonRow.id).where(*live(scope), col(LessonRow.lesson) == lesson)
    return next((lesson_of(row) for row in author.rows(session, rows).values() if row), None)


def live(scope: Scope) -> tuple[ColumnElement[bool], ...]:
    """The newest states of a repository's lessons."""
    return *of(LessonRow, scope), col(LessonRow.live_until).is_(None)


def lesson_of(row: LessonRow) -> Lesson:
    """The value of a row."""
    return Lesson(
        id=LessonId(row.lesson),
        scope=Scope(installation=row.installation, repository=RepositoryId(row.repository)),
        ending=ending_of(EndingKind(row.kind), row.body),
        status=LessonStatus(row.status),
        run=RunId(row.run),
        ticket=TicketId(row.ticket),
        commit=CommitId(row.commit_id),
        signatures=signatures_of(row.signatures),
        environment=row.environment,
        paths=paths_of(row.paths),
        maintainer=row.maintainer,
        supersedes=None if row.supersedes is None else LessonId(row.supersedes),
        count=row.count,
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        expires=row.expires,
    )


def _cut(key: str) -> str:
    """`es1:f:9f2c41d07be2`: algorithm, level and twelve digits."""
    name, _, digits = key.rpartition(":")
    return f"{name}:{digits[:_KEY_SHOWN]}"
