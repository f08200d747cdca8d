"""What a group of deliveries adds to the tables: worked out against what is there, and written in two statements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Select, Table, bindparam, func, insert, select, tuple_, update
from sqlmodel import SQLModel

from bot.forge.types import RepositoryRef
from bot.job import (
    INSTALLATION_WIDE,
    Added,
    Arrival,
    Decision,
    JobData,
    JobKind,
    JobState,
    NewJob,
    Start,
    StartCause,
    Unlabelled,
)
from bot.job_tables import DeliveryRow, GithubRepositoryRow, JobRow
from stages.origin import remote_id


def _table(row: type[SQLModel]) -> Table:
    return row.metadata.tables[str(row.__tablename__)]


JOINS_FOR: Final = timedelta(minutes=10)
"""So long after a run is over, a label on its issue is taken for another delivery of the event that began it."""

# Tables, not rows: this is the one place that must be fast, and a row costs ten times as much.
_DELIVERY: Final = _table(DeliveryRow)
_JOB: Final = _table(JobRow)
_NAME: Final = _table(GithubRepositoryRow)
_BY_LABEL: Final = "label:"
_OVER: Final = (JobState.DONE.value, JobState.DEAD.value)

Entry: TypeAlias = tuple[Arrival | None, Decision, dict[str, Any] | None]
"""A delivery (None for a wish of our own), what was decided, and the columns of its job."""


# Statements that stay the same for any number of values, which come as one list of JSON: made once, compiled once.
_GIVEN: Final = func.json_each(bindparam("given")).table_valued("value")
_PAIRS: Final = select(func.json_extract(_GIVEN.c.value, "$[0]"), func.json_extract(_GIVEN.c.value, "$[1]"))
_KNOWN_DELIVERIES: Final = select(_DELIVERY.c.id).where(_DELIVERY.c.id.in_(select(_GIVEN.c.value)))
_KNOWN_SUBJECTS: Final = select(_JOB.c.subject).where(_JOB.c.subject.in_(select(_GIVEN.c.value)))
_KNOWN_NAMES: Final = select(_NAME.c.installation, _NAME.c.id, _NAME.c.full_name).where(
    tuple_(_NAME.c.installation, _NAME.c.id).in_(_PAIRS)
)
_INTO: Final = {table: insert(table) for table in (_DELIVERY, _JOB, _NAME)}


class _Wish(NamedTuple):
    """The last time that the label of an issue changed."""

    kind: str
    over: bool
    changed: datetime
    number: int


class Keeping:
    """One group in one transaction."""

    def __init__(self, connection: Connection, web: str, now: datetime) -> None:
        self._connection, self._web, self._now = connection, web, now
        self._deliveries, self._subjects = set[str](), set[str]()
        self._names: dict[tuple[int, int], str] = {}
        self._wishes: dict[tuple[int, int], _Wish | None] = {}

    def keep(self, entries: Sequence[Entry]) -> tuple[Added, ...]:
        """What became of each, in this order; nothing is written twice."""
        jobs = [decision.job for _, decision, _ in entries if decision.job]
        self._look([arrival.id for arrival, _, _ in entries if arrival], jobs)
        deliveries, rows, added = [], [], []
        for arrival, decision, values in entries:
            if arrival is not None:
                if arrival.id in self._deliveries:
                    added.append(Added.REPEATED)
                    continue
                self._deliveries.add(arrival.id)
                deliveries.append(_delivery(arrival, decision))
            if decision.renamed:
                self._rename(decision.renamed)
            subject = self._subject(decision.job) if decision.job else None
            if decision.job and values and subject:
                self._name(decision.job.ref)
                rows.append({**values, "subject": subject, "delivery": arrival.id if arrival else ""})
            added.append(Added.JOINED if decision.job and not subject else Added.STORED)
        self._write(_DELIVERY, deliveries)
        self._write(_JOB, rows)
        return tuple(added)

    def _look(self, deliveries: list[str], jobs: list[NewJob]) -> None:
        """What of this group is there already."""
        self._deliveries |= {delivery for (delivery,) in self._find(_KNOWN_DELIVERIES, deliveries)}
        subjects = [job.subject for job in jobs if not _is_by_label(job.data)]
        self._subjects |= {subject for (subject,) in self._find(_KNOWN_SUBJECTS, subjects)}
        named = self._find(_KNOWN_NAMES, {(job.ref.installation, job.ref.id) for job in jobs})
        self._names |= {(installation, number): name for installation, number, name in named}

    def _find(self, statement: Select[Any], given: Iterable[Any]) -> Iterable[Any]:
        among = list(given)
        return self._connection.execute(statement, {"given": json.dumps(among)}) if among else ()

    def _subject(self, job: NewJob) -> str | None:
        """The subject under which the job is kept; None when it joins one that is there."""
        if _is_by_label(job.data):
            return self._by_label(job)
        if job.subject in self._subjects:
            return None
        self._subjects.add(job.subject)
        return job.subject

    def _by_label(self, job: NewJob) -> str | None:
        """Label on, label off: each change of an issue is one job with a number, however often it is told."""
        issue = job.ref.id, job.number
        if issue not in self._wishes:
            self._wishes[issue] = self._last_wish(*issue)
        last = self._wishes[issue]
        if last is not None:
            anew = job.kind is JobKind.START and last.over and self._now - last.changed > JOINS_FOR
            if last.kind == job.kind.value and not anew:
                return None
        number = last.number + 1 if last else 1
        self._wishes[issue] = _Wish(job.kind.value, over=False, changed=self._now, number=number)
        return f"{_BY_LABEL}{job.ref.id}#{job.number}:{number}"

    def _last_wish(self, repository: int, number: int) -> _Wish | None:
        found = self._connection.execute(
            select(_JOB.c.kind, _JOB.c.state, _JOB.c.changed, _JOB.c.subject)
            .where(_JOB.c.repository == repository, _JOB.c.number == number, _JOB.c.subject.startswith(_BY_LABEL))
            .order_by(_JOB.c.id.desc())
            .limit(1)
        ).first()
        if found is None:
            return None
        kind, state, changed, subject = found
        return _Wish(kind, state in _OVER, changed, int(subject.rpartition(":")[2]))

    def _name(self, ref: RepositoryRef) -> None:
        """Keep whose memory a repository has, and its newest name."""
        if ref.id == INSTALLATION_WIDE or self._names.get((ref.installation, ref.id)) == ref.full_name:
            return
        if (ref.installation, ref.id) in self._names:
            self._rename(ref)
        else:
            repository = remote_id(f"{self._web}/{ref.full_name}.git")
            row = {"installation": ref.installation, "id": ref.id, "repository": repository, "full_name": ref.full_name}
            self._write(_NAME, [row])
        self._names[ref.installation, ref.id] = ref.full_name

    def _rename(self, ref: RepositoryRef) -> None:
        """Of a repository that is known; of another one nothing."""
        self._connection.execute(
            update(_NAME)
            .where(_NAME.c.installation == ref.installation, _NAME.c.id == ref.id)
            .values(full_name=ref.full_name)
        )

    def _write(self, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(_INTO[table], rows)


def _is_by_label(data: JobData) -> bool:
    match data:
        case Unlabelled():
            return True
        case Start():
            return data.cause is not StartCause.REOPENED
        case _:
            return False


def _delivery(arrival: Arrival, decision: Decision) -> dict[str, Any]:
    return {
        "id": arrival.id,
        "event": arrival.event,
        "action": arrival.action,
        "installation": arrival.installation,
        "repository": arrival.repository,
        "sender": arrival.sender,
        "digest": arrival.digest,
        "reason": decision.reason,
        "received": arrival.received,
    }
