"""The job that publishes: it may write, so it runs nothing, and checks again whatever the bundle says."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.app import App
from bot.ci.bundle import Bundle, BundleState, BundleUnusable, read_bundle
from bot.ci.earlier import with_earlier_push
from bot.ci.job import errand_of
from bot.ci.records import Records
from bot.ci.trail import lay
from bot.ci.working import judges
from bot.course.course import Course, PullState
from bot.course.delivery import Delivery
from bot.course.errand import Errand
from bot.course.errors import MayNotAct
from bot.course.leaving import Leaving
from bot.course.markdown import plain
from bot.course.may import May
from bot.course.outcomes import is_ending
from bot.course.parking import parking_of
from bot.course.texts import Now
from bot.errors import BotError
from bot.forge.github import Forge
from bot.job import JobKind, NewJob
from bot.log import Log
from bot.publishing import branch_name, commit_message
from bot.repository_config import policy_of
from bot.run import Run, RunState
from bot.sources import default_commit, read_config
from bot.verify import QUIET
from bot.witness import outcome_of
from memory.errors import Told
from memory.log import merged, restore
from memory.types import CommitId, EndingKind, Verify, VerifyOutcome
from stages.admission import Admission
from stages.diff import compare
from stages.errors import ParkCause
from stages.git import Git, GitFailed
from stages.patch import Patch
from stages.remote import follows, trusted
from stages.repository import Repository

LEFT_NOTHING: Final = "the job that worked on it ended without a result, its log says why"
REFUSED: Final = "what the job that worked on it left was refused, the log of the job after it says why"
_OF_ATTEMPTS: Final = frozenset({BundleState.PUBLISHED, BundleState.PARKED, BundleState.ENDED})
_OF_JUDGED: Final = frozenset({BundleState.ENDED, BundleState.STANDS})
_QUIET: Final = outcome_of(Verify(outcome=VerifyOutcome.UNVERIFIED))


class BundleRefused(BotError):
    """Nothing is published: {reason}."""


class PublishingJob:
    """Publishes what one bundle says of one event. `repository` is a fresh checkout of the default branch."""

    def __init__(
        self,
        app: App,
        forge: Forge,
        repository: Repository,
        log: Log,
        *,
        me: int | None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._app, self._forge, self._repository, self._log, self._me = app, forge, repository, log, me
        self._sleep = sleep

    def publish(self, job: NewJob, number: int, path: Path) -> str:
        """What was done with the bundle at `path`, in words.

        Where it is missing, or refused, people are told so and the run waits for one. Raises BundleRefused,
        BundleUnusable, and what the forge and the outbox raise.
        """
        errand = self._errand(job, number)
        records = Records(errand, self._repository, writes=True)
        course = records.bring().course
        if course is None:
            return "no longer wanted: its run is over"
        run = errand.run(course.run)
        if not path.exists():
            self._nothing_came(errand, run, course, LEFT_NOTHING)
            records.keep()
            return LEFT_NOTHING
        try:
            said = self._of_run(errand, run, course, _about(errand, run, read_bundle(path)))
        except (BundleRefused, BundleUnusable):
            self._nothing_came(errand, run, course, REFUSED)
            records.keep()
            raise
        records.keep()
        return said

    def _nothing_came(self, errand: Errand, run: Run, course: Course, why: str) -> None:
        if run.state is RunState.PUBLISHED:
            errand.tell(run, course, Now(note=f"Not verified yet: {why}"))
            return
        reason = f"{why}; `/ticketsmith retry` tries again"
        parked = self._app.stores.runs.set_state(run.id, RunState.PARKED, cause=ParkCause.ENVIRONMENT, reason=reason)
        Leaving(errand).parked(parked, course)

    def _errand(self, job: NewJob, number: int) -> Errand:
        return errand_of(job, number, self._app, self._forge, self._log, me=self._me, sleep=self._sleep)

    def _of_run(self, errand: Errand, run: Run, course: Course, bundle: Bundle) -> str:
        judged = judges(errand.job, run)
        tree = self._checked(bundle) if bundle.state is BundleState.PUBLISHED else ""
        self._check_ending(errand, run, course, bundle, judged=judged)
        run = self._taken_over(run, bundle)
        try:
            if not judged:
                May(errand).act(course)
        except MayNotAct as no_more:
            stopped = self._app.stop(run, no_more.cause)
            Leaving(errand).silently(stopped, course)
            return f"no longer wanted: {no_more.why}"
        except Told as kept_back:
            return self._parked(errand, run, course, kept_back)
        run = self._stands(run, bundle, tree)
        restore(self._app.stores.memory, _of_run(bundle.log, bundle.run, run.ticket.id, judged=judged), run.scope)
        course = with_earlier_push(errand, self._repository, course)
        match bundle.state:
            case BundleState.PUBLISHED:
                return self._delivered(errand, run, course)
            case BundleState.PARKED:
                Leaving(errand).parked(run, course)
                return "parked"
            case BundleState.STANDS:
                errand.tell(run, course, Now(note=f"Not verified yet: {plain(bundle.said)}"))
                return "not verified yet"
            case BundleState.ENDED:
                Leaving(errand).ended(run, course)
                return f"ended: {run.outcome}"

    def _delivered(self, errand: Errand, run: Run, course: Course) -> str:
        """Bring the patch out; where GitHub does not let us, say on the issue what keeps it."""
        kind = errand.job.kind
        # Who sets the label, or says `retry`, wants the patch whatever was closed or taken over; a note does not.
        asked = kind in (JobKind.START, JobKind.RETRY) or (kind is JobKind.REQUEUE and course.pushed is None)
        try:
            course = Delivery(errand, May(errand), asked=asked).deliver(run, course)
        except Told as kept_back:
            return self._parked(errand, run, course, kept_back)
        return f"published: {f'#{course.pull}' if course.pull else course.branch or 'the patch'}"

    def _parked(self, errand: Errand, run: Run, course: Course, kept_back: Told) -> str:
        parking = parking_of(kept_back, errand.now())
        if parking is None:
            raise kept_back
        runs = self._app.stores.runs
        parked = runs.set_state(run.id, RunState.PARKED, cause=parking.cause, reason=parking.reason)
        Leaving(errand).parked(parked, errand.courses.of(run.id) or course)
        return f"parked: {parking.reason}"

    # --- The patch -------------------------------------------------------------------------------------------------

    def _checked(self, bundle: Bundle) -> str:
        """The tree of a patch that keeps all rules which code can see. Raises BundleRefused."""
        git, base = self._repository.git, CommitId(bundle.base)
        known = bool(base) and git.ask("cat-file", "-e", f"{base}^{{commit}}") is not None
        if not known or not follows(git, default_commit(self._repository), base):
            raise BundleRefused(reason="its base is no commit of the default branch")
        with trusted(git) as clean:
            assert clean.git_dir is not None
            (clean.git_dir / "info").mkdir(exist_ok=True)
            patch = compare(clean, clean.git_dir, base, _tree(clean, base, bundle.diff))
        for problem in self._problems(patch, base):
            raise BundleRefused(reason=problem)
        return _tree(git, base, bundle.diff)

    def _problems(self, patch: Patch, base: CommitId) -> Iterator[str]:
        if not patch:
            yield "its patch changes nothing"
        if patch.cut:
            yield "its patch is too long to be looked at"
        config = read_config(self._repository, base)
        admission = Admission(policy=policy_of(config), scrubber=self._app.scrubber)
        yield from (f"its patch breaks a rule: {violation}" for violation in admission.violations(patch))
        yield from (f"a secret stands in line {leak.first} of {leak.path!r}" for leak in admission.leaks(patch))

    # --- The run ---------------------------------------------------------------------------------------------------

    def _check_ending(self, errand: Errand, run: Run, course: Course, bundle: Bundle, *, judged: bool) -> None:
        """Raises BundleRefused for what no job can know, or has not been asked for."""
        if bundle.state not in (_OF_JUDGED if judged else _OF_ATTEMPTS):
            raise BundleRefused(reason="it answers what was not asked")
        if bundle.state is not BundleState.ENDED:
            return
        if not is_ending(bundle.said) or (bundle.said.startswith(EndingKind.VERIFY) and not judged):
            raise BundleRefused(reason="it names no ending of such a run")
        if not judged or (bundle.said == _QUIET and errand.now() - run.updated >= QUIET):
            return
        if course.pull_state is not PullState.MERGED or not self._forge.pull(errand.ref, course.pull or 0).merged:
            raise BundleRefused(reason="its pull request was not merged")

    def _taken_over(self, run: Run, bundle: Bundle) -> Run:
        """The run as far as the other job took it: what it did and saw, and what it spent."""
        runs = self._app.stores.runs
        runs.stand_at(run.id, bundle.generation, bundle.attempt)
        runs.save_spent(run.id, bundle.spent)
        lay(self._app, run, bundle.trail)
        return runs.get(run.id)

    def _stands(self, run: Run, bundle: Bundle, tree: str) -> Run:
        """The run where the other job left it; `tree` is that of its patch."""
        runs = self._app.stores.runs
        match bundle.state:
            case BundleState.PUBLISHED:
                git, message = self._repository.git, commit_message(run).encode()
                # Dated as its base is: whoever publishes the same bundle again makes the same commit.
                dates = git.run("show", "-s", "--format=%ct +0000", run.base).decode().strip()
                made = git.run("commit-tree", "-p", run.base, "-F", "-", tree, stdin=message, dates=dates)
                runs.save_patch(run.id, bundle.diff)
                runs.save_branch(run.id, branch_name(run), CommitId(made.decode().strip()))
                return runs.set_state(run.id, RunState.PUBLISHED)
            case BundleState.PARKED:
                cause = bundle.cause or ParkCause.PROGRAM
                return runs.set_state(run.id, RunState.PARKED, cause=cause, reason=bundle.said)
            case BundleState.STANDS:
                return run
            case BundleState.ENDED:
                return runs.set_state(run.id, RunState.ENDED, outcome=bundle.said)


def _about(errand: Errand, run: Run, bundle: Bundle) -> Bundle:
    """The bundle, which is about this run. Raises BundleRefused for one that is about another."""
    if (bundle.repository, bundle.number) != (errand.ref.id, errand.number):
        raise BundleRefused(reason="the bundle is about another issue than the event")
    if (bundle.run, bundle.base) != (run.id, run.base):
        raise BundleRefused(reason="it is about another run, or another base, than was begun")
    return bundle


def _of_run(log: str, run: str, ticket: str, *, judged: bool) -> str:
    """Lines of this run. None that says how a patch did where it was merged, unless just that was looked at."""
    lines = ((line, json.loads(line)) for line in merged(log).splitlines())
    own = ((line, value) for line, value in lines if (value.get("run"), value.get("ticket")) == (run, ticket))
    return "".join(f"{line}\n" for line, value in own if judged or value.get("kind") != EndingKind.VERIFY)


def _tree(git: Git, base: CommitId, diff: str) -> str:
    """The base with the patch, as a tree. Raises BundleRefused where it does not fit."""
    with tempfile.TemporaryDirectory() as folder:
        indexed = replace(git, index=Path(folder) / "index")
        indexed.run("read-tree", base)
        if diff:
            try:
                indexed.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=diff.encode("utf-8", "replace"))
            except GitFailed as error:
                raise BundleRefused(reason="its patch does not fit its base") from error
        return indexed.run("write-tree").decode().strip()
