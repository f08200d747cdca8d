"""Where the parts meet: settings in, working objects out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import cache, cached_property, partial
from pathlib import Path

from bot.agents import check_command, check_price, model_of, program_name, program_of
from bot.bench import Bench
from bot.book import Book, upgrade_runs, utc_now
from bot.budget import budget_of
from bot.choices import Choices
from bot.conclusion import Conclusion
from bot.config import Settings
from bot.dependencies import Dependencies
from bot.events import EventStore
from bot.interpreter import interpreter
from bot.programs import program_for
from bot.progress import Progress
from bot.publishing import Publisher
from bot.pursuit import Audited, Pursuit
from bot.repository_config import RepositoryConfig, policy_of
from bot.requeue import RequeueNotes
from bot.run import Opening, Run, RunState
from bot.runner import Runner
from bot.runs import RunStore
from bot.sources import default_commit, read_config
from bot.spending import Account, DayLedger
from bot.steering import Steering
from bot.steps import StepStore
from bot.stores import Stores
from bot.verify import Verifier
from bot.walls import Walls
from memory.author_key import authorship
from memory.database import open_database, upgrade_memory
from memory.index import FtsSearch
from memory.recall import Recall
from memory.scrub import Scrubber
from memory.store import MemoryStore
from memory.types import CommitId, RunId, Scope
from memory.upkeep import Upkeep
from stages.admission import Admission
from stages.agents.base import Agent
from stages.agents.limits import Ledger, NoLedger
from stages.agents.loop import Loop
from stages.agents.model import NoModel
from stages.agents.program import ProgramAgent
from stages.errors import ParkCause, Parked
from stages.gate import Gate
from stages.installed import Installed
from stages.installer import Installer
from stages.offline import MODEL as OFFLINE
from stages.repository import Repository, RepositoryFault
from stages.sandbox import Sandbox, choose
from stages.ticket import Ticket
from stages.toolchains import Toolchains
from stages.workspace import Workspaces

__all__ = ["App", "Choices"]


class App(Steering):
    """The program, put together for these settings."""

    def __init__(
        self,
        settings: Settings,
        choices: Choices | None = None,
        *,
        guard: Callable[[RunId], None] = lambda _: None,
    ) -> None:
        """`guard` is asked again and again while a run works, and raises when this process may no longer write for it:
        then the work ends at once, and nothing of that is an ending.
        """
        self.settings, self.choices, self._guard = settings, choices or Choices(), guard

    # --- Stores ----------------------------------------------------------------------------------------------------

    @cached_property
    def book(self) -> Book:
        """The database, with its tables up to date."""
        engine = open_database(self.settings.database)
        upgrade_memory(engine)
        upgrade_runs(engine)
        return Book(engine, self.scrubber, now=utc_now)

    @cached_property
    def scrubber(self) -> Scrubber:
        return Scrubber(self.settings.secrets())

    @cached_property
    def stores(self) -> Stores:
        author = authorship(self.book.engine, self.settings.author_key)
        memory = MemoryStore(self.book.engine, self.scrubber, author)
        search = FtsSearch(self.settings.home / "index")
        return Stores(
            runs=RunStore(self.book),
            steps=StepStore(self.book),
            events=EventStore(self.book),
            notes=RequeueNotes(self.book),
            memory=memory,
            recall=Recall(memory, search, scrub=self.scrubber.scrub),
            upkeep=Upkeep(memory, search),
            work=self._work,
            now=self.book.now,
        )

    def scope(self, repository: Repository) -> Scope:
        return Scope(installation=self.settings.installation, repository=repository.id)

    # --- Runs ------------------------------------------------------------------------------------------------------

    def check(self, repository: Repository) -> None:
        """Refuse what no run of this repository could begin with, before anything is written.

        Raises NoModel, SecretInCommand, NoProgram, UnknownPrice, NoInterpreter, what is wrong with the repository's
        settings, and OSError where nothing can be written.
        """
        if not self._agent_name:
            raise NoModel
        if self._command:
            check_command(self._command, self.scrubber)
            program_for(self._command, self.settings.outside)
        interpreter(read_config(repository, default_commit(repository)), repository)
        if self._model_name and not self._command:
            check_price(self._model_name, self.settings)
        self._work.mkdir(parents=True, exist_ok=True)

    def open_run(
        self,
        ticket: Ticket,
        repository: Repository,
        base: CommitId,
        scope: Scope | None = None,
        *,
        run: RunId | None = None,
        actor: str = "",
    ) -> Run:
        """Write a new run down, in the scope of these settings when none is given, with the id `run` if one is given.

        A run that is there under this id is given as it stands. Raises AlreadyOpen, and what `check` raises before
        anything is written.
        """
        self.check(repository)
        self.stores.events.prune(self.book.now() - timedelta(days=self.settings.transcript_days))
        return self.stores.runs.create(
            Opening(
                scope=scope or self.scope(repository),
                ticket=ticket,
                base=base,
                place=str(repository.folder),
                # With its path in full: `runs retry` may be called from another folder.
                model=program_name(program_for(self._command, self.settings.outside).command)
                if self._command
                else self._agent_name,
                attempts=self.choices.attempts,
                sandbox=self.choices.sandbox,
                id=run,
                actor=actor,
            )
        )

    def pursue(self, run: Run, progress: Progress) -> Run:
        """Take a run as far as it goes; a run that cannot even begin here is parked. Raises BeingWorkedOn."""
        with self._alone(run) as run:
            if not run.open:
                return run
            try:
                pursuit, bench = self._prepared(run, progress)
            except Parked as parked:
                return self._parked(run, parked.cause, parked.reason)
            except RepositoryFault as fault:
                return self._parked(run, ParkCause.BASE_GONE, str(fault))
            return Runner(pursuit, bench, Conclusion(pursuit, bench, self.publisher)).work()

    def verify(self, run: Run, ref: str | None, progress: Progress) -> Run:
        """Judge a published patch where it was merged; see `Verifier.verify` for what it raises."""
        with self._alone(run) as run:
            if not run.open:
                return run
            pursuit, bench = self._prepared(run, progress)
            return Verifier(pursuit, bench, Conclusion(pursuit, bench, self.publisher)).verify(ref)

    def _parked(self, run: Run, cause: ParkCause, reason: str) -> Run:
        return self.stores.runs.set_state(run.id, RunState.PARKED, cause=cause, reason=reason)

    @property
    def _work(self) -> Path:
        """Where clones and locks are."""
        return self.settings.home / "work"

    @cached_property
    def publisher(self) -> Publisher:
        return Publisher(self.settings.home / "runs", self.scrubber.scrub)

    # --- Parts of a run --------------------------------------------------------------------------------------------

    def _prepared(self, run: Run, progress: Progress) -> tuple[Pursuit, Bench]:
        """What a run works with. Raises Parked when there is no sandbox, RepositoryFault, and what `check` raises."""
        repository = Repository.open(Path(run.place))
        config = read_config(repository, default_commit(repository))
        sandbox, agent = self._sandbox(run), self._agent_of(run)
        dependencies = self._dependencies(config, cache(partial(interpreter, config, repository)), sandbox)
        self.stores.runs.save_level(run.id, sandbox.level)
        pursuit = Pursuit(
            self.stores,
            run,
            repository=repository,
            agent=self._agents(agent, sandbox),
            budget=budget_of(
                run,
                agent,
                self.settings.limits,
                self.stores.events.of(run.id),
                self._stopped(run.id),
                self._ledger(run, agent),
            ),
            progress=progress,
            admission=Admission(policy=policy_of(config), scrubber=self.scrubber),
            guard=partial(self._guard, run.id),
        )
        return pursuit, self._bench(run, repository, config, dependencies)

    def _ledger(self, run: Run, model: str) -> Ledger:
        """What all runs spend in a day; the embedded model is free, and bounded only where the operator says so."""
        if model == OFFLINE and self.settings.walls == Walls():
            return NoLedger()
        return DayLedger(self.book, Account(scope=run.scope, actor=run.actor, run=run.id), self.settings.walls)

    def _sandbox(self, run: Run) -> Sandbox:
        wanted = self.choices.sandbox or run.sandbox or self.settings.sandbox or "auto"
        return choose(wanted, trusted=self.choices.trusted)

    def _bench(self, run: Run, repository: Repository, config: RepositoryConfig, dependencies: Dependencies) -> Bench:
        workspaces = Workspaces(self._work, dependencies.checks(Installed()))
        return Bench(
            run=run,
            repository=repository,
            config=config,
            workspaces=workspaces,
            dependencies=dependencies,
            gate=Gate(workspaces, policy_of(config), self.scrubber),
            attempts=self.choices.attempts or run.attempts_at_most or config.attempts or self.settings.attempts,
            stopped=self._stopped(run.id),
            clean=self.book.clean,
        )

    def _dependencies(self, config: RepositoryConfig, python: Callable[[str], Path], sandbox: Sandbox) -> Dependencies:
        installer = Installer(
            folder=self.settings.home / "installed",
            sandbox=sandbox,
            hosts=self.settings.outside.install_hosts,
            python=python("."),
            owner=self.settings.installation,
            toolchains=Toolchains(home=Path.home()),
        )
        return Dependencies(
            installer=installer,
            sandbox=sandbox,
            python=python,
            named=bool(config.python),
            home=Path.home(),
            asked=config.install,
        )

    def _stopped(self, run: RunId) -> Callable[[], bool]:
        def stopped() -> bool:
            self._guard(run)
            return self.stores.runs.stop_requested(run)

        return stopped

    # What this call says goes before what the run began with, and that before the settings.

    @property
    def _command(self) -> tuple[str, ...]:
        return () if self.choices.model else self.choices.agent or self.settings.agent

    @property
    def _model_name(self) -> str:
        return self.choices.model or self.settings.model

    @property
    def _agent_name(self) -> str:
        return program_name(self._command) or self._model_name

    def _agent_of(self, run: Run) -> str:
        return self.choices.model or program_name(self.choices.agent) or run.model or self._agent_name

    def _agents(self, name: str, sandbox: Sandbox) -> Callable[[Audited], Agent]:
        if command := program_of(name):
            program = program_for(command, self.settings.outside)
            return lambda journal: ProgramAgent(journal, program, sandbox)
        model = model_of(name, self.settings)
        return lambda journal: Loop(journal, model, clean=self.scrubber.without_values)
