"""One process that works: it takes jobs in turn, says that it lives, and takes over from those that died."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from bot.engine.durable import Durable, Work
from bot.engine.leases import BEAT_SECONDS, Leases, WorkerId
from bot.engine.outcome import Outcome, Settled, Taking, ToWork, Waits
from bot.engine.taken import TakenJobs, Takes
from bot.errors import Fenced, Interrupted
from bot.job import INSTALLATION_WIDE, Job, JobState
from bot.jobs import Jobs
from bot.log import Log
from memory.errors import Told

TAKES_AT_MOST: Final = 5
"""A job that ended five processes without coming one step further is given up: more tries cost money."""
BURIALS_AT_MOST: Final = 3
"""So often it is tried to give a job up with a word to people; then it is given up without."""
PATIENCE: Final = timedelta(minutes=5)
"""Not sooner: a worker that is ended again and again by somebody else is no fault of its jobs."""
LEAVES_WITHIN_SECONDS: Final = 30.0
_AGAIN: Final = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Chore:
    """Something that one of all workers does now and then."""

    name: str
    every: timedelta
    do: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Rhythm:
    """How often a worker looks around."""

    beat_seconds: float = BEAT_SECONDS
    look_seconds: float = 1.0
    leave_seconds: float = LEAVES_WITHIN_SECONDS
    again: timedelta = _AGAIN  # after an error
    patience: timedelta = PATIENCE


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What a worker works with. `taking` gives what takes one job, anew for each: its parts belong to one thread."""

    jobs: Jobs
    taken: TakenJobs
    leases: Leases
    taking: Callable[[], AbstractContextManager[Taking]]
    chores: tuple[Chore, ...]
    now: Callable[[], datetime]
    log: Log


