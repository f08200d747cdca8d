"""The store of deliveries and jobs: what arrived, and what is to be done, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, cast

from pydantic import TypeAdapter
from sqlalchemy import CursorResult, delete, func
from sqlmodel import Session, col, select

from bot.book import Book
from bot.errors import NoSuchJob
from bot.forge.addresses import PUBLIC_WEB
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.job import DATA, Added, Arrival, Decision, Job, JobData, JobKind, JobState, NewJob
from bot.job_tables import DeliveryRow, GithubRepositoryRow, JobRow
from bot.keeping import Keeping
from memory.types import RepositoryId
from stages.origin import remote_id

WAITING_AT_MOST: Final = 1_000

_ADAPTERS: Final[Mapping[str, TypeAdapter[Any]]] = {kind.__name__: TypeAdapter(kind) for kind in DATA}
_SHORT: Final = 64  # characters
_KNOWN_AT_MOST: Final = 1_000


class Jobs:
    """All SQL of deliveries and jobs. `web` is where GitHub's repositories have their addresses."""

    def __init__(self, book: Book, *, web: str = PUBLIC_WEB) -> None:
        self._book, self._web = book, web
        self._clean_short = lru_cache(_KNOWN_AT_MOST)(book.clean)  # most are the same few words

    # --- What arrives ----------------------------------------------------------------------------------------------

    def add(self, arrival: Arrival, decision: Decision) -> Added:
        """Keep a delivery and its job, both or neither. Raises the errors of `memory.database`."""
        return self.add_all([(arrival, decision)])[0]

    def add_all(self, arrived: Sequence[tuple[Arrival, Decision]]) -> tuple[Added, ...]:
        """Keep them in one transaction, in this order: one wait for the disk for all. Raises as `add`."""
        jobs = [self._values(decision.job) if decision.job else None for _, decision in arrived]  # before the lock
        with self._book.writing() as session:
            keeping = Keeping(session.connection(), self._web, self._book.now())
            return keeping.keep([(*both, values) for both, values in zip(arrived, jobs, strict=True)])

    def wish(self, job: NewJob) -> Added:
        """A job that no delivery asked for. Raises as `add`."""
        values = self._values(job)
        with self._book.writing() as session:
            keeping = Keeping(session.connection(), self._web, self._book.now())
            return keeping.keep([(None, Decision(reason="", job=job), values)])[0]

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
            "data": json.dumps({type(job.data).__name__: self._cleaned(data)}, ensure_ascii=False),
            "state": JobState.WAITING.value,
            "outcome": "",
            "changed": self._book.now(),
        }

    def _cleaned(self, value: Any) -> Any:
        """The value with each text in it cleaned. Keys are names of ours."""
        match value:
            case str():
                return self._clean_short(value) if len(value) <= _SHORT else self._book.clean(value)
            case list() | tuple():
                return [self._cleaned(one) for one in value]
            case dict():
                return {key: self._cleaned(one) for key, one in value.items()}
            case _:
                return value

    # --- What is to be done ----------------------------------------------------------------------------------------

    def waiting(self, at_most: int = WAITING_AT_MOST) -> tuple[Job, ...]:
        """Jobs that nobody has taken, the oldest first."""
        query = select(JobRow).where(JobRow.state == JobState.WAITING.value).order_by(col(JobRow.id)).limit(at_most)
        with self._book.reading() as session:
            return tuple(_job(row) for row in session.exec(query).all())

    def waiting_numbers(self, at_most: int = WAITING_AT_MOST) -> tuple[int, ...]:
        """Their numbers alone: one whose row cannot be read keeps no other one back."""
        query = select(JobRow.id).where(JobRow.state == JobState.WAITING.value).order_by(col(JobRow.id)).limit(at_most)
        with self._book.reading() as session:
            return tuple(number for number in session.exec(query).all() if number is not None)

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
