"""A worker over real tables and a real queue, whose jobs do what the test says."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlmodel import col, select

from bot.book import Book, utc_now
from bot.engine.durable import Durable, Pace, engine_url
from bot.engine.leases import Leases, Process
from bot.engine.outcome import Outcome, Settled, Taking, ToWork
from bot.engine.taken import TakenJobs
from bot.engine.worker import Chore, Desk, Rhythm, Worker
from bot.errors import Interrupted
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.job import Job, JobKind, NewJob, Start, StartCause
from bot.job_tables import JobRow
from bot.jobs import Jobs
from bot.log import open_log
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import RunId
from tests.bot.empty_database import lay_empty_database

FAST: Final = Rhythm(beat_seconds=0.1, look_seconds=0.05, leave_seconds=3.0, again=timedelta(), patience=timedelta())
PACE: Final = Pace(poll_seconds=0.05)
MIRA: Final = Account(id=7, login="mira", kind=AccountKind.USER)
SECONDS_AT_MOST: Final = 30.0


def open_book(home: Path) -> Book:
    return Book(open_database(lay_empty_database(home / "ticketsmith.sqlite")), Scrubber(()))


def wish(jobs: Jobs, number: int = 1, *, repository: int = 70, kind: JobKind = JobKind.START, more: str = "") -> None:
    """A job for an issue; `more` tells several of one issue apart."""
    ref = RepositoryRef(installation=3, id=repository, full_name=f"shop/till{repository}")
    cause = StartCause.REOPENED  # such wishes are known by their subject alone
    start = Start(title="It fails", body="", author=MIRA, labels=(), updated=None, cause=cause)
    subject = f"{kind}:{repository}#{number}{more}"
    jobs.wish(NewJob(kind=kind, ref=ref, number=number, subject=subject, actor=MIRA, at=utc_now(), data=start))


@dataclass
class Plan:
    """What becomes of jobs: `act` says it for each call of `receive` or `work`. Keeps what was called, and when."""

    act: Callable[[str, Job], Outcome] = lambda what, job: ToWork() if what == "receive" else Settled(outcome="done")
    called: list[tuple[str, int]] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    buried: list[int] = field(default_factory=list)
    spans: list[tuple[int, float, float]] = field(default_factory=list)
    steps: int = 0

    def receive(self, job: Job) -> Outcome:
        return self._called("receive", job)

    def work(self, job: Job) -> Outcome:
        return self._called("work", job)

    def _called(self, what: str, job: Job) -> Outcome:
        self.called.append((what, job.number))
        self.ids.append(job.id)
        began = time.monotonic()
        try:
            return self.act(what, job)
        finally:
            if what == "work":
                self.spans.append((job.ref.id, began, time.monotonic()))

    def progress(self, _: Job) -> int:
        return self.steps

    def bury(self, job: Job, _: str) -> None:
        self.buried.append(job.number)


@contextmanager
def taking(plan: Taking) -> Iterator[Taking]:
    yield plan


@dataclass
class Shop:
    """One home with its tables; `working` runs a worker over them."""

    home: Path
    url: str = ""  # of the queue; a file in `home` when empty
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        self.book = open_book(self.home)
        self.jobs, self.taken = Jobs(self.book), TakenJobs(self.book)
        self.leaving = threading.Event()

    def worker(
        self, plan: Taking, *, chores: tuple[Chore, ...] = (), pace: Pace = PACE, rhythm: Rhythm = FAST
    ) -> Worker:
        me = Process.this().worker()
        desk = Desk(
            jobs=self.jobs,
            taken=self.taken,
            leases=Leases(self.book, silent_seconds=1.0),
            taking=lambda: taking(plan),
            chores=chores,
            now=self.now,
            log=open_log(self.book.clean, self.log),
        )
        return Worker(me, Durable(engine_url(self.url, self.home), me, pace), desk, self.leaving, rhythm=rhythm)

    def now(self) -> datetime:
        return self.book.now()

    @contextmanager
    def working(self, plan: Taking, **more: object) -> Iterator[None]:
        """A worker beside the test, told to leave at the end."""
        thread = threading.Thread(target=self.worker(plan, **more).run)  # type: ignore[arg-type]
        thread.start()
        try:
            yield
        finally:
            self.leaving.set()
            thread.join(SECONDS_AT_MOST)
            assert not thread.is_alive()

    def interrupted(self, what: str, _: Job) -> Outcome:
        """What a job does that is put down when its worker is told to leave."""
        if what == "receive":
            return ToWork()
        assert self.leaving.wait(SECONDS_AT_MOST)
        raise Interrupted(run=RunId("r1"))

    def wait(self, until: Callable[[], bool]) -> None:
        """Wait for something that the worker will do."""
        ends = time.monotonic() + SECONDS_AT_MOST
        while not until():
            assert time.monotonic() < ends, f"it did not come to that:\n{self.log.getvalue()}"
            time.sleep(0.02)

    def states(self, *, repository: int = 70) -> list[str]:
        """Of all jobs of a repository, issue by issue; one query, for it is asked again and again."""
        query = select(JobRow.state).where(JobRow.repository == repository).order_by(col(JobRow.number), col(JobRow.id))
        with self.book.reading() as session:
            return list(session.exec(query).all())
