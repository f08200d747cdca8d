"""The job that publishes: it may write, so it runs nothing, and checks again whatever the bundle says."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from bot.app import App
from bot.ci.bundle import Bundle, BundleState, unpack
from bot.ci.job import errand_of
from bot.ci.memory_branch import MemoryBranch
from bot.course.admission import Admitted, Refusal, admit
from bot.course.course import Course
from bot.course.delivery import Delivery
from bot.course.errand import Errand
from bot.course.leaving import Leaving
from bot.course.may import May
from bot.course.outcomes import is_ending
from bot.course.parking import parking_of
from bot.errors import BotError
from bot.forge.github import Forge
from bot.job import JobKind, NewJob
from bot.log import Log
from bot.publishing import branch_name, commit_message
from bot.repository_config import policy_of
from bot.run import Opening, Run, RunState
from bot.sources import default_commit, read_config
from memory.errors import Told
from memory.log import merged, restore, written
from memory.types import CommitId, EndingKind, RunId
from stages.admission import Admission
from stages.diff import compare
from stages.errors import ParkCause
from stages.git import EMAIL, Git, GitFailed
from stages.patch import Patch
from stages.remote import fault, follows, trusted
from stages.repository import Repository
from stages.ticket import Ticket

_FETCH_SECONDS: Final = 120.0
_EARLIER: Final = "refs/ticketsmith/earlier"


class BundleRefused(BotError):
    """Nothing is published: {reason}."""


class PublishingJob:
    """Publishes what one bundle says of one event. `repository` is a fresh checkout of the default branch."""

    def __init__(self, app: App, forge: Forge, repository: Repository, log: Log, *, me: int | None) -> None:
        self._app, self._forge, self._repository, self._log, self._me = app, forge, repository, log, me

    def publish(self, job: NewJob, bundle: Bundle) -> str:
        """What was done, in words. Raises BundleRefused, and what the forge and the outbox raise."""
        if (bundle.repository, bundle.number) != (job.ref.id, job.number):
            raise BundleRefused(reason="the bundle is about another issue than the event")
        errand = errand_of(job, self._app, self._forge, self._log, me=self._me)
        commanded = job.kind is not JobKind.START
        admitted = admit(errand, commanded=commanded)
        if isinstance(admitted, Refusal):
            if bundle.state is not BundleState.REFUSED:
                return f"no longer wanted: {admitted.why}"
            if admitted.told:  # in our own words: those of the bundle could be anybody's
                errand.answer(f"Not begun: {admitted.why}.")
            return f"refused: {admitted.why}"
        if bundle.state is BundleState.REFUSED:
            return "refused by the job before, and not by this one: nothing is told"
        said = self._told(errand, bundle, admitted, commanded=commanded)
        self._remember(job, bundle)
        return said

    def _told(self, errand: Errand, bundle: Bundle, admitted: Admitted, *, commanded: bool) -> str:
        tree = self._checked(bundle) if bundle.state is BundleState.PUBLISHED else ""
        run, course = self._taken_over(errand, bundle, admitted, commanded=commanded)
        run = self._stands(run, bundle, tree)
        course = self._with_earlier_push(errand, run, course)
        match bundle.state:
            case BundleState.PUBLISHED:
                return self._delivered(errand, run, course, asked=commanded)
            case BundleState.PARKED:
                Leaving(errand).parked(run, course)
                return "parked"
            case _:
                Leaving(errand).ended(run, course)
                return f"ended: {run.outcome}"

    def _delivered(self, errand: Errand, run: Run, course: Course, *, asked: bool) -> str:
        """Bring the patch out; where GitHub does not let us, say on the issue what keeps it."""
        try:
            course = Delivery(errand, May(errand), asked=asked).deliver(run, course)
        except Told as fault:
            parking = parking_of(fault, errand.now())
            if parking is None:
                raise
            runs = self._app.stores.runs
            parked = runs.set_state(run.id, RunState.PARKED, cause=parking.cause, reason=parking.reason)
            Leaving(errand).parked(parked, errand.courses.of(run.id) or course)
            return f"parked: {parking.reason}"
        return f"published: {f'#{course.pull}' if course.pull else course.branch or 'the patch'}"

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

    def _taken_over(self, errand: Errand, bundle: Bundle, admitted: Admitted, *, commanded: bool) -> tuple[Run, Course]:
        """The run of the other job, written down here: what it is called, and what it saw."""
        if not bundle.run or not bundle.base:
            raise BundleRefused(reason="it names no run")
        info = self._forge.repository(errand.ref)
        ticket = Ticket(
            id=errand.ticket, title=admitted.title, body=admitted.body, author=admitted.author, number=errand.number
        )
        run = self._app.stores.runs.create(
            Opening(
                scope=self._app.scope(self._repository),
                ticket=ticket,
                base=CommitId(bundle.base),
                place=str(self._repository.folder),
                id=RunId(bundle.run),
            )
        )
        run = self._app.stores.runs.begin_attempt(run.id, bundle.attempt)
        unpack(self._app.stores.events, run.id, bundle.facts)
        course = Course(
            run=run.id,
            ref=errand.ref,
            number=errand.number,
            actor=admitted.actor,
            commanded=commanded,
            private=info.private,
            base=info.default_branch,
        )
        return run, errand.courses.begin(course)

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
            case _:
                if not is_ending(bundle.said) or bundle.said.startswith(EndingKind.VERIFY):
                    raise BundleRefused(reason="it names no ending of such a run")
                return runs.set_state(run.id, RunState.ENDED, outcome=bundle.said)

    def _with_earlier_push(self, errand: Errand, run: Run, course: Course) -> Course:
        """No database says what an earlier job pushed: a branch on which every commit was made by us is our own."""
        name = branch_name(run)
        head = self._forge.branch_head(errand.ref, name)
        if head is None or not self._is_ours(errand, name, head):
            return course
        return errand.courses.change(run.id, branch=name, pushed=head)

    def _is_ours(self, errand: Errand, branch: str, head: str) -> bool:
        git, remote = self._repository.git, self._forge.remote(errand.ref)
        said = remote.reached_by(git, seconds=_FETCH_SECONDS).try_to(
            "fetch", "--quiet", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head",
            remote.url, f"+refs/heads/{branch}:{_EARLIER}",
        )  # fmt: skip
        if said.status != 0:
            raise fault(remote.url, said)
        default = default_commit(self._repository)
        made_by = git.run("log", "--format=%ae%x00%ce", f"{default}..{head}").decode("utf-8", "replace").splitlines()
        return bool(made_by) and set(made_by) == {f"{EMAIL}\0{EMAIL}"}

    # --- Memory ----------------------------------------------------------------------------------------------------

    def _remember(self, job: NewJob, bundle: Bundle) -> None:
        """Add the endings of this run, and of no other, to the log on the branch. They go through memory's slots."""
        memory, scope = self._app.stores.memory, self._app.scope(self._repository)
        restore(memory, _of_run(bundle.log, bundle.run, f"issue:{job.number}"), scope)
        log = written(memory.endings(scope, RunId(bundle.run)))
        if log:
            branch = MemoryBranch(self._repository.git, lambda: self._forge.remote(job.ref, writes=True))
            branch.add(log)


def _of_run(log: str, run: str, ticket: str) -> str:
    """Lines of this run; none that says how a patch did where it was merged, which no such run can know."""
    lines = ((line, json.loads(line)) for line in merged(log).splitlines())
    own = ((line, value) for line, value in lines if (value.get("run"), value.get("ticket")) == (run, ticket))
    return "".join(f"{line}\n" for line, value in own if value.get("kind") != EndingKind.VERIFY)


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
