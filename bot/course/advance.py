"""The long work of a job: the repository, the run, and what becomes of it on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from bot.alone import alone
from bot.course.beginning import Beginning, Wish
from bot.course.breaker import came_of, cause_of
from bot.course.check_run import CheckRun
from bot.course.course import Course, PullState
from bot.course.delivery import Delivery
from bot.course.errand import Errand
from bot.course.errors import MayNotAct, NothingThere
from bot.course.leaving import Leaving
from bot.course.may import May
from bot.course.mirrors import Mirrored, Mirrors
from bot.course.parking import Parking, parking_of, wake_of
from bot.course.pausing import Pausing
from bot.course.points import CourseStep
from bot.course.rules import rule_against
from bot.course.texts import Now
from bot.course.watching import Watching
from bot.engine.outcome import Outcome, Settled, Waits
from bot.errors import BeingWorkedOn, Fenced
from bot.forge.errors import Gone, Moved, NotThere
from bot.outbox.types import OwnLabel
from bot.run import Run, RunState
from memory.errors import Told
from memory.types import CommitId, DropCause, RunId
from stages.errors import ParkCause
from stages.remote import merges
from stages.repository import Repository

_DONE: Final = TypeAdapter(bool)
_BASE: Final = "base"  # that it was begun anew because the base moved on
_MERGED: Final = "its patch was merged"
_ASKED_LONG_AGO: Final = timedelta(minutes=10)
"""What waited longer, for its turn or in a pause, may no longer be wanted: that is asked before it costs anything."""
_HELD_BY_ANOTHER: Final = timedelta(seconds=10)


class Advance:
    """Takes a run as far as it goes, and tells GitHub."""

    def __init__(self, errand: Errand, mirrors: Mirrors) -> None:
        self._errand, self._mirrors = errand, mirrors
        self._may, self._leaving = May(errand), Leaving(errand)
        self._check_run = CheckRun(errand)
        self._beginning, self._pausing = Beginning(errand, mirrors), Pausing(errand)

    def work(self, run_id: RunId, wish: Wish) -> Outcome:
        """Raises what nothing can be made of here: the errors of the program itself."""
        run = self._errand.app.stores.runs.find(run_id)
        if run is None or self._errand.courses.of(run_id) is None:
            opened = self._beginning.begun(run_id, wish)
            if not isinstance(opened, Run):
                return opened
            run = opened
        course = self._errand.courses.of(run.id)
        assert course is not None, "a course is kept with its run"
        if not run.open:
            self._leaving.ended(run, course)
            self._pausing.came(came_of(run))
            return Settled(outcome=run.outcome)
        try:
            with self._mine(run):
                return self._go_on(run, course, wish)
        except Fenced:
            if not self._is_merged(run_id):
                raise
            return Settled(outcome=_MERGED)  # it is verified by the job that told of the merge
        except BeingWorkedOn as other:
            return Waits(until=self._errand.now() + _HELD_BY_ANOTHER, why=str(other))
        except MayNotAct as no_more:
            return self._stopped(run, course, no_more)
        except Told as fault:
            parking = parking_of(fault, self._errand.now())
            if parking is None:
                raise
            return self._parked(run, course, parking)

    # --- The run -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _mine(self, run: Run) -> Iterator[None]:
        """This process writes for the run from now on. Raises BeingWorkedOn while another one does."""
        with alone(self._errand.app.stores.work, run.id):
            self._errand.fence.take(run.id)
        yield

    def _go_on(self, run: Run, course: Course, wish: Wish) -> Outcome:
        if course.pull_state is PullState.MERGED:
            return Settled(outcome=_MERGED)
        run = self._on_a_base_that_is_there(run, course)
        if rule := rule_against(self._errand, course):
            return self._parked(run, course, Parking(cause=ParkCause.RULESET, reason=rule))
        if run.state is not RunState.PUBLISHED or self._errand.is_sent_back(run):
            if course.pushed or run.state is not RunState.WORKING:  # else it was marked when it was announced
                self._errand.mark(run.id, course.number, OwnLabel.WORKING)
            again = course.pushed is not None and self._errand.is_sent_back(run)
            if again or self._errand.now() - self._errand.job.at > _ASKED_LONG_AGO:
                self._may.act(course)
            if again:
                self._softly(run, lambda: self._check_run.begin(run, course))
            run = self._errand.steps.each_time(CourseStep.PURSUE, lambda: self._pursued(run, course))
        self._errand.fence.check(run.id)
        course = self._errand.courses.of(run.id) or course
        if run.state is RunState.PUBLISHED and (now := self._conflict(run)):
            return self._onto(now, run, course, wish)
        match run.state:
            case RunState.PUBLISHED:
                course = Delivery(self._errand, self._may, asked=wish.asked).deliver(run, course)
                self._pausing.came(came_of(run))
                return Settled(outcome=f"published: {course.branch or 'patch'}")
            case RunState.PARKED:
                cause = run.park_cause or ParkCause.PROGRAM
                until = run.wake or wake_of(cause, self._errand.now())
                return self._parked(run, course, Parking(cause=cause, reason=run.park_reason, until=until))
            case _:
                self._leaving.ended(run, course)
                self._pausing.came(came_of(run))
                return Settled(outcome=run.outcome or run.state.value)

    def _pursued(self, run: Run, course: Course) -> Run:
        def show(stage: str, attempt: int) -> None:
            now = self._errand.run(run.id)
            try:
                self._errand.tell(now, course, Now(stage=stage, attempt=attempt, passing=True))
            except Told as fault:  # a comment that cannot be edited now keeps no model waiting
                if parking_of(fault, self._errand.now()) is None:
                    raise
                self._errand.log.warning("status not shown", run=run.id, why=type(fault).__name__)

        return self._errand.app.pursue(run, Watching(show))

    def _on_a_base_that_is_there(self, run: Run, course: Course) -> Run:
        """A run whose base was lost begins anew on what is there now: somebody asked for it once more."""
        if run.state is not RunState.PARKED or run.park_cause is not ParkCause.BASE_GONE:
            return run
        mirrored = self._beginning.mirrored()
        if self._mirrors.has(course.ref, run.base):
            return run
        return self._errand.app.stores.runs.advance(run.id, CommitId(mirrored.base))

    def _conflict(self, run: Run) -> Mirrored | None:
        """The default branch as it is now, where the patch cannot be merged into it."""
        try:
            now = self._mirrors.fetch(self._errand.forge.repository(self._errand.ref))
        except (NothingThere, Moved, Gone, NotThere):  # what that means is found out before anything goes out
            return None
        if now.base == run.base or run.commit is None:
            return None
        return None if merges(Repository.open(Path(now.folder)).git, now.base, run.commit) else now

    def _onto(self, now: Mirrored, run: Run, course: Course, wish: Wish) -> Outcome:
        """Begin anew on the base as it is now, once for each job; else a person has to say so."""
        errand = self._errand
        if self._merged_meanwhile(course):
            return Settled(outcome=_MERGED)
        self._may.act(course)
        if errand.steps.kept(CourseStep.SEND_BACK, _DONE, of=_BASE):
            reason = f"the patch conflicts with {now.branch}, which moved on again while it was made anew"
            return self._parked(run, course, Parking(cause=ParkCause.BRANCH, reason=reason))

        def effect() -> bool:
            errand.app.stores.runs.advance(run.id, now.base)
            errand.courses.change(run.id, base=now.branch)
            return True

        errand.once(CourseStep.SEND_BACK, _DONE, effect, of=_BASE)
        return self._go_on(errand.run(run.id), errand.courses.of(run.id) or course, wish)

    def _merged_meanwhile(self, course: Course) -> bool:
        return course.pull is not None and self._errand.forge.pull(self._errand.ref, course.pull).merged

    def _is_merged(self, run: RunId) -> bool:
        course = self._errand.courses.of(run)
        return course is not None and course.pull_state is PullState.MERGED

    # --- How it stands afterwards ------------------------------------------------------------------------------------

    def _parked(self, run: Run, course: Course, parking: Parking) -> Outcome:
        """Keep what it waits for, tell people if they can be told now, count it, and free the worker."""
        errand = self._errand
        errand.fence.check(run.id)
        parked = errand.app.stores.runs.set_state(
            run.id, RunState.PARKED, cause=parking.cause, reason=parking.reason, wake=parking.until
        )
        self._softly(parked, lambda: self._leaving.parked(parked, course, self._pausing.note()))
        self._pausing.came(cause_of(parking))
        self._softly(parked, lambda: self._pausing.show(parked, course))
        if parking.until is None:
            return Settled(outcome=f"parked: {parking.cause.value}")
        return Waits(until=parking.until, why=parking.cause.value)

    def _softly(self, run: Run, tell: Callable[[], None]) -> None:
        try:
            tell()
        except Told as fault:
            if parking_of(fault, self._errand.now()) is None:
                raise
            self._errand.log.warning("not told", run=run.id, why=type(fault).__name__)

    def _stopped(self, run: Run, course: Course, no_more: MayNotAct) -> Outcome:
        if no_more.cause is DropCause.CLOSED_BY_HUMAN and self._merged_meanwhile(course):
            return Settled(outcome=_MERGED)  # GitHub tells that in a delivery of its own, which is late
        stopped = self._errand.app.stop(run, no_more.cause)
        self._leaving.silently(stopped, self._errand.courses.of(run.id) or course, f"{no_more}")
        return Settled(outcome=stopped.outcome or "stopping")
