"""One job that is being done: all that its steps work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import TypeAdapter

from bot.app import App
from bot.app_settings import AppSettings
from bot.course.course import Course
from bot.course.evidence import gather
from bot.course.mode import Mode
from bot.course.points import CourseStep
from bot.course.steps import JobSteps
from bot.course.store import CourseStore
from bot.course.texts import Now, status
from bot.engine.fence import Fence
from bot.forge.errors import Forbidden, Gone, Locked, NotThere, Rejected
from bot.forge.github import Forge
from bot.forge.types import RepositoryRef
from bot.job import Command, FollowUp, Job
from bot.jobs import Jobs
from bot.log import Log
from bot.outbox.outbox import Outbox
from bot.outbox.types import OwnLabel
from bot.run import Run
from bot.sent_back import next_attempt
from memory.types import RunId, Scope, TicketId

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Errand:
    """`ref` is the job's repository under its newest name; `number` that of the issue, 0 where the job has none.

    `app_id` is our App, `me` the account that it acts as.
    """

    job: Job
    number: int
    ref: RepositoryRef
    app: App
    forge: Forge
    outbox: Outbox
    jobs: Jobs
    courses: CourseStore
    steps: JobSteps
    fence: Fence
    settings: AppSettings
    app_id: int | None
    me: int | None
    log: Log
    now: Callable[[], datetime]

    @property
    def scope(self) -> Scope:
        """Whose memory the repository has."""
        return Scope(installation=str(self.ref.installation), repository=self.jobs.repository(self.ref))

    @property
    def ticket(self) -> TicketId:
        """How memory names the issue."""
        return TicketId(f"issue:{self.number}")

    @property
    def operator(self) -> str:
        """Who gave this job at the command line; empty where GitHub told it."""
        return self.job.data.operator if isinstance(self.job.data, Command) else ""

    @property
    def course(self) -> Course | None:
        """The course that the job is about: of its pull request or commit, else the newest of its issue."""
        data = self.job.data
        pull = getattr(data, "pull", None)
        if isinstance(pull, int) and (found := self.courses.of_pull(self.ref, pull)):
            return found
        if isinstance(data, FollowUp) and (found := self.courses.of_head(self.ref, data.head)):
            return found
        if not self.number:
            return None
        return next(iter(self.courses.of_issue(self.ref, self.number)), None)

    def once(self, step: CourseStep, kind: TypeAdapter[T], work: Callable[[], T], *, of: str = "") -> T:
        return self.steps.once(step, kind, work, of=of)

    def run(self, run: RunId) -> Run:
        return self.app.stores.runs.get(run)

    def is_sent_back(self, run: Run) -> bool:
        """True when its patch was sent back, and no attempt has begun since."""
        return next_attempt(self.app.stores.steps, run) > run.attempt

    def keep_note(self, text: str, author: str) -> bool:
        """Keep what a person said for the next attempt; the same twice, unread, is one note."""
        notes, clean = self.app.stores.notes, self.app.book.clean
        waiting = {(one.author, one.text) for one in notes.of(self.scope, self.ticket) if one.read_by is None}
        if (clean(author), clean(text)) not in waiting:
            notes.add(self.scope, self.ticket, text, author)
        return True

    # --- What people see -------------------------------------------------------------------------------------------

    def tell(self, run: Run, course: Course, now: Now | None = None, mode: Mode | None = None) -> None:
        """Show where the run stands. What keeps a comment back never keeps the work back."""
        text = status(run, course, gather(self.app.stores, run), now or Now(), mode)
        passing = now is not None and now.passing
        self.steps.each_time(
            CourseStep.TELL, lambda: self.show(run.id, course.number, text, course.pull, progress=passing)
        )

    def show(self, run: RunId, number: int, text: str, pull: int | None = None, *, progress: bool = False) -> None:
        """Put the text into the run's comment: on the issue, or where that is locked on the pull request."""
        self.fence.check(run)
        try:
            self.outbox.status(run, self.ref, number, text, progress=progress)
        except Locked as locked:
            if pull is None:
                self._kept_back("status", locked)
            else:
                self._softly("status", lambda: self.outbox.status(run, self.ref, pull, text))
        except (Rejected, Forbidden, Gone, NotThere) as fault:
            self._kept_back("status", fault)

    def mark(self, run: RunId, number: int, label: OwnLabel | None) -> None:
        """Set the one label that is ours."""

        def effect() -> None:
            self.fence.check(run)
            self._softly("label", lambda: self.outbox.labels(self.ref, number, label))

        self.steps.each_time(CourseStep.MARK, effect)

    def answer(self, text: str, *, number: int | None = None, once_for: str = "") -> None:
        """Say one thing to whoever asked for this job, once, or once for all jobs that name one thing `once_for`.

        The operator reads the status and no comments.
        """
        if self.operator:
            return
        said = RunId(once_for or f"job-{self.job.id}")  # an answer may belong to no run
        where = number if number is not None else self._asked_on()
        self.steps.each_time(
            CourseStep.ANSWER,
            lambda: self._softly("answer", lambda: self.outbox.say(said, "answer", self.ref, where, text)),
        )

    def _asked_on(self) -> int:
        pull = getattr(self.job.data, "pull", None)
        return pull if isinstance(pull, int) else self.number

    def _softly(self, what: str, effect: Callable[[], object]) -> None:
        """An effect without which the work is still done."""
        try:
            effect()
        except (Locked, Rejected, Forbidden, Gone, NotThere) as fault:
            self._kept_back(what, fault)

    def _kept_back(self, what: str, fault: Exception) -> None:
        self.log.warning("kept back", what=what, job=self.job.id, why=type(fault).__name__)
