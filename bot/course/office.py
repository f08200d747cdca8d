"""What takes jobs: parts that a process shares, and a program anew for each job, which belongs to one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bot.app import App
from bot.app_settings import AppSettings
from bot.book import Book
from bot.course.errand import Errand
from bot.course.mirrors import Mirrors
from bot.course.points import Reached, nothing
from bot.course.steps import JobSteps
from bot.course.store import CourseStore
from bot.course.taking import CourseOfJob
from bot.engine.fence import Fence
from bot.engine.outcome import Outcome
from bot.forge.github import Forge
from bot.job import FollowUp, Job
from bot.jobs import Jobs
from bot.log import Log
from bot.outbox.outbox import Outbox
from memory.types import LessonId, RunId, Scope


@dataclass(frozen=True, kw_only=True)
class Office:
    """What all jobs of a process share. `app` makes a program anew, that asks `guard` whether it may still write."""

    app: Callable[[Callable[[RunId], None]], App]
    fence: Callable[[App], Fence]
    forge: Forge
    outbox: Outbox
    book: Book
    mirrors: Mirrors
    settings: AppSettings
    app_id: int | None
    me: int | None
    log: Log
    reached: Reached = nothing


class TakingJobs:
    """A `bot.engine.outcome.Taking` for whatever job comes."""

    def __init__(self, office: Office, app: App, fence: Fence) -> None:
        self._office, self._app, self._fence = office, app, fence

    def receive(self, job: Job) -> Outcome:
        return self._course(job).receive(job)

    def work(self, job: Job) -> Outcome:
        return self._course(job).work(job)

    def progress(self, job: Job) -> int:
        return self._course(job).progress(job)

    def bury(self, job: Job, why: str) -> None:
        self._course(job).bury(job, why)

    def _course(self, job: Job) -> CourseOfJob:
        office, jobs, courses = (
            self._office,
            Jobs(self._app.book, web=self._office.forge.web),
            CourseStore(self._app.book),
        )
        errand = Errand(
            job=job,
            number=job.number or _number(job, courses),
            ref=jobs.named(job.ref),
            app=self._app,
            forge=office.forge,
            outbox=office.outbox,
            jobs=jobs,
            courses=courses,
            steps=JobSteps(self._app.book, job.id, office.reached),
            fence=self._fence,
            settings=office.settings,
            app_id=office.app_id,
            me=office.me,
            log=office.log,
            now=self._app.book.now,
        )
        return CourseOfJob(errand, office.mirrors, self._forget)

    def _forget(self, scope: Scope, lesson: LessonId, _: str) -> bool:
        return self._app.stores.memory.retract(scope, lesson, self._app.book.now()) is not None


@contextmanager
def taking(office: Office) -> Iterator[TakingJobs]:
    """One job's parts; its connections are closed afterwards."""
    fences: list[Fence] = []
    app = office.app(lambda run: fences[0].check(run))
    fences.append(office.fence(app))
    try:
        yield TakingJobs(office, app, fences[0])
    finally:
        app.book.engine.dispose()


def _number(job: Job, courses: CourseStore) -> int:
    """The issue of a job that names a pull request or a commit; 0 where none of our runs has it."""
    pull = getattr(job.data, "pull", None)
    course = courses.of_pull(job.ref, pull) if isinstance(pull, int) else None
    if course is None and isinstance(job.data, FollowUp):
        course = courses.of_head(job.ref, job.data.head)
    return course.number if course else 0
