"""The job that receives: it answers people and writes down what is to be done. It may write, so it runs nothing.

It does what the App's engine does at once with every job of `bot.course`: announce a run, answer a command, hold a
patch that was refused, end what was stopped or closed. Where a run has to be worked on, the jobs after it do that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter

from bot.app import App
from bot.ci.earlier import with_earlier_push
from bot.ci.job import errand_of, is_by_time, look_at
from bot.ci.looking import never_begun
from bot.ci.records import Records
from bot.course.admission import RUNS_A_DAY, Admitted, Refusal
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.mirrors import Mirrors
from bot.course.points import CourseStep
from bot.course.taking import CourseOfJob
from bot.engine.outcome import Outcome, Settled, ToWork
from bot.forge.github import Forge
from bot.job import JobKind, NewJob
from bot.log import Log
from bot.run import Opening, RunState
from memory.types import LessonId, RunId, Scope
from stages.errors import ParkCause
from stages.repository import Repository
from stages.ticket import Comment, Ticket

_RUN: Final = TypeAdapter(str)
_ADMITTED: Final[TypeAdapter[Admitted | Refusal]] = TypeAdapter(Admitted | Refusal)
_DAY: Final = timedelta(days=1)
DIED: Final = "the job that was at work on it ended before it was done; `/ticketsmith retry` goes on"
BEGINS: Final = frozenset({JobKind.START, JobKind.RETRY, JobKind.REQUEUE})


@dataclass
class ReceivingJob:
    """Receives one event for one issue. `repository` is a checkout of the default branch.

    With `aside`, another job may be at work on the issue at the same time.
    """

    app: App
    forge: Forge
    repository: Repository
    log: Log
    me: int | None
    aside: bool = False
    sleep: Callable[[float], None] = time.sleep
    _forgotten: set[str] = field(default_factory=set)

    def receive(self, job: NewJob, number: int) -> Outcome:
        """What became of it; the jobs after this one are needed for ToWork alone.

        Raises MemoryNotKept, RemoteFault, and the errors of the forge and the outbox.
        """
        job = self._of_issue(job, number)
        errand = errand_of(job, number, self.app, self.forge, self.log, me=self.me, sleep=self.sleep)
        records = Records(errand, self.repository, writes=True)
        course = records.bring().course
        if course is not None and not self.aside:
            self._after_one_that_died(errand, course)
        outcome = self._received(errand, records, course)
        if isinstance(outcome, ToWork):
            self._write_down(errand)
        records.keep(forgotten=frozenset(self._forgotten), aside=self.aside)
        return outcome

    def _of_issue(self, job: NewJob, number: int) -> NewJob:
        """Of a job that came by time: what is to be done for this issue."""
        if not is_by_time(job):
            return job
        new = (one for one in never_begun(job, self.app, self.forge, self.log) if one.number == number)
        return next(new, None) or look_at(job.ref, number, self.app.book.now())

    def _after_one_that_died(self, errand: Errand, course: Course) -> None:
        """No other job of the issue is at work now: what still says so was left by one that died, or was cancelled."""
        if errand.run(course.run).state is RunState.WORKING:
            with_earlier_push(errand, self.repository, course)
            self.app.stores.runs.set_state(course.run, RunState.PARKED, cause=ParkCause.ENVIRONMENT, reason=DIED)

    def _received(self, errand: Errand, records: Records, course: Course | None) -> Outcome:
        job = errand.job
        if course is not None and is_by_time(job) and errand.run(course.run).state is RunState.PARKED:
            return ToWork()
        if course is None and job.kind in BEGINS and not self.aside:
            lately = records.runs_within(_DAY)
            if lately >= RUNS_A_DAY:
                errand.answer(f"Not begun: it had {lately} runs within a day, which are enough.")
                return Settled(outcome="refused: enough for a day")
        if course is None and job.kind is JobKind.STOP and not self.aside:
            # A job that was cancelled after it had announced its run left nothing but this.
            errand.mark(RunId(""), errand.number, None)
        return CourseOfJob(errand, Mirrors(self.app.settings.home / "mirrors", self.forge), self._forget).receive(job)

    def _write_down(self, errand: Errand) -> None:
        """Write down the run that was announced: its id, its text and its base are fixed from here on."""
        named = errand.steps.kept(CourseStep.IDENTITY, _RUN)
        if named is None or self.app.stores.runs.find(RunId(named)) is not None:
            return
        admitted = errand.steps.kept(CourseStep.ADMIT, _ADMITTED)
        assert isinstance(admitted, Admitted), "it was announced"
        info = self.forge.repository(errand.ref)
        ticket = Ticket(
            id=errand.ticket,
            title=admitted.title,
            body=admitted.body,
            comments=tuple(Comment(author=one.author, text=one.text) for one in admitted.comments),
            author=admitted.author,
            number=errand.number,
        )
        run = self.app.stores.runs.create(
            Opening(
                scope=errand.scope,
                ticket=ticket,
                base=self.repository.resolve(),
                place=str(self.repository.folder),
                id=RunId(named),
                actor=f"account {admitted.actor.id}",
            )
        )
        errand.courses.begin(
            Course(
                run=run.id,
                ref=errand.ref,
                number=errand.number,
                actor=admitted.actor,
                commanded=errand.job.kind is not JobKind.START,
                private=info.private,
                base=info.default_branch,
            )
        )

    @property
    def _forget(self) -> Callable[[Scope, LessonId, str], bool]:
        def forget(scope: Scope, lesson: LessonId, _: str) -> bool:
            found = self.app.stores.memory.retract(scope, lesson, self.app.book.now()) is not None
            if found:
                self._forgotten.add(lesson)
            return found

        return forget
