"""What becomes of a job: each kind goes its way, first what is short, then what is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from bot.course.admission import Admitted
from bot.course.advance import Advance
from bot.course.announcing import RUN, TOLD, Announcing
from bot.course.beginning import Wish
from bot.course.breaker import cause_of
from bot.course.changes import Changes, Judging
from bot.course.check_run import CheckRun
from bot.course.commands import Commands, Forget, argument_of
from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.follow_up import FollowUps
from bot.course.foreign_pulls import refused_as_foreign
from bot.course.leaving import Leaving
from bot.course.mirrors import Mirrors
from bot.course.parking import parking_of
from bot.course.pausing import Pausing
from bot.course.points import CourseStep
from bot.course.remarks import receive_remark
from bot.course.silence import Silence
from bot.course.texts import Now
from bot.engine.outcome import Outcome, Settled, ToWork, Waits
from bot.errors import LetGo
from bot.forge.errors import ForgeFault, Gone, Moved, NotThere
from bot.job import Closed, Deployed, FollowUp, Job, JobKind, Start, StartCause, Unchecked, Unlabelled
from bot.job import Gone as GoneData
from bot.outbox.errors import OutboxFault
from bot.outbox.types import OwnLabel
from bot.run import RunState
from memory.types import CommitId, RunId
from stages.errors import ParkCause

_BEGINS: Final = frozenset({JobKind.START, JobKind.RETRY, JobKind.REQUEUE})
_LOOKS: Final = frozenset({JobKind.WHY, JobKind.HELP, JobKind.FORGET, JobKind.REMARK, JobKind.CHECKS, JobKind.VERIFY})
"""They leave a run where it stands, whatever becomes of them."""


class CourseOfJob:
    """A `bot.engine.outcome.Taking` for one job."""

    def __init__(self, errand: Errand, mirrors: Mirrors, forget: Forget) -> None:
        self._errand, self._mirrors = errand, mirrors
        self._leaving, self._pausing, self._announcing = Leaving(errand), Pausing(errand), Announcing(errand)
        self._commands = Commands(errand, self._leaving, forget)

    def receive(self, _: Job) -> Outcome:
        try:
            return self._receive()
        except LetGo:
            raise
        except (Moved, Gone, NotThere) as gone:
            self._pausing.let_go()
            return Settled(outcome=f"nothing there: {type(gone).__name__}")
        except (ForgeFault, OutboxFault) as fault:
            parking = parking_of(fault, self._errand.now())
            if parking and self._errand.job.kind in _BEGINS:
                self._pausing.came(cause_of(parking))
            self._pausing.let_go()
            if parking is None or parking.until is None:
                return Settled(outcome=f"not done: {type(fault).__name__}")
            return Waits(until=parking.until, why=parking.cause.value)

    def work(self, _: Job) -> Outcome:
        errand, course = self._errand, self._errand.course
        data = errand.job.data
        match data:
            case Closed():
                assert course is not None, "it was received"
                assert course.merged is not None, "it was received"
                return self._judge(course, course.merged)
            case Deployed():
                assert course is not None, "it was received"
                return self._judge(course, CommitId(data.commit) if data.commit else course.merged)
            case FollowUp():
                assert course is not None, "it was received"
                return self._advance(course.run, Wish(admitted=None, asked=False))
            case _:
                commanded = errand.job.kind is not JobKind.START
                admitted = self._announcing.admitted(commanded=commanded)
                wish = Wish(
                    admitted=admitted if isinstance(admitted, Admitted) else None,
                    asked=self._is_asked(anew=isinstance(admitted, Admitted)),
                    commanded=commanded,
                )
                return self._advance(self._announcing.identity(), wish)

    def progress(self, _: Job) -> int:
        steps = self._errand.steps.count()
        course = self._errand.course
        finished = self._errand.app.stores.steps.of(course.run) if course else ()
        return steps + sum(1 for step in finished if step.finished)

    def bury(self, _: Job, why: str) -> None:
        """Give the job up: its run waits for a version that mends it, and people are told, if that can be done."""
        if self._errand.job.kind in _BEGINS:
            self._pausing.came(ParkCause.PROGRAM.value)
        course = self._errand.course
        if course is None:
            return self._bury_unbegun(why)
        run = self._errand.run(course.run)
        if run.open and course.pull_state is PullState.MERGED:  # parked, it would never be judged
            self._softly(run.id, lambda: self._errand.tell(run, course, Now(note=f"Not verified yet: {why}")))
        elif run.open and self._errand.job.kind not in _LOOKS:
            again = f"{why}; `/ticketsmith retry` tries it once more"
            runs = self._errand.app.stores.runs
            parked = runs.set_state(run.id, RunState.PARKED, cause=ParkCause.PROGRAM, reason=again)
            self._softly(run.id, lambda: self._leaving.parked(parked, course, self._pausing.note()))
        return self._softly(course.run, CheckRun(self._errand).settle)

    def _bury_unbegun(self, why: str) -> None:
        """Tell people of a run that was announced, and never began."""
        errand, run = self._errand, self._errand.steps.kept(CourseStep.IDENTITY, RUN)
        if run is None:
            return
        text = f"**Given up before it began:** {why}.\n\n`/ticketsmith retry` tries it once more.\n"

        def tell() -> None:
            errand.show(RunId(run), errand.number, text)
            errand.mark(RunId(run), errand.number, OwnLabel.HELD)

        self._softly(RunId(run), tell)

    def _softly(self, run: RunId, tell: Callable[[], None]) -> None:
        """What cannot be told keeps nothing else from being done."""
        try:
            tell()
        except (ForgeFault, OutboxFault) as fault:
            self._errand.log.warning("not told", run=run, why=type(fault).__name__)

    # --- Each kind ---------------------------------------------------------------------------------------------------

    def _receive(self) -> Outcome:
        errand, job, course = self._errand, self._errand.job, self._errand.course
        if (mine := errand.steps.kept(CourseStep.IDENTITY, RUN)) is not None:
            # It was received by a process that died, or it has waited.
            if errand.steps.kept(CourseStep.ANNOUNCE, TOLD) and (waits := self._held(RunId(mine))):
                return waits
            there = errand.app.stores.runs.find(RunId(mine))
            return ToWork() if there else self._announcing.announce(commanded=job.kind is not JobKind.START)
        if refused := refused_as_foreign(errand):
            return refused
        match job.kind:
            case JobKind.START:
                return self._start(course)
            case JobKind.STOP if isinstance(job.data, Unlabelled):
                return Changes(errand, self._leaving).unlabelled(course)
            case JobKind.STOP | JobKind.RETRY | JobKind.REQUEUE | JobKind.FORGET:
                return self._commands.refused() or self._obey(course)
            case JobKind.WHY:
                return self._commands.why(course)
            case JobKind.HELP:
                return self._commands.help()
            case JobKind.REMARK:
                return receive_remark(errand, course)
            case JobKind.FOLLOW_UP:
                assert isinstance(job.data, FollowUp)
                return FollowUps(errand, job.data).receive(course) if course else Settled(outcome="no run of ours")
            case JobKind.VERIFY:
                assert isinstance(job.data, Deployed)
                judging = Judging(errand, self._mirrors, self._leaving)
                return judging.deployed(course, job.data.commit) if errand.number else judging.everywhere(job.data)
            case JobKind.CHECKS:
                assert isinstance(job.data, Unchecked)
                return Silence(errand).look(course, job.data)
            case JobKind.CLOSED:
                assert isinstance(job.data, Closed)
                return Changes(errand, self._leaving).closed(course, job.data)
            case JobKind.GONE:
                assert isinstance(job.data, GoneData)
                return Changes(errand, self._leaving).gone(job.data)
            case _:
                assert_never(job.kind)

    def _obey(self, course: Course | None) -> Outcome:
        argument = argument_of(self._errand.job.data)
        match self._errand.job.kind:
            case JobKind.STOP:
                return self._announcing.withdraw() or self._commands.stop(course)
            case JobKind.FORGET:
                return self._commands.forget(argument)
            case JobKind.REQUEUE:
                outcome = self._commands.requeue(course, argument)
            case _:
                outcome = self._commands.retry(course)
        if isinstance(outcome, ToWork) and self._announcing.begins_anew(course):
            return self._announcing.announce(commanded=True)
        return outcome

    def _start(self, course: Course | None) -> Outcome:
        if course is not None and (run := self._errand.run(course.run)).open:
            # A label on an issue whose run waits for a person is that person's word, and so is a call of the operator.
            called = self._errand.job.actor is None and run.state in (RunState.PARKED, RunState.WORKING)
            waits = run.state is RunState.PARKED and run.wake is None
            return ToWork() if called or waits else Settled(outcome="joined its run")
        return self._announcing.announce(commanded=False)

    def _is_asked(self, *, anew: bool) -> bool:
        """Whether a person wants the patch back, whatever was closed or taken over.

        Who sets the label anew, or says `retry`, does; a sweep of ours does not, nor a note for a patch that is out.
        """
        job = self._errand.job
        if isinstance(job.data, Start):
            return job.data.cause is not StartCause.SWEPT
        return job.kind is not JobKind.REQUEUE or anew

    # --- Inside ------------------------------------------------------------------------------------------------------

    def _advance(self, run: RunId, wish: Wish) -> Outcome:
        if waits := self._held(run):
            return waits
        outcome = Advance(self._errand, self._mirrors).work(run, wish)
        self._softly(run, CheckRun(self._errand).settle)
        self._pausing.let_go()
        return outcome

    def _held(self, run_id: RunId) -> Waits | None:
        """Whether the run waits because its repository is paused."""
        if (waits := self._pausing.hold()) is None:
            return None
        # On the ticket that began the pause: a process may have died before it told.
        run, course = self._errand.app.stores.runs.find(run_id), self._errand.courses.of(run_id)
        if run and course:
            self._softly(run_id, lambda: self._pausing.show(run, course))
        return waits

    def _judge(self, course: Course, commit: CommitId | None) -> Outcome:
        return Judging(self._errand, self._mirrors, self._leaving).work(course, commit)