class Worker:
    """Works until `leaving` is set. `woken` may be set by whoever adds a job in this process."""

    def __init__(
        self,
        me: WorkerId,
        durable: Durable,
        desk: Desk,
        leaving: threading.Event,
        *,
        rhythm: Rhythm | None = None,
        woken: threading.Event | None = None,
    ) -> None:
        self._me, self._durable, self._desk, self._leaving = me, durable, desk, leaving
        self._rhythm, self._woken = rhythm or Rhythm(), woken or threading.Event()
        self._busy, self._count = 0, threading.Lock()
        self._put_off: dict[int, float] = {}  # jobs that cannot be queued, and until when they are left alone

    def run(self) -> bool:
        """Work until told to leave. False when something still holds on after the time that there is for leaving.

        What is not finished goes on elsewhere, or later.
        """
        self._desk.leases.beat(self._me)
        self._durable.start(Work(receive=self._receive, work=self._work))
        over = threading.Event()
        beside = [
            threading.Thread(target=self._live, args=(over,), name="heart", daemon=True),
            threading.Thread(target=self._do_chores, name="chores", daemon=True),
        ]
        for thread in beside:
            thread.start()
        self._desk.log.info("worker began", worker=self._me)
        try:
            while not self._leaving.is_set():
                self._carefully("look", self._look)
                self._woken.wait(self._rhythm.look_seconds)
                self._woken.clear()
        finally:
            self._leaving.set()
            self._durable.close(self._rhythm.leave_seconds)
            over.set()
            for thread in beside:
                thread.join(self._rhythm.leave_seconds)
        if idle := self._busy == 0:
            self._desk.leases.drop(self._me)  # else it stays, and whoever comes next takes over
        self._desk.log.info("worker left", worker=self._me, jobs_left=self._busy)
        return idle

    # --- Around the work -------------------------------------------------------------------------------------------

    def _live(self, over: threading.Event) -> None:
        while not over.wait(self._rhythm.beat_seconds):
            self._carefully("beat", lambda: self._desk.leases.beat(self._me))

    def _do_chores(self) -> None:
        while not self._leaving.wait(self._rhythm.look_seconds):
            for chore in self._desk.chores:
                self._carefully(chore.name, partial(self._do_if_due, chore))

    def _do_if_due(self, chore: Chore) -> None:
        if not self._leaving.is_set() and self._desk.taken.claim(chore.name, chore.every):
            chore.do()

    def _look(self) -> None:
        """Each by itself: what cannot be done of one job keeps no other one back."""
        for dead in self._desk.leases.dead():
            if dead != self._me:
                self._carefully("take over", partial(self._take_over, dead))
        for number in self._desk.jobs.waiting_numbers():
            self._queue_carefully("queue", number, self._queue)
        for number in self._desk.taken.due():
            self._queue_carefully("queue again", number, self._queue_again)

    def _take_over(self, dead: WorkerId) -> None:
        """First the work, then the lease: whoever dies in between leaves it to the next one."""
        count = self._durable.take_over(dead)
        self._desk.leases.drop(dead)
        self._desk.log.info("took over", worker=dead, jobs=count)

    def _queue_carefully(self, what: str, number: int, queue: Callable[[int], None]) -> None:
        """One with a fault, such as a job that a newer version wrote, would fill the log if each look tried it."""
        if self._put_off.get(number, 0.0) > time.monotonic():
            return
        if self._carefully(what, partial(queue, number)):
            self._put_off.pop(number, None)
        else:
            self._put_off[number] = time.monotonic() + self._rhythm.again.total_seconds()

    def _queue(self, number: int) -> None:
        self._put(self._desk.jobs.get(number))
        self._desk.jobs.taken(number)

    def _queue_again(self, number: int) -> None:
        self._put(self._desk.jobs.get(number))

    def _put(self, job: Job) -> None:
        issue = f"{job.ref.id}#{job.number}"
        repository = str(job.ref.id if job.ref.id != INSTALLATION_WIDE else f"i{job.ref.installation}")
        taken = self._desk.taken.next_round(job.id)
        self._durable.put(taken, repository=repository, issue=issue)
        self._desk.taken.queued(taken)

    # --- The work --------------------------------------------------------------------------------------------------

    def _receive(self, number: int) -> bool:
        return self._do(number, lambda taking, job: taking.receive(job))

    def _work(self, number: int) -> None:
        self._do(number, lambda taking, job: taking.work(job))

    def _do(self, number: int, act: Callable[[Taking, Job], Outcome]) -> bool:
        """Whether the job has to be worked on now. Whatever goes wrong is told to the log, and tried again later."""
        with self._count:
            self._busy += 1
        answers: list[bool] = []
        try:
            if not self._safely(lambda: answers.append(self._ordered(number, act)), "job failed", job=number):
                self._write_down(lambda: self._desk.taken.failed(number, self._desk.now() + self._rhythm.again))
        finally:
            with self._count:
                self._busy -= 1
        return any(answers)

    def _ordered(self, number: int, act: Callable[[Taking, Job], Outcome]) -> bool:
        try:
            return self._try(number, act)
        except Fenced as fenced:
            self._desk.log.warning("left to another process", job=number, why=str(fenced))
        except Interrupted:
            self._desk.taken.let_go(number, self._desk.now())
        return False

    def _try(self, number: int, act: Callable[[Taking, Job], Outcome]) -> bool:
        takes = self._desk.taken.take(number)  # before anything can go wrong
        if self._is_hopeless(takes, BURIALS_AT_MOST):
            self._put_down(number)
            return False
        job = self._desk.jobs.get(number)
        if job.state in (JobState.DONE, JobState.DEAD):
            self._desk.taken.let_go(number, None)
            return False
        with self._desk.taking() as taking:
            if self._is_hopeless(self._desk.taken.came_to(number, taking.progress(job))):
                taking.bury(job, _POISON)
                self._put_down(number)
                return False
            return self._settle(job, act(taking, job))

    def _is_hopeless(self, takes: Takes, more: int = 0) -> bool:
        return takes.count > TAKES_AT_MOST + more and takes.lasting >= self._rhythm.patience

    def _put_down(self, number: int) -> None:
        self._desk.log.error("job given up", job=number, why=_POISON)
        self._desk.taken.let_go(number, None)
        self._desk.jobs.dead(number, _POISON)

    def _write_down(self, write: Callable[[], None]) -> None:
        """Hold on to it until it is written: a job that no table shows as waiting would be lost.

        A process that is told to leave meanwhile is not idle, so that another one takes the job over.
        """
        while not self._safely(write, "not written down"):
            time.sleep(self._rhythm.beat_seconds)

    def _settle(self, job: Job, outcome: Outcome) -> bool:
        match outcome:
            case ToWork():
                self._desk.taken.undo(job.id)
                return True
            case Waits():
                self._desk.taken.let_go(job.id, outcome.until)
                self._desk.log.info("job waits", job=job.id, until=outcome.until.isoformat(), why=outcome.why)
            case Settled():
                self._desk.taken.let_go(job.id, None)
                self._desk.jobs.done(job.id, outcome.outcome)
                self._desk.log.info("job done", job=job.id, kind=job.kind.value, outcome=outcome.outcome)
        return False

    def _carefully(self, what: str, do: Callable[[], None]) -> bool:
        """What goes wrong around the work ends no worker: it is done again at its next turn. False after a fault."""

        def told() -> None:
            try:
                do()
            except (Told, OSError) as fault:
                self._desk.log.warning("could not", do=what, why=str(fault))

        return self._safely(told, "failed", do=what)

    def _safely(self, do: Callable[[], None], event: str, /, **fields: object) -> bool:
        """Whether it was done. What was raised is told to the log, with where it came from."""
        try:
            do()
        except Exception:  # the one place: nothing that goes wrong may end the worker, or its other jobs
            self._desk.log.exception(event, **fields)
            return False
        return True


_POISON: Final = f"{TAKES_AT_MOST} processes ended or failed while they worked on it, and it came no step further"
