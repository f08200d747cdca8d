"""The job that works: it reads GitHub, runs the checks of the repository, and can write nowhere but into its bundle."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.app import App
from bot.ci.bundle import Bundle, BundleState, carried
from bot.ci.job import errand_of
from bot.ci.memory_branch import MemoryBranch
from bot.course.admission import Admitted, Refusal, admit
from bot.forge.github import Forge
from bot.job import Command, JobKind, NewJob
from bot.log import Log
from bot.progress import Progress
from bot.run import Run, RunState
from memory.log import Restored, restore, written
from memory.types import TicketId
from stages.diff import compare
from stages.remote import trusted
from stages.repository import Repository
from stages.ticket import Comment, Ticket

_STATES: Final = {
    RunState.PUBLISHED: BundleState.PUBLISHED,
    RunState.PARKED: BundleState.PARKED,
    RunState.WORKING: BundleState.PARKED,
    RunState.ENDED: BundleState.ENDED,
}


class WorkingJob:
    """One run of one issue. `repository` is the checkout of the default branch."""

    def __init__(self, app: App, forge: Forge, repository: Repository, log: Log) -> None:
        self._app, self._forge, self._repository, self._log = app, forge, repository, log

    def remember(self, job: NewJob) -> Restored:
        """Read the log of endings from its branch into this job's database. Raises RemoteFault and ForgeFault."""
        branch = MemoryBranch(self._repository.git, lambda: self._forge.remote(job.ref))
        return restore(self._app.stores.memory, branch.read(), self._app.scope(self._repository))

    def work(self, job: NewJob, progress: Progress) -> Bundle:
        """Raises what `App.open_run` raises, and the errors of the forge."""
        commanded = job.kind is not JobKind.START
        answer = admit(errand_of(job, self._app, self._forge, self._log), commanded=commanded)
        begun = Bundle(repository=job.ref.id, number=job.number, state=BundleState.REFUSED)
        match answer:
            case Refusal():
                return replace(begun, said=answer.why, tell=answer.told)
            case Admitted():
                run = self._run(job, answer, progress)
        events = self._app.stores.events.of(run.id)
        told = run.outcome if run.state is RunState.ENDED else run.park_reason
        return replace(
            begun,
            state=_STATES[run.state],
            said=told,
            cause=run.park_cause,
            run=run.id,
            base=run.base,
            attempt=run.attempt,
            diff=self._diff(run),
            facts=carried(events, run.generation),
            log=written(self._app.stores.memory.endings(run.scope, run.id)),
        )

    def _run(self, job: NewJob, admitted: Admitted, progress: Progress) -> Run:
        ticket = Ticket(
            id=TicketId(f"issue:{job.number}"),
            title=admitted.title,
            body=admitted.body,
            comments=tuple(Comment(author=one.author, text=one.text) for one in admitted.comments),
            author=admitted.author,
            number=job.number,
        )
        actor = f"account {admitted.actor.id}"
        run = self._app.open_run(ticket, self._repository, self._repository.resolve(), actor=actor)
        if isinstance(job.data, Command) and job.data.argument:
            self._app.stores.notes.add(run.scope, ticket.id, job.data.argument, admitted.actor.login)
        return self._app.pursue(run, progress)

    def _diff(self, run: Run) -> str:
        """The patch as git shows it between the base and the commit that passed."""
        if run.state is not RunState.PUBLISHED or run.commit is None:
            return ""
        with trusted(self._repository.git) as clean:
            assert clean.git_dir is not None
            (clean.git_dir / "info").mkdir(exist_ok=True)
            return compare(clean, clean.git_dir, run.base, run.commit).diff
