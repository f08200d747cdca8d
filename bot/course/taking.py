"""What becomes of a job: each kind goes its way, first what is short, then what is long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final, assert_never

from pydantic import TypeAdapter

from bot.course.admission import Admitted, Answered, Refusal, admit
from bot.course.advance import Advance
from bot.course.beginning import Wish
from bot.course.breaker import cause_of
from bot.course.changes import Changes, Judging
from bot.course.commands import Commands, Forget, argument_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.follow_up import FollowUps
from bot.course.leaving import Leaving
from bot.course.mirrors import Mirrors
from bot.course.parking import parking_of
from bot.course.pausing import Pausing
from bot.course.points import CourseStep
from bot.course.remarks import receive_remark
from bot.course.steps import JobSteps
from bot.course.texts import announced
from bot.engine.outcome import Outcome, Settled, ToWork, Waits
from bot.errors import LetGo
from bot.forge.errors import ForgeFault, Gone, Moved, NotThere
from bot.job import Closed, Deployed, FollowUp, Job, JobKind, JobState, Start, StartCause, Unlabelled
from bot.job import Gone as GoneData
from bot.outbox.errors import OutboxFault
from bot.outbox.types import OwnLabel
from bot.run import RunState
from memory.types import CommitId, RunId
from stages.errors import ParkCause

_ADMITTED: Final[TypeAdapter[Admitted | Refusal]] = TypeAdapter(Admitted | Refusal)
_BEGINS: Final = frozenset({JobKind.START, JobKind.RETRY, JobKind.REQUEUE})
_RUN: Final = TypeAdapter(str)
_TOLD: Final = TypeAdapter(bool)
TOLD_AGAIN_AFTER: Final = timedelta(hours=1)


class CourseOfJob:
    """A `bot.engine.outcome.Taking` for one job."""

    def __init__(self, errand: Errand, mirrors: Mirrors, forget: Forget) -> None:
        self._errand, self._mirrors = errand, mirrors
        self._leaving, self._pausing = Leaving(errand), Pausing(errand)
        self._commands = Commands(errand, self._leaving, forget)

    def receive(self, _: Job) -> Outcome:
        try:
            return self._receive()
        except LetGo:
            raise
        except (Moved, Gone, NotThere) as gone:
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
        errand, course = self._errand, self._course()
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
                admitted = self._admitted(commanded=commanded)
                wish = Wish(
                    admitted=admitted if isinstance(admitted, Admitted) else None,
                    asked=self._is_asked(anew=isinstance(admitted, Admitted)),
                    commanded=commanded,
                )
                return self._advance(self._identity(), wish)

    def progress(self, _: Job) -> int:
        steps = self._errand.steps.count()
        course = self._course()
        finished = self._errand.app.stores.steps.of(course.run) if course else ()
        return steps + sum(1 for step in finished if step.finished)

    def bury(self, _: Job, why: str) -> None:
        """Give the job up: its run waits for a version that mends it, and people are told, if that can be done."""
        if self._errand.job.kind in _BEGINS:
            self._pausing.came(ParkCause.PROGRAM.value)
        course = self._course()
        if course is None:
            self._bury_unbegun(why)
        elif (run := self._errand.run(course.run)).open:
            again = f"{why}; `/ticketsmith retry` tries it once more"
            runs = self._errand.app.stores.runs
            parked = runs.set_state(run.id, RunState.PARKED, cause=ParkCause.PROGRAM, reason=again)
            self._softly(run.id, lambda: self._leaving.parked(parked, course, self._pausing.note()))

    def _bury_unbegun(self, why: str) -> None:
        """Tell people of a run that was announced, and never began."""
        errand, run = self._errand, self._errand.steps.kept(CourseStep.IDENTITY, _RUN)
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
        errand, job, course = self._errand, self._errand.job, self._course()
        if (mine := errand.steps.kept(CourseStep.IDENTITY, _RUN)) is not None:
            # It was received by a process that died, or it has waited.
            if errand.steps.kept(CourseStep.ANNOUNCE, _TOLD) and (waits := self._held(RunId(mine))):
                return waits
            there = errand.app.stores.runs.find(RunId(mine))
            return ToWork() if there else self._announce(commanded=job.kind is not JobKind.START)
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
                return self._commands.stop(course)
            case JobKind.FORGET:
                return self._commands.forget(argument)
            case JobKind.REQUEUE:
                outcome = self._commands.requeue(course, argument)
            case _:
                outcome = self._commands.retry(course)
        if isinstance(outcome, ToWork) and self._begins_anew(course):
            return self._announce(commanded=True)
        return outcome

    def _start(self, course: Course | None) -> Outcome:
        if course is not None and (run := self._errand.run(course.run)).open:
            # A label on an issue whose run waits for a person is that person's word, and so is a call of the operator.
            called = self._errand.job.actor is None and run.state in (RunState.PARKED, RunState.WORKING)
            waits = run.state is RunState.PARKED and run.wake is None
            return ToWork() if called or waits else Settled(outcome="joined its run")
        return self._announce(commanded=False)

    def _announce(self, *, commanded: bool) -> Outcome:
        """Admit the issue, and say so before any long work."""
        errand = self._errand
        admitted = self._admitted(commanded=commanded)
        if isinstance(admitted, Refusal):
            if admitted.told and not self._told_lately():
                errand.answer(f"Not begun: {admitted.why}.")
            return Settled(outcome=f"refused: {admitted.why}")
        run = self._identity()
        errand.once(CourseStep.ANNOUNCE, _TOLD, lambda: self._show(run))
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

    def _admitted(self, *, commanded: bool) -> Answered:
        errand = self._errand
        if not self._begins_anew(self._course()):
            return Refusal(why="its run goes on")
        return errand.once(CourseStep.ADMIT, _ADMITTED, lambda: admit(errand, commanded=commanded))

    def _identity(self) -> RunId:
        """The run of this job: the open one of its issue, else one that is still to be written down."""
        errand = self._errand

        def chosen() -> str:
            course = self._course()
            if course is not None and not self._begins_anew(course):
                return course.run
            return self._announced() or errand.app.stores.runs.new_id()

        return RunId(errand.once(CourseStep.IDENTITY, _RUN, chosen))

    def _announced(self) -> str:
        """The run that another job of this issue announced, and that waits for its turn."""
        errand = self._errand
        others = (one for one in errand.jobs.of_issue(errand.ref.id, errand.number) if one.id != errand.job.id)
        for other in others:
            run = JobSteps(errand.app.book, other.id).kept(CourseStep.IDENTITY, _RUN)
            if run and other.state is JobState.TAKEN and errand.app.stores.runs.find(RunId(run)) is None:
                return run
        return ""

    def _begins_anew(self, course: Course | None) -> bool:
        return course is None or not self._errand.run(course.run).open

    def _told_lately(self) -> bool:
        """One refusal is enough for a while, however often it is tried."""
        errand = self._errand
        jobs = errand.jobs.of_issue(errand.ref.id, errand.number)
        return any(
            one.id != errand.job.id and one.outcome.startswith("refused") and errand.now() - one.at < TOLD_AGAIN_AFTER
            for one in jobs
        )

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

    def _course(self) -> Course | None:
        """The course that the job is about: of its pull request or commit, else the newest of its issue."""
        errand, data = self._errand, self._errand.job.data
        pull = getattr(data, "pull", None)
        if isinstance(pull, int) and (found := errand.courses.of_pull(errand.ref, pull)):
            return found
        if isinstance(data, FollowUp) and (found := errand.courses.of_head(errand.ref, data.head)):
            return found
        if not errand.number:
            return None
        return next(iter(errand.courses.of_issue(errand.ref, errand.number)), None)
