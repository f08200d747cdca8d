"""The store of deliveries and jobs: what arrived, and what is to be done, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, cast

from pydantic import TypeAdapter
from sqlalchemy import CursorResult, delete, func, insert, update
from sqlmodel import Session, col, select

from bot.book import Book
from bot.errors import NoSuchJob
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.job import (
    DATA,
    INSTALLATION_WIDE,
    Added,
    Arrival,
    Decision,
    Job,
    JobData,
    JobKind,
    JobState,
    NewJob,
    Start,
    StartCause,
    Unlabelled,
)
from bot.job_tables import DeliveryRow, GithubRepositoryRow, JobRow
from memory.types import RepositoryId
from stages.origin import remote_id

WEB: Final = "https://github.com"
JOINS_FOR: Final = timedelta(minutes=10)
"""So long after a run is over, a label on its issue is taken for another delivery of the event that began it."""
WAITING_AT_MOST: Final = 1_000

_ADAPTERS: Final[Mapping[str, TypeAdapter[Any]]] = {kind.__name__: TypeAdapter(kind) for kind in DATA}
_BY_LABEL: Final = "label:"
_IN_AT_MOST: Final = 500  # parameters of one IN


class Jobs:
    """All SQL of deliveries and jobs. `web` is where GitHub's repositories have their addresses."""

    def __init__(self, book: Book, *, web: str = WEB) -> None:
        self._book, self._web = book, web

    # --- What arrives ----------------------------------------------------------------------------------------------

    def add(self, arrival: Arrival, decision: Decision) -> Added:
        """Keep a delivery and its job, both or neither. Raises the errors of `memory.database`."""
        return self.add_all([(arrival, decision)])[0]

    def add_all(self, arrived: Sequence[tuple[Arrival, Decision]]) -> tuple[Added, ...]:
        """Keep them in one transaction, in this order: one wait for the disk for all. Raises as `add`."""
        jobs = [self._values(decision.job) if decision.job else None for _, decision in arrived]  # before the lock
        with self._book.writing() as session:
            known = _known(session, [arrival.id for arrival, _ in arrived])
            fresh, added = [], []
            for (arrival, decision), values in zip(arrived, jobs, strict=True):
                if arrival.id in known:
                    added.append(Added.REPEATED)
                    continue
                known.add(arrival.id)
                fresh.append(_delivery(arrival, decision))
                added.append(self._keep(session, arrival.id, decision, values))
            if fresh:
                session.execute(insert(DeliveryRow), fresh)
        return tuple(added)

    def wish(self, job: NewJob) -> Added:
        """A job that no delivery asked for. Raises as `add`."""
        with self._book.writing() as session:
            return self._keep(session, "", Decision(reason="", job=job), self._values(job))

    def _keep(self, session: Session, delivery: str, decision: Decision, values: dict[str, Any] | None) -> Added:
        if decision.renamed:
            _rename(session, decision.renamed)
        job = decision.job
        if job is None or values is None:
            return Added.STORED
        subject = self._subject(session, job)
        if subject is None or _has(session, subject):
            return Added.JOINED
        if job.ref.id != INSTALLATION_WIDE:
            self._name(session, job.ref)
        session.execute(insert(JobRow), [{**values, "subject": subject, "delivery": delivery}])
        return Added.STORED

    def _subject(self, session: Session, job: NewJob) -> str | None:
        """The subject under which the job is kept; None when it joins one that is there.

        Label on, label off: such wishes count per issue, so that each change is one job, however often it is told.
        """
        if not _is_by_label(job.data):
            return job.subject
        last = session.execute(
            select(JobRow.kind, JobRow.state, JobRow.changed, JobRow.subject)
            .where(JobRow.repository == job.ref.id, JobRow.number == job.number)
            .where(col(JobRow.subject).startswith(_BY_LABEL))
            .order_by(col(JobRow.id).desc())
            .limit(1)
        ).first()
        if last is None:
            return f"{_BY_LABEL}{job.ref.id}#{job.number}:1"
        over = last.state in (JobState.DONE.value, JobState.DEAD.value)
        anew = job.kind is JobKind.START and over and self._book.now() - last.changed > JOINS_FOR
        if last.kind == job.kind.value and not anew:
            return None
        return f"{_BY_LABEL}{job.ref.id}#{job.number}:{int(last.subject.rpartition(':')[2]) + 1}"

    def _values(self, job: NewJob) -> dict[str, Any]:
        data = _ADAPTERS[type(job.data).__name__].dump_python(job.data, mode="json")
        return {
            "kind": job.kind.value,
            "installation": job.ref.installation,
            "repository": job.ref.id,
            "full_name": job.ref.full_name,
            "number": job.number,
            "actor_id": job.actor.id if job.actor else None,
            "actor_login": job.actor.login if job.actor else "",
            "actor_kind": job.actor.kind.value if job.actor else "",
            "at": job.at,
            "data": self._book.clean_json({type(job.data).__name__: data})[0],
            "state": JobState.WAITING.value,
            "outcome": "",
            "changed": self._book.now(),
        }

    def _name(self, session: Session, ref: RepositoryRef) -> None:
        if not _rename(session, ref):
            repository = remote_id(f"{self._web}/{ref.full_name}.git")
            row = {"installation": ref.installation, "id": ref.id, "repository": repository, "full_name": ref.full_name}
            session.execute(insert(GithubRepositoryRow), [row])

    # --- What is to be done ----------------------------------------------------------------------------------------

    def waiting(self, at_most: int = WAITING_AT_MOST) -> tuple[Job, ...]:
        """Jobs that nobody has taken, the oldest first."""
        query = select(JobRow).where(JobRow.state == JobState.WAITING.value).order_by(col(JobRow.id)).limit(at_most)
        with self._book.reading() as session:
            return tuple(_job(row) for row in session.exec(query).all())

    def get(self, job: int) -> Job:
        """Raises NoSuchJob."""
        with self._book.reading() as session:
            return _job(_row(session, job))

    def of_issue(self, repository: int, number: int) -> tuple[Job, ...]:
        """All jobs of an issue, the oldest first."""
        query = select(JobRow).where(JobRow.repository == repository, JobRow.number == number).order_by(col(JobRow.id))
        with self._book.reading() as session:
            return tuple(_job(row) for row in session.exec(query).all())

    def taken(self, job: int) -> None:
        """The engine has it; of one that is over, nothing changes. Raises NoSuchJob."""
        self._move(job, JobState.TAKEN)

    def done(self, job: int, outcome: str) -> None:
        """It is over, with this outcome. Raises NoSuchJob."""
        self._move(job, JobState.DONE, outcome)

    def dead(self, job: int, why: str) -> None:
        """It was given up. Raises NoSuchJob."""
        self._move(job, JobState.DEAD, why)

    def _move(self, job: int, state: JobState, outcome: str = "") -> None:
        with self._book.writing() as session:
            row = _row(session, job)
            if state is JobState.TAKEN and row.state != JobState.WAITING.value:
                return
            row.state, row.outcome, row.changed = state.value, self._book.clean(outcome), self._book.now()

    # --- Repositories and deliveries -------------------------------------------------------------------------------

    def repository(self, ref: RepositoryRef) -> RepositoryId:
        """Whose memory a repository has: the address under which it was seen first, whatever its name is now."""
        with self._book.reading() as session:
            row = session.get(GithubRepositoryRow, (ref.installation, ref.id))
            return RepositoryId(row.repository) if row else remote_id(f"{self._web}/{ref.full_name}.git")

    def named(self, ref: RepositoryRef) -> RepositoryRef:
        """The same repository with the newest name that we heard."""
        with self._book.reading() as session:
            row = session.get(GithubRepositoryRow, (ref.installation, ref.id))
            return RepositoryRef(
                installation=ref.installation, id=ref.id, full_name=row.full_name if row else ref.full_name
            )

    def has_delivery(self, delivery: str) -> bool:
        with self._book.reading() as session:
            return session.get(DeliveryRow, delivery) is not None

    def deliveries(self) -> int:
        """How many are kept."""
        with self._book.reading() as session:
            return session.exec(select(func.count()).select_from(DeliveryRow)).one()

    def forget_deliveries(self, before: datetime) -> int:
        """Drop those that arrived earlier; gives how many. Their jobs stay."""
        with self._book.writing() as session:
            dropped = session.execute(delete(DeliveryRow).where(col(DeliveryRow.received) < before))
            return cast("CursorResult[Any]", dropped).rowcount


