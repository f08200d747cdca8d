"""An issue is admitted, and people are told, before any long work: which run it will be is settled here."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter

from bot.course.admission import Admitted, Answered, Refusal, admit
from bot.course.beginning import WITHDRAWN
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.markdown import code
from bot.course.pausing import Pausing
from bot.course.points import CourseStep
from bot.course.steps import JobSteps
from bot.course.texts import announced
from bot.engine.outcome import Outcome, Settled, ToWork
from bot.job import JobState
from bot.outbox.types import OwnLabel
from bot.run import RunState
from memory.types import RunId

RUN: Final = TypeAdapter(str)
TOLD: Final = TypeAdapter(bool)
TOLD_AGAIN_AFTER: Final = timedelta(hours=1)
_ADMITTED: Final[TypeAdapter[Admitted | Refusal]] = TypeAdapter(Admitted | Refusal)


class Announcing:
    """Of one job."""

    def __init__(self, errand: Errand) -> None:
        self._errand, self._pausing = errand, Pausing(errand)

    def announce(self, *, commanded: bool) -> Outcome:
        """Admit the issue, and say so before any long work."""
        errand = self._errand
        admitted = self.admitted(commanded=commanded)
        if isinstance(admitted, Refusal):
            if admitted.told and not self._told_lately():
                errand.answer(f"Not begun: {admitted.why}.")
            return Settled(outcome=f"refused: {admitted.why}")
        run = self.identity()
        errand.once(CourseStep.ANNOUNCE, TOLD, lambda: self._show(run))
        errand.mark(run, errand.number, OwnLabel.WORKING)
        return ToWork()

    def _show(self, run: RunId) -> bool:
        self._errand.show(
            run, self._errand.number, announced(run, waits=self._is_busy(), paused=self._pausing.reason())
        )
        return True

    def _is_busy(self) -> bool:
        """Whether a run of the repository is at work: then another one waits until it is over."""
        others = self._errand.courses.unfinished(repository=self._errand.ref.id)
        return any(self._errand.run(other.run).state is RunState.WORKING for other in others)

    def admitted(self, *, commanded: bool) -> Answered:
        errand = self._errand
        if not self.begins_anew(self._errand.course):
            return Refusal(why="its run goes on")
        return errand.once(CourseStep.ADMIT, _ADMITTED, lambda: admit(errand, commanded=commanded))

    def identity(self) -> RunId:
        """The run of this job: the open one of its issue, else one that is still to be written down."""
        errand = self._errand

        def chosen() -> str:
            course = self._errand.course
            if course is not None and not self.begins_anew(course):
                return course.run
            waiting = self._waiting()
            return waiting[1] if waiting else errand.app.stores.runs.new_id()

        return RunId(errand.once(CourseStep.IDENTITY, RUN, chosen))

    def withdraw(self) -> Outcome | None:
        """Have what was announced and has not begun never begin; None where there is no such thing."""
        errand, found = self._errand, self._waiting()
        if found is None:
            return None
        _, run = found
        errand.show(run, errand.number, f"**Stopped before it began.**\n\nRun {code(run)}.\n")
        errand.mark(run, errand.number, OwnLabel.DROPPED)
        while found:  # a `retry` may wait beside the label
            errand.jobs.done(found[0], WITHDRAWN)
            found = self._waiting()
        errand.answer(f"Run {code(run)} had not begun, and will not.")
        return Settled(outcome=WITHDRAWN)

    def _waiting(self) -> tuple[int, RunId] | None:
        """Another job of this issue, with the run that it announced, and that waits for its turn."""
        errand = self._errand
        others = (one for one in errand.jobs.of_issue(errand.ref.id, errand.number) if one.id != errand.job.id)
        for other in others:
            run = JobSteps(errand.app.book, other.id).kept(CourseStep.IDENTITY, RUN)
            if run and other.state is JobState.TAKEN and errand.app.stores.runs.find(RunId(run)) is None:
                return other.id, RunId(run)
        return None

    def begins_anew(self, course: Course | None) -> bool:
        return course is None or not self._errand.run(course.run).open

    def _told_lately(self) -> bool:
        """One refusal is enough for a while, however often it is tried."""
        errand = self._errand
        jobs = errand.jobs.of_issue(errand.ref.id, errand.number)
        return any(
            one.id != errand.job.id and one.outcome.startswith("refused") and errand.now() - one.at < TOLD_AGAIN_AFTER
            for one in jobs
        )
