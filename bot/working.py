"""`work`: the process that works, put together, and how it leaves."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Final

from bot.app import App, Choices
from bot.book import Book, upgrade_runs, utc_now
from bot.config import Settings
from bot.course.chores import Chores
from bot.course.mirrors import Mirrors
from bot.course.office import Office, taking
from bot.course.points import Reached, nothing
from bot.credentials import app_id, bot_id, private_key
from bot.engine.durable import Durable, Pace, engine_url
from bot.engine.fence import Fence
from bot.engine.leases import Leases, Process
from bot.engine.outcome import Taking
from bot.engine.taken import TakenJobs
from bot.engine.worker import Chore, Desk, Rhythm, Worker
from bot.forge.github import Forge
from bot.jobs import Jobs
from bot.log import Log, open_log
from bot.outbox.outbox import Outbox
from bot.reconciling import EVERY, Reconciler
from memory.database import open_database, upgrade_memory
from memory.scrub import Scrubber
from memory.types import RunId

_DAILY: Final = timedelta(days=1)
_HOURLY: Final = timedelta(hours=1)
_REMEMBERED: Final = timedelta(days=7)  # what the queue knows of jobs that are over


class Working:
    """The worker of these settings. Raises, when it is put together, what is missing of the App."""

    def __init__(
        self,
        settings: Settings,
        choices: Choices | None = None,
        *,
        app: Callable[..., App] = App,
        log: Log | None = None,
        reached: Reached = nothing,
        pace: Pace | None = None,
        rhythm: Rhythm | None = None,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings, self._choices, self._make = settings, choices or Choices(), app
        self._reached, self._rhythm = reached, rhythm
        self._pace = pace or Pace(runs=settings.workers)
        self._given_log, self._clock, self._sleep = log, clock, sleep
        self.leaving = threading.Event()

    def run(self) -> bool:
        """Work until SIGTERM or SIGINT. False when something would not let go in the time that there is."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.leaving.set())
        return self.worker().run()

    def worker(self) -> Worker:
        """One worker, in this process."""
        me = Process.this().worker()
        durable = Durable(engine_url(self._settings.engine_url, self._settings.home), me, self._pace)
        desk = Desk(
            jobs=Jobs(self._book, web=self.forge.web),
            taken=TakenJobs(self._book),
            leases=Leases(self._book),
            taking=self._taking,
            chores=self._chores(durable),
            now=self._book.now,
            log=self._log,
        )
        return Worker(me, durable, desk, self.leaving, rhythm=self._rhythm)

    # --- Parts -----------------------------------------------------------------------------------------------------

    @cached_property
    def forge(self) -> Forge:
        app = self._settings.app
        self._scrubber.learn(key := private_key(app), for_good=True)
        return Forge.for_app(
            app_id=app_id(app),
            key=key,
            base_url=app.base_url,
            clock=self._clock,
            sleep=self._sleep,
            clock_is_wrong=self._clock_is_wrong,
            learn=self._scrubber.learn,
        )

    @cached_property
    def office(self) -> Office:
        """What all jobs of this process share."""
        app = self._settings.app
        me = bot_id(app)
        me = self.forge.app_info().bot.id if me is None else me
        return Office(
            app=lambda guard: self._make(self._settings, self._choices, guard=guard),
            fence=lambda made: Fence(made.stores.runs, self.leaving),
            forge=self.forge,
            outbox=self._outbox(me),
            book=self._book,
            mirrors=Mirrors(self._settings.home / "mirrors", self.forge),
            settings=app,
            app_id=app_id(app),
            me=me,
            log=self._log,
            reached=self._reached,
        )

    def _outbox(self, me: int | None) -> Outbox:
        return Outbox.of(
            self.forge,
            self._book,
            self._scrubber,
            me=me,
            secret=private_key(self._settings.app),
            clock=self._clock,
            sleep=self._sleep,
        )

    def _taking(self) -> AbstractContextManager[Taking]:
        return taking(self.office)

    def _chores(self, durable: Durable) -> tuple[Chore, ...]:
        chores = Chores(partial(self._make, self._settings, self._choices, guard=_anybody))
        return (
            Chore(name="reconcile", every=EVERY, do=self._reconcile),
            Chore(name="sweep", every=_HOURLY, do=chores.sweep),
            Chore(name="prune", every=_DAILY, do=chores.prune),
            Chore(name="calibrate", every=_DAILY, do=chores.calibrate),
            Chore(name="queue", every=_DAILY, do=lambda: self._forget(durable)),
        )

    def _reconcile(self) -> None:
        jobs = Jobs(self._book, web=self.forge.web)
        Reconciler(self.forge, jobs, self._settings.app, now=self._book.now, log=self._log).look()

    def _forget(self, durable: Durable) -> None:
        durable.prune(utc_now() - _REMEMBERED)

    def _clock_is_wrong(self, by: timedelta) -> None:
        self._log.warning("clock is wrong", seconds=round(by.total_seconds()))

    @cached_property
    def _scrubber(self) -> Scrubber:
        return Scrubber(self._settings.secrets())

    @cached_property
    def _book(self) -> Book:
        engine = open_database(self._settings.database)
        upgrade_memory(engine)
        upgrade_runs(engine)
        return Book(engine, self._scrubber)

    @cached_property
    def _log(self) -> Log:
        return self._given_log or open_log(self._scrubber.scrub)


def _anybody(_: RunId) -> None:
    """Chores write for no run."""


def leave(*, idle: bool) -> None:
    """End this process; where something holds on, without waiting for it: the lease stays, and another takes over."""
    if not idle:
        sys.stderr.flush()
        os._exit(0)
