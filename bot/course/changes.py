"""What people do on GitHub with a run's issue and its pull request: close, merge, move, delete, deploy."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from bot.app import App
from bot.course.admission import is_labelled
from bot.course.breakers import BreakerStore
from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.leaving import Leaving
from bot.course.markdown import plain
from bot.course.mirrors import Mirrored, Mirrors
from bot.course.parking import parking_of
from bot.course.points import CourseStep
from bot.course.texts import Now
from bot.course.watching import Watching
from bot.engine.outcome import Outcome, Settled, ToWork, Waits
from bot.errors import BeingWorkedOn, LetGo, NotMerged, NotPublished, NotVerified, RunIsOver
from bot.forge.errors import Gone as GoneForGood
from bot.forge.errors import Moved, NotThere
from bot.forge.types import IssueInfo, OpenOrClosed
from bot.job import Closed, Deployed, Gone, GoneCause, NewJob
from bot.run import Run, RunState
from memory.errors import Told
from memory.types import CommitId, DropCause
from stages.remote import follows
from stages.repository import Repository

_MIRRORED: Final = TypeAdapter(Mirrored)
_LOOK_AGAIN: Final = timedelta(minutes=1)
_DROPPED: Final[Mapping[GoneCause, DropCause]] = {
    GoneCause.TRANSFERRED: DropCause.MOVED,
    GoneCause.REPOSITORY_TRANSFERRED: DropCause.MOVED,
    GoneCause.DELETED: DropCause.DELETED,
    GoneCause.REPOSITORY_DELETED: DropCause.DELETED,
}
"""Of what GitHub took away; where the App may only look no more, a person stopped it."""


class Changes:
    """Receives one change. Each looks at how things stand now, for events come late and in any order."""

    def __init__(self, errand: Errand, leaving: Leaving) -> None:
        self._errand, self._leaving = errand, leaving

    def unlabelled(self, course: Course | None) -> Outcome:
        """The label was taken away: end the run, if it is still away."""
        issue = self._issue()
        if isinstance(issue, IssueInfo) and is_labelled(issue, self._errand.settings.label):
            return Settled(outcome="the label is there again")
        if course is None or course.commanded:
            return Settled(outcome="no run that hangs on the label")
        if course.pull_state is PullState.MERGED:
            return Settled(outcome="its patch was merged")
        return self._drop(course, issue if isinstance(issue, DropCause) else DropCause.STOPPED)

    def closed(self, course: Course | None, data: Closed) -> Outcome:
        if course is None:
            return Settled(outcome="no run of ours")
        return self._closed_pull(course, data) if data.pull is not None else self._closed_issue(course)

    def gone(self, data: Gone) -> Outcome:
        """Nothing can be done there any more: of the issue, of these repositories, or of the whole installation."""
        errand, cause = self._errand, _DROPPED.get(data.cause, DropCause.STOPPED)
        if errand.number:
            found = errand.courses.of_issue(errand.ref, errand.number)[:1]
        elif data.repositories:
            found = tuple(one for number in data.repositories for one in errand.courses.unfinished(repository=number))
        else:
            found = errand.courses.unfinished(installation=errand.ref.installation)
        for course in found:
            self._leaving.stop(course, cause)
        if not errand.number:
            BreakerStore(errand.app.book).forget(errand.ref.installation, data.repositories)
        return Settled(outcome=f"{data.cause.value}: runs ended: {len(found)}")

    # --- inside ------------------------------------------------------------------------------------------------------

    def _closed_pull(self, course: Course, data: Closed) -> Outcome:
        errand = self._errand
        if data.pull != course.pull:
            return Settled(outcome="not the run's own pull request")
        if data.merged and data.merge_commit:
            errand.courses.change(
                course.run,
                pull_state=PullState.MERGED.value,
                merged=data.merge_commit,
                merged_at=course.merged_at or errand.job.at,
            )
            with suppress(RunIsOver):  # whoever works on another attempt writes no more
                errand.app.stores.runs.take(course.run)
            return ToWork()
        if course.pull_state is PullState.CLOSED_BY_US or (data.by and data.by.id == errand.me):
            return Settled(outcome="we closed it ourselves")
        course = errand.courses.change(course.run, pull_state=PullState.CLOSED_BY_HUMAN.value)
        return self._drop(course, DropCause.CLOSED_BY_HUMAN)

    def _closed_issue(self, course: Course) -> Outcome:
        """An issue that closes because our patch was merged is no end of the run: that is verified."""
        issue = self._issue()
        if isinstance(issue, IssueInfo) and issue.state is OpenOrClosed.OPEN:
            return Settled(outcome="it is open again")
        merged = course.pull_state is PullState.MERGED
        if not merged and course.pull is not None:
            merged = self._errand.forge.pull(self._errand.ref, course.pull).merged
        if merged:
            return Settled(outcome="closed by the merge")
        return self._drop(course, issue if isinstance(issue, DropCause) else DropCause.CLOSED_BY_HUMAN)

    def _issue(self) -> IssueInfo | DropCause | None:
        """The issue now; the cause for a drop where it is not there any more."""
        try:
            return self._errand.forge.issue(self._errand.ref, self._errand.number)
        except Moved:
            return DropCause.MOVED
        except (GoneForGood, NotThere):
            return DropCause.DELETED

    def _drop(self, course: Course, cause: DropCause) -> Outcome:
        run = self._leaving.stop(course, cause)
        if run is None:
            return Settled(outcome="its run was over")
        return Settled(outcome=run.outcome if not run.open else "told to stop")


class Judging:
    """Verifies a published patch where it was merged, on evidence that is dated after the merge."""

    def __init__(self, errand: Errand, mirrors: Mirrors, leaving: Leaving) -> None:
        self._errand, self._mirrors, self._leaving = errand, mirrors, leaving

    def deployed(self, course: Course | None, commit: str) -> Outcome:
        """A deployment went well: it says something of a patch that was merged before.

        Without a commit, it is time to look at the patch, merged or not.
        """
        if course is None or self._errand.run(course.run).state is not RunState.PUBLISHED:
            return Settled(outcome="no patch that waits for it")
        if not commit:
            return ToWork()
        if course.merged is None:
            return Settled(outcome="it is not merged")
        if course.merged_at is not None and self._errand.job.at < course.merged_at:
            return Settled(outcome="it is older than the merge")
        return ToWork()

    def everywhere(self, data: Deployed) -> Outcome:
        """A deployment that belongs to no branch of ours may hold any patch that was merged: each is looked at."""
        errand, job = self._errand, self._errand.job
        merged = [course for course in errand.courses.unfinished(repository=errand.ref.id) if course.merged]
        for course in merged:
            errand.jobs.wish(
                NewJob(
                    kind=job.kind,
                    ref=errand.ref,
                    number=course.number,
                    subject=f"deployed:{course.run}:{data.deployment}",
                    actor=None,
                    at=job.at,
                    data=data,
                )
            )
        return Settled(outcome=f"merged patches to look at: {len(merged)}")

    def work(self, course: Course, commit: CommitId | None) -> Outcome:
        """Run the reproduction and the checks on the commit."""
        errand = self._errand
        run = errand.run(course.run)
        if not run.open:
            self._leaving.ended(run, course)
            return Settled(outcome=run.outcome)
        try:
            mirrored = errand.once(
                CourseStep.MIRROR, _MIRRORED, lambda: self._mirrors.fetch(errand.forge.repository(errand.ref))
            )
            if commit and course.merged and not _holds(mirrored, commit, course.merged):
                return Settled(outcome="the merge is not in what was deployed")
            if course.merged:
                run = errand.app.merged(run, course.merged)
            run = errand.steps.each_time(CourseStep.JUDGE, lambda: verified(errand.app, run, commit))
        except BeingWorkedOn as other:
            return Waits(until=errand.now() + _LOOK_AGAIN, why=str(other))
        except (NotVerified, NotMerged, NotPublished) as unknown:
            if course.merged is None:
                return Settled(outcome=f"not verified: {type(unknown).__name__}")
            errand.tell(run, course, Now(note=f"Not verified yet: {plain(str(unknown))}"))
            return Settled(outcome=f"not verified: {type(unknown).__name__}")
        except LetGo:
            raise
        except Told as fault:
            parking = parking_of(fault, errand.now())
            if parking is None or parking.until is None:
                raise
            return Waits(until=parking.until, why=parking.cause.value)
        if not run.open:
            self._leaving.ended(run, course)
        return Settled(outcome=run.outcome or run.state.value)


def _holds(mirrored: Mirrored, commit: CommitId, merged: CommitId) -> bool:
    return follows(Repository.open(Path(mirrored.folder)).git, commit, merged)


def verified(app: App, run: Run, commit: CommitId | None) -> Run:
    """Judge it, without a word to anybody on the way."""
    if run.state is not RunState.PUBLISHED:
        raise NotPublished(run=run.id, state=run.outcome or run.state.value)
    return app.verify(run, commit, Watching(lambda _, __: None))