def _is_by_label(data: JobData) -> bool:
    match data:
        case Unlabelled():
            return True
        case Start():
            return data.cause is not StartCause.REOPENED
        case _:
            return False


def _known(session: Session, ids: Sequence[str]) -> set[str]:
    known = set[str]()
    for at in range(0, len(ids), _IN_AT_MOST):
        some = select(DeliveryRow.id).where(col(DeliveryRow.id).in_(ids[at : at + _IN_AT_MOST]))
        known.update(session.exec(some).all())
    return known


def _has(session: Session, subject: str) -> bool:
    return session.execute(select(JobRow.id).where(JobRow.subject == subject)).first() is not None


def _rename(session: Session, ref: RepositoryRef) -> bool:
    """Keep the newest name of a repository that is known; whether it is."""
    row = session.get(GithubRepositoryRow, (ref.installation, ref.id))
    if row is None:
        return False
    if row.full_name != ref.full_name:
        session.execute(
            update(GithubRepositoryRow)
            .where(col(GithubRepositoryRow.installation) == ref.installation, col(GithubRepositoryRow.id) == ref.id)
            .values(full_name=ref.full_name)
        )
    return True


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


def _row(session: Session, job: int) -> JobRow:
    if row := session.get(JobRow, job):
        return row
    raise NoSuchJob(job=job)


def _job(row: JobRow) -> Job:
    actor = None
    if row.actor_id is not None:
        actor = Account(id=row.actor_id, login=row.actor_login, kind=AccountKind(row.actor_kind))
    return Job(
        id=row.id or 0,
        kind=JobKind(row.kind),
        ref=RepositoryRef(installation=row.installation, id=row.repository, full_name=row.full_name),
        number=row.number,
        subject=row.subject,
        delivery=row.delivery,
        actor=actor,
        at=row.at,
        data=_data(row.data),
        state=JobState(row.state),
        outcome=row.outcome,
    )


def _data(column: str) -> JobData:
    value: dict[str, Any] = TypeAdapter(dict[str, Any]).validate_json(column)
    ((name, data),) = value.items()
    return cast("JobData", _ADAPTERS[name].validate_python(data))
