"""What is done now and then, whatever arrives: patches that nobody spoke of are looked at, old things go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from bot.app import App
from bot.course.course import Course
from bot.course.store import CourseStore
from bot.job import Deployed, JobKind, NewJob
from bot.jobs import Jobs
from bot.run import RunState
from bot.upkeep import keep_up
from bot.verify import QUIET
from memory.types import Scope

LOOKED_AT_EVERY: Final = timedelta(days=1)
_DELIVERIES_KEPT: Final = timedelta(days=30)  # GitHub redelivers for three days


class Chores:
    """Over the tables of one program, made anew for each chore."""

    def __init__(self, make: Callable[[], App]) -> None:
        self._make = make

    def sweep(self) -> None:
        """Have patches verified that are out: merged ones each day, others after 14 quiet days."""
        with self._app() as app:
            jobs, courses = Jobs(app.book), CourseStore(app.book)
            now = app.book.now()
            for course in courses.unfinished():
                run = app.stores.runs.get(course.run)
                if run.state is RunState.PUBLISHED and (course.merged or now - run.updated >= QUIET):
                    jobs.wish(_look_at(course, now))

    def prune(self) -> None:
        """Blank transcripts that are older than they are kept, and forget deliveries that no one sends again."""
        with self._app() as app:
            now = app.book.now()
            app.stores.events.prune(now - timedelta(days=app.settings.transcript_days))
            Jobs(app.book).forget_deliveries(now - _DELIVERIES_KEPT)

    def calibrate(self) -> None:
        """Measure memory anew where it is due."""
        with self._app() as app:
            for scope in _scopes(app):
                keep_up(app.stores, scope)

    @contextmanager
    def _app(self) -> Iterator[App]:
        app = self._make()
        try:
            yield app
        finally:
            app.book.engine.dispose()


def _look_at(course: Course, now: datetime) -> NewJob:
    return NewJob(
        kind=JobKind.VERIFY,
        ref=course.ref,
        number=course.number,
        subject=f"sweep:{course.run}:{now:%Y-%m-%d}",
        actor=None,
        at=now,
        data=Deployed(deployment=0, commit="", environment=""),
    )


def _scopes(app: App) -> tuple[Scope, ...]:
    return tuple(dict.fromkeys(run.scope for run in app.stores.runs.list()))
