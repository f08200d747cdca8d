"""The job that looks: whom an event comes from, and which issues it is about. It can write nothing.

What it finds decides which concurrency group the jobs after it belong to. GitHub keeps one running and one waiting in a
group, so only those join an issue's own group who may write there at this moment, and what happens to our own branch.
Only a person who may write can have the running job of an issue cancelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.app import App
from bot.ci.job import errand_of, is_by_time
from bot.ci.memory_branch import MemoryBranch, Remembered
from bot.ci.records import Records, lines_of, open_runs
from bot.ci.standing import Standing
from bot.course.admission import Refusal, may_ask, permission_of
from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.follow_up import FollowUps, NoHold
from bot.course.parking import wake_of
from bot.engine.outcome import Waits
from bot.forge.github import Forge
from bot.forge.types import Permission
from bot.intake.event import issue_of_branch
from bot.job import Closed, Deployed, FollowUp, FollowUpReason, Job, JobKind, NewJob, Unlabelled
from bot.jobs import Jobs
from bot.log import Log
from bot.reconciling import Reconciler
from bot.run import RunState
from bot.verify import QUIET
from stages.errors import ParkCause
from stages.repository import Repository

ISSUES_AT_MOST: Final = 20  # of one event
DIED_AFTER: Final = timedelta(hours=6)  # no job of GitHub's own machines goes on for longer
_DIGITS: Final = 19  # of the number of an issue: people can write on the branch
_GOES_ON: Final = (RunState.WORKING, RunState.PUBLISHED)  # without anybody's word


@dataclass(frozen=True, kw_only=True)
class Look:
    """The issues that jobs go on with; none when there is nothing to do, and why.

    `aside` says that they stay out of the issue's own group, `stops` that they cancel what is at work in it.
    """

    why: str
    issues: tuple[int, ...] = ()
    aside: bool = False
    stops: bool = False


class LookingJob:
    """Looks at one event. `repository` is a checkout of the default branch."""

    def __init__(self, app: App, forge: Forge, repository: Repository, log: Log) -> None:
        self._app, self._forge, self._repository, self._log = app, forge, repository, log

    def look(self, job: NewJob) -> Look:
        """Raises RemoteFault, and the errors of the forge."""
        there = MemoryBranch(self._repository.git, lambda: self._forge.remote(job.ref)).read()
        runs = open_runs(there)
        if is_by_time(job):
            return self._look_around(job, there, runs)
        numbers = self._numbers(job, runs)
        if not numbers:
            return Look(why="ignored: no run of ours")
        if isinstance(job.data, Deployed):
            return Look(why="merged patches were deployed", issues=numbers[:ISSUES_AT_MOST])
        (number,) = numbers
        errand = errand_of(job, number, self._app, self._forge, self._log)
        course = Records(errand, self._repository).bring(there).course
        return self._of_issue(errand, course)

    # --- Which issues ----------------------------------------------------------------------------------------------

    def _numbers(self, job: NewJob, runs: Mapping[int, Standing]) -> tuple[int, ...]:
        data = job.data
        if isinstance(data, Deployed):  # it says something of every patch that was merged
            return tuple(sorted(number for number, one in runs.items() if one.course.get("merged")))
        if job.number:
            return (job.number,)
        if isinstance(pull := getattr(data, "pull", None), int):
            found = self._forge.pull(job.ref, pull)
            ours = issue_of_branch(found.head_ref) if found.head_repository_id == job.ref.id else None
            return (ours,) if ours else ()
        head = data.head if isinstance(data, FollowUp) else ""
        return tuple(number for number, one in runs.items() if head and one.course.get("pushed") == head)[:1]

    def _look_around(self, job: NewJob, there: Remembered, runs: Mapping[int, Standing]) -> Look:
        """Patches that were merged or are quiet, runs whose jobs died, and labelled issues that never began."""
        due = [number for number, one in runs.items() if self._is_due(one)]
        begun = {*runs, *(_issue(line.get("ticket")) for line in lines_of(there.log))}
        new = [one.number for one in never_begun(job, self._app, self._forge, self._log) if one.number not in begun]
        return Look(why="looked around", issues=tuple(sorted({*due, *new}))[:ISSUES_AT_MOST])

    def _is_due(self, standing: Standing) -> bool:
        """Whether it was merged, is quiet for long, waits for something that passes by itself, or its job is gone."""
        run = standing.run
        try:
            updated = datetime.fromisoformat(str(run.get("updated")))
            age = self._app.book.now() - updated
            cause = ParkCause(str(run["park_cause"])) if run.get("park_cause") else None
        except (TypeError, ValueError):  # people can write on the branch
            return False
        match run.get("state"):
            case RunState.PUBLISHED:
                return bool(standing.course.get("merged")) or age >= QUIET
            case RunState.PARKED:
                wake = wake_of(cause, updated)
                return wake is not None and wake <= self._app.book.now()
            case RunState.WORKING:
                return age >= DIED_AFTER
            case _:
                return False

    # --- What becomes of it ----------------------------------------------------------------------------------------

    def _of_issue(self, errand: Errand, course: Course | None) -> Look:
        job, issues = errand.job, (errand.number,)
        match job.kind:
            case JobKind.WHY | JobKind.HELP | JobKind.FORGET:
                answered = self._permission(errand).triages
                why = "a question" if answered else "ignored: not of somebody who works on the repository"
                return Look(why=why, issues=issues if answered else (), aside=True)
            case JobKind.FOLLOW_UP:
                return self._follow_up(errand, course)
            case JobKind.CLOSED:
                return self._closed(errand, course)
            case JobKind.GONE:  # only those who may write can move an issue, or delete it
                return Look(why="gone", issues=issues if course else (), stops=True)
            case _:
                return self._asked(errand, course)

    def _asked(self, errand: Errand, course: Course | None) -> Look:
        """A label, or a command: of those who may write, and of those who are told that they may not."""
        job, issues = errand.job, (errand.number,)
        stops, unlabelled = job.kind is JobKind.STOP, isinstance(job.data, Unlabelled)
        if unlabelled and course is None:
            return Look(why="ignored: no run of ours")
        if job.kind is JobKind.START and course is not None and errand.run(course.run).state in _GOES_ON:
            return Look(why="ignored: joined its run")
        refusal = may_ask(errand, job.actor) if job.actor else Refusal(why="nobody is known who asked")
        if refusal is None:
            return Look(why=job.kind.value, issues=issues, stops=stops)
        # Whoever takes the label away can do that: the run ends, and a job that is at work finds it over.
        answered = refusal.told or unlabelled
        return Look(why=f"refused: {refusal.why}", issues=issues if answered else (), aside=True)

    def _follow_up(self, errand: Errand, course: Course | None) -> Look:
        data = errand.job.data
        assert isinstance(data, FollowUp), "of this kind"
        if course is None:
            return Look(why="ignored: no run of ours")
        run = errand.run(course.run)
        if run.state is not RunState.PUBLISHED or course.pull is None or course.hands_off:
            return Look(why=f"ignored: nothing to hold ({run.state.value})")
        # Else their word would push out the job of somebody who may, while that one's review is not answered yet.
        if data.reason is FollowUpReason.REVIEW and not self._permission(errand).writes:
            return Look(why="ignored: not of somebody who may write")
        match FollowUps(errand, data).found(run, course):
            case Waits() as later:
                return Look(why=f"ignored: {later.why}")
            case NoHold(over=False) as stands:
                return Look(why=f"ignored: {stands.why}")
            case _:
                return Look(why=f"follow-up: {data.reason.value}", issues=(errand.number,))

    def _closed(self, errand: Errand, course: Course | None) -> Look:
        """A merge is judged in its turn; where the run is given up, what is at work on it is cancelled."""
        data, issues = errand.job.data, (errand.number,)
        assert isinstance(data, Closed), "of this kind"
        if course is None or (data.pull is not None and data.pull != course.pull):
            return Look(why="ignored: no run of ours")
        if data.merged:
            return Look(why="merged", issues=issues)
        merged = course.pull_state is PullState.MERGED
        if merged or (course.pull is not None and errand.forge.pull(errand.ref, course.pull).merged):
            return Look(why="ignored: closed by the merge")
        writes = self._permission(errand).writes
        return Look(why="closed", issues=issues, aside=not writes, stops=writes)

    @staticmethod
    def _permission(errand: Errand) -> Permission:
        actor = errand.job.actor
        return permission_of(errand, actor) if actor else Permission.NONE


def never_begun(job: NewJob, app: App, forge: Forge, log: Log) -> tuple[Job, ...]:
    """Issues that carry the label for a while and none of ours, as jobs. Raises ForgeFault."""
    jobs = Jobs(app.book, web=forge.web)
    Reconciler(forge, jobs, app.settings.app, now=app.book.now, log=log).begin(job.ref)
    return tuple(one for one in jobs.waiting() if one.kind is JobKind.START)


def _issue(ticket: object) -> int:
    name = ticket.removeprefix("issue:") if isinstance(ticket, str) else ""
    return int(name) if name.isdecimal() and len(name) < _DIGITS else 0
