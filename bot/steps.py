"""The steps of a run and what each gave: a run that was interrupted goes on after the last one that is finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from pydantic import TypeAdapter
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from bot.book import Book
from bot.errors import NoSuchRun
from bot.run import Run, StepRecord
from bot.tables import RunRow, StepRow
from memory.types import RunId
from stages.agents.limits import Spent
from stages.prompt import EntryPoint

T = TypeVar("T")
_Key: TypeAlias = tuple[str, int, str, int]

SENT_BACK: Final = "sent-back"
"""The step that says of an attempt that a person sent its published patch back."""
SAID: Final = frozenset({SENT_BACK})
KNOWN: Final = SAID | {"baseline", "memory", "reproduce", "gate", "publish", *EntryPoint}
"""All steps of this version. A run with another one was worked on by a later version."""


@dataclass(frozen=True, kw_only=True)
class Done(Generic[T]):
    """What a finished step gave."""

    value: T


class StepStore:
    """All SQL of steps. A step is named within its run's present generation; results are JSON by a type adapter."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def once(
        self,
        run: RunId,
        name: str,
        adapter: TypeAdapter[T],
        work: Callable[[], T],
        *,
        attempt: int = 1,
        spent: Callable[[], Spent] | None = None,
    ) -> T:
        """What the step gave, from the tables when it was finished before, else from `work`, which is recorded.

        What the run has `spent` by then is written with it. `work` must be harmless when it is done again: the process
        may die after it and before the record.
        """
        if done := self.start(run, name, attempt=attempt, unless=adapter):
            return done.value
        value = work()
        self.finish(run, name, adapter, value, attempt=attempt, spent=spent() if spent else None)
        return value

    def recorded(self, run: RunId, name: str, adapter: TypeAdapter[T], *, attempt: int = 1) -> Done[T] | None:
        """The result of a finished step. None when it was not finished, or when scrubbing changed what it gave."""
        with self._book.reading() as session:
            return _done(session.get(StepRow, _key(session, run, name, attempt)), adapter)

    def start(self, run: RunId, name: str, *, attempt: int = 1, unless: TypeAdapter[T] | None = None) -> Done[T] | None:
        """Write down that the step begins, or begins again: then what came after it counts as not done any more.

        What a person said (`SAID`) stays. With `unless`, so does a step that is finished: then this is what it gave.
        """
        with self._book.writing() as session:
            key = _key(session, run, name, attempt)
            before = session.get(StepRow, key)
            if unless and (done := _done(before, unless)):
                return done
            if before:
                for later in session.exec(_after(before)):
                    later.result, later.finished = None, None
            self._begun(session, key, before)
            return None

    def finish(
        self,
        run: RunId,
        name: str,
        adapter: TypeAdapter[T],
        value: T,
        *,
        attempt: int = 1,
        spent: Spent | None = None,
    ) -> None:
        """Write down what the step gave, and what the run has spent. Finishing it again keeps the newer result."""
        result, intact = self._book.clean_json(adapter.dump_python(value, mode="json"))
        with self._book.writing() as session:
            if spent:
                session.get_one(RunRow, run).sqlmodel_update({**asdict(spent), "updated": self._book.now()})
            key = _key(session, run, name, attempt)
            row = session.get(StepRow, key) or self._begun(session, key, None)
            row.result, row.intact, row.finished = result, intact, self._book.now()

    def of(self, run: RunId) -> tuple[StepRecord, ...]:
        """All steps of a run, in the order in which they began."""
        query = select(StepRow).where(StepRow.run == run).order_by(col(StepRow.started), col(StepRow.generation))
        with self._book.reading() as session:
            return tuple(
                StepRecord(
                    name=row.name,
                    attempt=row.attempt,
                    generation=row.generation,
                    started=row.started,
                    finished=row.finished,
                )
                for row in session.exec(query).all()
            )

    def unknown(self, run: Run) -> tuple[str, ...]:
        """Steps of the run's present generation that this version does not know."""
        names = (step.name for step in self.of(run.id) if step.generation == run.generation)
        return tuple(sorted({name for name in names if name not in KNOWN}))

    def _begun(self, session: Session, key: _Key, row: StepRow | None) -> StepRow:
        now = self._book.now()
        if row is None:
            run, generation, name, attempt = key
            row = StepRow(run=run, generation=generation, name=name, attempt=attempt, started=now)
            session.add(row)
        row.started, row.finished, row.result = now, None, None
        return row


def _done(row: StepRow | None, adapter: TypeAdapter[T]) -> Done[T] | None:
    if row is None or row.result is None or not row.intact:
        return None
    return Done(value=adapter.validate_json(row.result))


def _after(row: StepRow) -> SelectOfScalar[StepRow]:
    """The steps of the same run and generation that began after this one."""
    return select(StepRow).where(
        StepRow.run == row.run,
        StepRow.generation == row.generation,
        StepRow.started > row.started,
        col(StepRow.name).not_in(SAID),
    )


def _key(session: Session, run: RunId, name: str, attempt: int) -> _Key:
    generation = session.exec(select(RunRow.generation).where(RunRow.id == run)).first()
    if generation is None:
        raise NoSuchRun(given=run, hint="")
    return run, generation, name, attempt
