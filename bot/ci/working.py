"""The job that works: it runs the checks of the repository and asks the model, and can write nowhere but its bundle.

What it works on was written down by the job that received the event, on the memory's branch; see `bot.ci.standing` for
what is there, and what is made anew.
"""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from bot.app import App
from bot.ci.bundle import Bundle, BundleState
from bot.ci.job import Nothing, errand_of, is_by_time
from bot.ci.records import Records
from bot.ci.trail import PINNED_ANEW, trail_of
from bot.course.course import Course
from bot.errors import NotMerged, NotPublished, NotVerified
from bot.failures import renew_keys
from bot.forge.github import Forge
from bot.job import Deployed, JobKind, NewJob
from bot.log import Log
from bot.progress import Progress
from bot.run import Run, RunState
from bot.sent_back import next_attempt
from bot.sources import default_commit, fresh, read_config
from memory.log import written
from memory.types import CommitId, MemoryVersion
from stages.diff import compare
from stages.errors import Parked
from stages.remote import follows, trusted
from stages.repository import Repository

_STATES: Final = {
    RunState.PUBLISHED: BundleState.PUBLISHED,
    RunState.PARKED: BundleState.PARKED,
    RunState.WORKING: BundleState.PARKED,
    RunState.ENDED: BundleState.ENDED,
}
_VERSION: Final = TypeAdapter(MemoryVersion)
PUBLISH: Final = "publish"


class WorkingJob:
    """One run of one issue. `repository` is the checkout of the default branch."""

    def __init__(self, app: App, forge: Forge, repository: Repository, log: Log) -> None:
        self._app, self._forge, self._repository, self._log = app, forge, repository, log

    def work(self, job: NewJob, number: int, progress: Progress) -> Bundle | Nothing:
        """Take the open run of the issue as far as it goes; nothing where there is none any more.

        Raises RemoteFault, and what `App.check` and `App.pursue` raise.
        """
        errand = errand_of(job, number, self._app, self._forge, self._log)
        course = Records(errand, self._repository).bring().course
        if course is None:
            return Nothing(why="its run is over")
        run = self._app.stores.runs.get(course.run)
        if judges(job, run):
            return self._judged(run, job, course, progress)
        return self._bundle(self._pursued(run, progress), course)

    # --- An attempt ------------------------------------------------------------------------------------------------

    def _pursued(self, run: Run, progress: Progress) -> Run:
        self._app.check(self._repository)
        steps = self._app.stores.steps
        went_out = any(one.name == PUBLISH and one.attempt == run.attempt and one.finished for one in steps.of(run.id))
        if went_out and next_attempt(steps, run) == run.attempt:
            # The branch that an earlier job made is not in this checkout: the same patch goes on one again.
            steps.start(run.id, PUBLISH, attempt=run.attempt)
        return self._app.pursue(run, progress)

    def _diff(self, run: Run) -> str:
        """The patch as git shows it between the base and the commit that passed."""
        if run.state is not RunState.PUBLISHED or run.commit is None:
            return ""
        with trusted(self._repository.git) as clean:
            assert clean.git_dir is not None
            (clean.git_dir / "info").mkdir(exist_ok=True)
            return compare(clean, clean.git_dir, run.base, run.commit).diff

    # --- A verdict on what was merged ------------------------------------------------------------------------------

    def _judged(self, run: Run, job: NewJob, course: Course, progress: Progress) -> Bundle:
        try:
            return self._bundle(self._verified(run, job, course, progress), course, merged=True)
        except (NotVerified, NotMerged, NotPublished, Parked) as unknown:
            said = " ".join(str(unknown).split())
            return self._bundle(self._app.stores.runs.get(run.id), course, merged=True, said=said)

    def _verified(self, run: Run, job: NewJob, course: Course, progress: Progress) -> Run:
        commit = course.merged
        if isinstance(job.data, Deployed) and job.data.commit:
            commit = CommitId(job.data.commit)
            if course.merged and not follows(self._repository.git, commit, course.merged):
                raise NotMerged(run=run.id, commit=commit[:7], branch=course.branch)
        if course.merged:
            run = self._app.merged(run, course.merged)
        self._pin(run)
        return self._app.verify(run, commit, progress)

    def _pin(self, run: Run) -> None:
        """The memory as it is now: what a run of another job had pinned has no number here."""
        stores, default = self._app.stores, default_commit(self._repository)
        config = read_config(self._repository, default)
        renew_keys(stores, run.scope, self._repository, run.base)
        version = fresh(stores.memory, run.scope, self._repository, default, config, stores.now())
        stores.steps.finish(run.id, PINNED_ANEW, _VERSION, version)

    # --- What is left ----------------------------------------------------------------------------------------------

    def _bundle(self, run: Run, course: Course, *, merged: bool = False, said: str = "") -> Bundle:
        state = BundleState.STANDS if merged and run.open else _STATES[run.state]
        return Bundle(
            repository=course.ref.id,
            number=course.number,
            state=state,
            said=said or (run.outcome if run.state is RunState.ENDED else run.park_reason),
            cause=run.park_cause,
            run=run.id,
            base=run.base,
            generation=run.generation,
            attempt=run.attempt,
            diff="" if merged else self._diff(run),
            spent=run.spent,
            trail=trail_of(self._app, run),
            log=written(self._app.stores.memory.endings(run.scope, run.id)),
        )


def judges(job: NewJob, run: Run) -> bool:
    """Whether the event wants a patch judged that is out, and no attempt made."""
    if is_by_time(job):
        return run.state is RunState.PUBLISHED
    return job.kind in (JobKind.CLOSED, JobKind.VERIFY)
