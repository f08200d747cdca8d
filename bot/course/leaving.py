"""What is left on GitHub when a run is over or waits: our own pull request and branch go, people are told why."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, assert_never

from pydantic import TypeAdapter

from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.points import CourseStep
from bot.course.texts import Now
from bot.errors import RunIsOver
from bot.forge.errors import ForgeFault, NotThere
from bot.forge.types import OpenOrClosed
from bot.outbox.errors import NotOurs
from bot.outbox.types import OwnLabel
from bot.run import Run, RunState
from memory.types import DropCause, EndingKind

_DONE: Final = TypeAdapter(bool)


class Leaving:
    """Tells the end of a run, or what it waits for."""

    def __init__(self, errand: Errand) -> None:
        self._errand = errand

    def parked(self, run: Run, course: Course, note: str = "") -> None:
        """Say what the run waits for."""
        self._errand.mark(run.id, course.number, OwnLabel.HELD)
        self._errand.tell(run, course, Now(note=note))

    def ended(self, run: Run, course: Course, note: str = "") -> Course:
        """Clear up after a run that is over, and say how it ended."""
        if not run.outcome.startswith(EndingKind.VERIFY):
            course = self._clear(run, course)
        self._errand.mark(run.id, course.number, _label_of(run))
        self._errand.tell(run, course, Now(note=note))
        return course

    def stop(self, course: Course, cause: DropCause = DropCause.STOPPED) -> Run | None:
        """End the run of a course and clear up, or have the process end it that works on it. None for one that was
        over.
        """
        errand = self._errand
        # Kept first: a process that dies after it ended the run must not find it over, and leave.
        if not errand.once(CourseStep.STOP, _DONE, lambda: errand.run(course.run).open, of=course.run):
            return None
        with suppress(RunIsOver):
            errand.app.stop(errand.run(course.run), cause)
        run = errand.run(course.run)
        if not run.open:
            self.silently(run, errand.courses.of(run.id) or course)
        return run

    def _clear(self, run: Run, course: Course) -> Course:
        """Close our own pull request with the reason; take our own branch away if it holds our commits alone."""
        if course.pull is not None and course.pull_state is PullState.OPEN:
            closed = self._errand.once(CourseStep.CLOSE, _DONE, lambda: self._close(run, course))
            state = PullState.CLOSED_BY_US if closed else PullState.CLOSED_BY_HUMAN
            course = self._errand.courses.change(run.id, pull_state=state.value)
        if course.branch and course.pushed and not course.hands_off and course.pull_state is not PullState.MERGED:
            self._errand.once(CourseStep.DELETE, _DONE, lambda: self._delete(run, course))
        return course

    def _close(self, run: Run, course: Course) -> bool:
        """Whether it was we who closed it."""
        assert course.pull is not None
        errand = self._errand
        try:
            if errand.forge.pull(errand.ref, course.pull).state is not OpenOrClosed.OPEN:
                return False
            errand.outbox.close_pull(
                run.id, errand.ref, course.pull, f"Closed, because its run is over: {run.outcome}."
            )
        except (NotThere, NotOurs):
            return False
        return True

    def _delete(self, run: Run, course: Course) -> bool:
        assert course.pushed is not None
        try:
            self._errand.outbox.delete_branch(run.id, self._errand.ref, course.branch, only_if_head=course.pushed)
        except (NotThere, NotOurs):
            return False
        return True

    def silently(self, run: Run, course: Course, note: str = "") -> None:
        """As `ended`, where nothing may be reachable any more: then nothing is told."""
        try:
            self.ended(run, course, note)
        except ForgeFault as fault:
            self._errand.log.warning("not told", run=run.id, why=type(fault).__name__)


def _label_of(run: Run) -> OwnLabel | None:
    match run.state:
        case RunState.WORKING:
            return OwnLabel.WORKING
        case RunState.PARKED:
            return OwnLabel.HELD
        case RunState.PUBLISHED:
            return OwnLabel.PR
        case RunState.ENDED:
            kind = run.outcome.partition(":")[0]
            return {EndingKind.HOLD: OwnLabel.HELD, EndingKind.VERIFY: None}.get(EndingKind(kind), OwnLabel.DROPPED)
        case _:
            assert_never(run.state)
