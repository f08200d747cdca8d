"""How often jobs were taken, when they are taken again, and which chores are due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import col, select

from bot.book import Book
from bot.engine.tables import ChoreRow, TakenJobRow


@dataclass(frozen=True, kw_only=True)
class Round:
    """A job that goes into the queue: `number` counts how often it did, `wake` is the time that had come for it."""

    job: int
    number: int
    wake: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Takes:
    """How often a job was taken without coming one step further, and for how long that has gone on."""

    count: int
    lasting: timedelta


class TakenJobs:
    """All SQL of taken jobs and chores."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def next_round(self, job: int) -> Round:
        """Count that the job goes into the queue. It waits still: the queue is in another database."""
        with self._book.writing() as session:
            row = session.get(TakenJobRow, job) or TakenJobRow(job=job)
            session.add(row)
            row.round += 1
            return Round(job=job, number=row.round, wake=row.wake)

    def queued(self, taken: Round) -> None:
        """The job is in the queue, and no longer waits; unless it was worked on meanwhile, and waits anew."""
        with self._book.writing() as session:
            row = session.get_one(TakenJobRow, taken.job)
            if row.wake == taken.wake:
                row.wake = None

    def take(self, job: int) -> Takes:
        """Count that a process takes the job; how often one did since it last came further."""
        now = self._book.now()
        with self._book.writing() as session:
            row = session.get(TakenJobRow, job) or TakenJobRow(job=job)
            session.add(row)
            if row.takes == 0 or row.since is None:
                row.takes, row.since = 0, now
            row.takes += 1
            return Takes(count=row.takes, lasting=now - row.since)

    def came_to(self, job: int, progress: int) -> Takes:
        """How far the job is, in finished steps: where that is further than before, this take is the first one."""
        now = self._book.now()
        with self._book.writing() as session:
            row = session.get_one(TakenJobRow, job)
            if progress > row.progress:
                row.takes, row.since, row.progress = 1, now, progress
            return Takes(count=row.takes, lasting=now - (row.since or now))

    def undo(self, job: int) -> None:
        """The last take was no try: nothing went wrong in it."""
        with self._book.writing() as session:
            if row := session.get(TakenJobRow, job):
                row.takes = max(0, row.takes - 1)

    def let_go(self, job: int, wake: datetime | None) -> None:
        """The process that took it is done with it, in good order; it is taken again at `wake`, or never."""
        with self._book.writing() as session:
            row = session.get(TakenJobRow, job) or TakenJobRow(job=job)
            session.add(row)
            row.takes, row.wake = 0, wake

    def failed(self, job: int, wake: datetime) -> None:
        """As `let_go`, but the take still counts."""
        with self._book.writing() as session:
            row = session.get(TakenJobRow, job) or TakenJobRow(job=job)
            session.add(row)
            row.wake = wake

    def due(self) -> tuple[int, ...]:
        """Jobs whose time has come."""
        now = self._book.now()
        query = select(TakenJobRow.job).where(col(TakenJobRow.wake) <= now).order_by(col(TakenJobRow.job))
        with self._book.reading() as session:
            return tuple(session.exec(query).all())

    def claim(self, chore: str, every: timedelta) -> bool:
        """True for the one worker that is to do this chore now."""
        now = self._book.now()
        with self._book.writing() as session:
            row = session.get(ChoreRow, chore)
            if row is None:
                session.add(ChoreRow(name=chore, done=now))
                return True
            # A clock that was set back must not keep chores from being done.
            if timedelta() <= now - row.done < every:
                return False
            row.done = now
            return True
