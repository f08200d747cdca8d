"""Writes an ending, its lesson and the version that shows it: three parts of one transaction."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Final, assert_never

from sqlmodel import Session, col, select

from memory.authorship import Authorship
from memory.columns import ending_json, ending_of, paths_json, paths_of, signatures_json, signatures_of
from memory.errors import MemoryFault
from memory.lesson_table import lesson_at
from memory.lessons import lesson
from memory.slots import EndingRefused, hashed, kind_of
from memory.tables import EndingRow
from memory.teaching import known_as, teach
from memory.types import (
    CommitId,
    Drop,
    EndingId,
    EndingKind,
    Evidence,
    Hold,
    Lesson,
    LessonId,
    MemoryVersion,
    NotOurs,
    PassAfterHold,
    Refix,
    RepositoryId,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Verify,
)
from memory.versions import current, numbered, of, publish

_FINAL: Final = "final"


class SecondFinalEnding(MemoryFault):
    """The run {run} has ended already ({first}): its end is written once."""


class RunHasEnded(MemoryFault):
    """The run {run} has ended already ({first}): no {kind} of it can be written any more."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What was written for an ending: its id, what it taught, and the version that shows it."""

    ending: EndingId
    lesson: Lesson | None
    version: MemoryVersion


@dataclass(frozen=True, kw_only=True)
class RecordedEnding:
    """An ending as it was written. `lesson` is what it taught; of a final hold, what the hold before taught."""

    id: EndingId
    ending: RunEnding
    lesson: LessonId | None
    version: int


def record(session: Session, ending: RunEnding, author: Authorship) -> Recorded:
    """Write `ending`, whose slots are clean, and what it teaches; give what was written when it was written before.

    An attempt that was made anew and came to something else is another ending. Raises SecondFinalEnding; RunHasEnded
    for an attempt after the final ending; EndingRefused when it refers to an ending that is not a hold of the same run.
    """
    if written := _written(session, ending, author):
        return written
    taught = lesson(ending)
    if taught is None:
        return _refer(session, ending)
    taught = known_as(session, taught, author)
    newest = current(session, ending.scope)
    version = replace(newest, number=newest.number + 1)
    publish(session, version, ending.at)
    row = _add_ending(session, ending, taught.id, version)
    taught = teach(session, ending, taught, EndingId(row.id), version, author)
    return Recorded(ending=EndingId(row.id), lesson=taught, version=version)


def endings(session: Session, scope: Scope, run: RunId) -> tuple[RecordedEnding, ...]:
    """What a run's attempts and the run itself came to, in the order in which they were written."""
    rows = select(EndingRow).where(*of(EndingRow, scope), col(EndingRow.run) == run).order_by(col(EndingRow.number))
    return tuple(_recorded(row) for row in session.exec(rows))


def all_endings(session: Session, scope: Scope) -> tuple[RecordedEnding, ...]:
    """Every ending of a repository, in the order in which they were written."""
    rows = select(EndingRow).where(*of(EndingRow, scope)).order_by(col(EndingRow.number))
    return tuple(_recorded(row) for row in session.exec(rows))


def _written(session: Session, ending: RunEnding, author: Authorship) -> Recorded | None:
    """What an earlier try wrote for this very ending."""
    mine = select(EndingRow).where(*of(EndingRow, ending.scope), col(EndingRow.run) == ending.run)
    slot, kind = _slot(ending), kind_of(ending.ending)
    final = session.exec(mine.where(col(EndingRow.final).is_(True))).first()
    if ending.final:
        row = final
        if row and ending_of(EndingKind(row.kind), row.body) != ending.ending:
            raise SecondFinalEnding(run=ending.run, first=row.kind)
    else:
        row = session.exec(mine.where(col(EndingRow.slot) == slot, col(EndingRow.kind) == kind)).first()
        if row is None and final and not isinstance(ending.ending, Verify):
            raise RunHasEnded(run=ending.run, first=final.kind, kind=kind)
    if row is None:
        return None
    version = numbered(session, ending.scope, row.version)
    known = LessonId(row.lesson) if row.lesson and not row.refers_to else None
    taught = lesson_at(session, version, known, author) if known else None
    return Recorded(ending=EndingId(row.id), lesson=taught, version=version)


def _refer(session: Session, ending: RunEnding) -> Recorded:
    """A final hold: it names the hold before, teaches nothing and publishes nothing."""
    of_run = select(EndingRow).where(*of(EndingRow, ending.scope), col(EndingRow.run) == ending.run)
    held = session.exec(of_run.where(col(EndingRow.id) == ending.refers_to)).first()
    if held is None or held.kind != EndingKind.HOLD:
        raise EndingRefused(reason="a final hold refers to a hold of the same run")
    version = current(session, ending.scope)
    row = _add_ending(session, ending, None if held.lesson is None else LessonId(held.lesson), version)
    return Recorded(ending=EndingId(row.id), lesson=None, version=version)


def _add_ending(session: Session, ending: RunEnding, taught: LessonId | None, version: MemoryVersion) -> EndingRow:
    slot, kind = _slot(ending), kind_of(ending.ending)
    name = json.dumps([ending.scope.installation, ending.scope.repository, ending.run, slot, kind])
    row = EndingRow(
        id=hashlib.sha256(name.encode()).hexdigest()[:16],
        installation=ending.scope.installation,
        repository=ending.scope.repository,
        run=ending.run,
        ticket=ending.ticket,
        author=ending.author,
        kind=kind,
        slot=slot,
        final=ending.final,
        body=ending_json(kind, ending.ending),
        commit_id=ending.commit,
        at=ending.at,
        evidence=ending.evidence,
        environment=ending.environment,
        signatures=signatures_json(ending.signatures),
        paths=paths_json(ending.paths),
        refers_to=ending.refers_to,
        lesson=taught,
        version=version.number,
    )
    session.add(row)
    session.flush()
    return row


def _slot(ending: RunEnding) -> str:
    """What tells the endings of one kind in one run apart: where they stand in it, and what they hold."""
    body = hashed(ending_json(kind_of(ending.ending), ending.ending))
    match ending.ending:
        case Drop() | NotOurs():
            return _FINAL
        case Hold() | Verify() if ending.final:
            return _FINAL
        case Hold(where=where, attempt=attempt):
            return f"attempt {attempt} {where} {body}"
        case Refix(attempt=attempt) | PassAfterHold(attempt=attempt):
            return f"attempt {attempt} {body}"
        case Verify(outcome=outcome):
            return f"afterwards {outcome} {body}"
        case _:
            assert_never(ending.ending)


def _recorded(row: EndingRow) -> RecordedEnding:
    return RecordedEnding(
        id=EndingId(row.id),
        ending=_ending_of(row),
        lesson=None if row.lesson is None else LessonId(row.lesson),
        version=row.version,
    )


def _ending_of(row: EndingRow) -> RunEnding:
    return RunEnding(
        scope=Scope(installation=row.installation, repository=RepositoryId(row.repository)),
        run=RunId(row.run),
        ticket=TicketId(row.ticket),
        author=row.author,
        ending=ending_of(EndingKind(row.kind), row.body),
        final=row.final,
        commit=CommitId(row.commit_id),
        at=row.at,
        evidence=Evidence(row.evidence),
        environment=row.environment,
        signatures=signatures_of(row.signatures),
        paths=paths_of(row.paths),
        refers_to=None if row.refers_to is None else EndingId(row.refers_to),
    )
