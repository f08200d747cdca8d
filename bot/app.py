"""Where the parts meet: settings in, working objects out."""

from __future__ import annotations

import fcntl
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from bot.attempts import SENT_BACK
from bot.bench import Bench
from bot.book import Book, upgrade_runs, utc_now
from bot.closing import Stores, already_over, write_down
from bot.conclusion import Conclusion
from bot.config import Settings
from bot.endings import About
from bot.errors import BeingWorkedOn, NoInterpreter, NothingToRetry
from bot.events import EventStore
from bot.progress import Progress
from bot.publishing import Publisher
from bot.pursuit import Audited, Pursuit
from bot.repository_config import RepositoryConfig
from bot.requeue import RequeueNotes
from bot.run import Opening, Run, RunState
from bot.runner import Runner
from bot.runs import RunStore
from bot.sources import default_commit, read_config
from bot.steps import StepStore
from bot.verify import Verifier
from memory.database import open_database, upgrade_memory
from memory.index import FtsSearch
from memory.recall import Recall
from memory.scrub import Scrubber
from memory.signature import signatures
from memory.store import MemoryStore
from memory.types import CommitId, Drop, DropCause, Evidence, RunId, Scope, TicketId
from stages.agents.base import Agent
from stages.agents.limits import Budget, Limits, Spent
from stages.agents.loop import Loop
from stages.agents.model import FREE, Model, NoModel, Price
from stages.agents.program import Program, ProgramAgent
from stages.checks import Checks
from stages.errors import Parked
from stages.gate import Gate
from stages.journal import ModelAnswered
from stages.offline import MODEL as OFFLINE
from stages.offline import handler as offline_handler
from stages.policy import Policy
from stages.repository import Repository
from stages.sandbox import Sandbox, choose
from stages.ticket import Ticket
from stages.workspace import Workspaces

_OFFLINE_WINDOW: Final = 10**9  # tokens: the embedded model reads everything that was said
_OFFLINE_LIMITS: Final = Limits(calls=5_000, tokens=10**12, money=0.0, minutes=60.0)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What one call decides over the settings. `trusted` is for fixtures of our own: weaker sandboxes may do."""

    model: str = ""
    agent: tuple[str, ...] = ()
    sandbox: str = ""
    attempts: int | None = None
    trusted: bool = False


class App:
    """The program, put together for these settings."""

    def __init__(self, settings: Settings, choices: Choices | None = None) -> None:
        self.settings, self.choices = settings, choices or Choices()

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
        memory = MemoryStore(self.book.engine, self.scrubber)
        return Stores(
            runs=RunStore(self.book),
            steps=StepStore(self.book),
            events=EventStore(self.book),
            notes=RequeueNotes(self.book),
            memory=memory,
            recall=Recall(memory, FtsSearch(self.settings.home / "index")),
            now=self.book.now,
        )

    def scope(self, repository: Repository) -> Scope:
        return Scope(installation=self.settings.installation, repository=repository.id)

    # --- Runs ------------------------------------------------------------------------------------------------------

    def open_run(self, ticket: Ticket, repository: Repository, base: CommitId) -> Run:
        """Write a new run down. Raises AlreadyOpen, and NoModel before anything is written."""
        if not self._agent_name:
            raise NoModel
        return self.stores.runs.create(
            Opening(
                scope=self.scope(repository),
                ticket=ticket,
                base=base,
                place=str(repository.folder),
                model=self._agent_name,
            )
        )

    def pursue(self, run: Run, progress: Progress) -> Run:
        """Take a run as far as it goes; a run that cannot even begin here is parked."""
        with self._alone(run):
            if already_over(self.stores, run):
                return self.stores.runs.get(run.id)
            try:
                pursuit, bench = self._prepared(run, progress)
            except Parked as parked:
                return self.stores.runs.set_state(run.id, RunState.PARKED, cause=parked.cause, reason=parked.reason)
            return Runner(pursuit, bench, Conclusion(pursuit, bench, self.publisher)).work()

    def verify(self, run: Run, ref: str | None, progress: Progress) -> Run:
        """Judge a published patch where it was merged; see `Verifier.verify` for what it raises."""
        with self._alone(run):
            pursuit, bench = self._prepared(run, progress)
            return Verifier(pursuit, bench, Conclusion(pursuit, bench, self.publisher)).verify(ref)

    def retried(self, run: Run) -> Run:
        """A run that may go on. Raises NothingToRetry."""
        if run.state not in (RunState.PARKED, RunState.WORKING):
            raise NothingToRetry(run=run.id, state=run.outcome or run.state.value)
        return run

    def requeue(self, run: Run, text: str, author: str) -> Run:
        """Send a ticket back with a note; gives the run that reads it.

        Of an ended run, a new one on what is checked out now; of a published run, the same, whose patch counts as held.
        """
        self.stores.notes.add(run.scope, run.ticket.id, text, author)
        if run.state is RunState.PUBLISHED:
            self.stores.steps.finish(run.id, SENT_BACK, TypeAdapter(bool), True, attempt=run.attempt)
        elif run.state is RunState.ENDED:
            repository = Repository.open(Path(run.place))
            return self.open_run(run.ticket, repository, repository.resolve())
        return run

    def stop(self, run: Run) -> Run:
        """End a run: the process that works on it ends it at its next call, else this one does at once."""
        self.stores.runs.request_stop(run.id)
        try:
            with self._alone(run):
                return self._dropped(run, DropCause.STOPPED)
        except BeingWorkedOn:
            return self.stores.runs.get(run.id)

    def supersede(self, scope: Scope, ticket: TicketId) -> Run | None:
        """End the open run of a ticket, if there is one, because another one takes its place."""
        if (run := self.stores.runs.open_run(scope, ticket)) is None:
            return None
        with self._alone(run):
            return self._dropped(run, DropCause.SUPERSEDED)

    def _dropped(self, run: Run, cause: DropCause) -> Run:
        about = About.of(run, signatures(run.ticket.title, run.ticket.text))
        write_down(self.stores, about.ending(Drop(cause=cause), at=self.book.now(), final=True, evidence=Evidence.NONE))
        return self.stores.runs.get(run.id)

    @contextmanager
    def _alone(self, run: Run) -> Iterator[None]:
        """Hold the run for this process; the lock goes with the process, however it dies. Raises BeingWorkedOn."""
        path = self.settings.home / "work" / f"{run.id}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BeingWorkedOn(run=run.id) from error
            yield

    def _prepared(self, run: Run, progress: Progress) -> tuple[Pursuit, Bench]:
        """What a run works with. Raises Parked when there is no sandbox."""
        repository = Repository.open(Path(run.place))
        config = read_config(repository, default_commit(repository))
        sandbox = choose(self.choices.sandbox or self.settings.sandbox or "auto", trusted=self.choices.trusted)
        self.stores.runs.save_level(run.id, sandbox.level)
        pursuit = Pursuit(
            self.stores,
            run,
            repository=repository,
            agent=self._agents(run, sandbox),
            budget=self._budget(run),
            progress=progress,
        )
        return pursuit, self._bench(run, repository, config, sandbox)

    @cached_property
    def publisher(self) -> Publisher:
        return Publisher(self.settings.home / "runs")

    # --- Parts of a run --------------------------------------------------------------------------------------------

    def _bench(self, run: Run, repository: Repository, config: RepositoryConfig, sandbox: Sandbox) -> Bench:
        workspaces = Workspaces(self.settings.home / "work", Checks(sandbox, _interpreter(config, repository)))
        policy = Policy(protected=config.protected, files_at_most=config.size.files or Policy.files_at_most)
        return Bench(
            run=run,
            repository=repository,
            config=config,
            workspaces=workspaces,
            gate=Gate(workspaces, replace(policy, lines_at_most=config.size.lines), self.scrubber),
            attempts=self.choices.attempts or config.attempts or self.settings.attempts,
            stopped=self._stopped(run.id),
        )

    def _stopped(self, run: RunId) -> Callable[[], bool]:
        return lambda: self.stores.runs.stop_requested(run)

    @property
    def _command(self) -> tuple[str, ...]:
        return () if self.choices.model else self.choices.agent or self.settings.agent

    @property
    def _agent_name(self) -> str:
        return " ".join(self._command) or self.choices.model or self.settings.model

    def _agents(self, run: Run, sandbox: Sandbox) -> Callable[[Audited], Agent]:
        if self._command:
            program = Program(command=self._command)
            return lambda journal: ProgramAgent(journal, program, sandbox)
        model = self._model(self.choices.model or run.model or self.settings.model)
        return lambda journal: Loop(journal, model)

    def _model(self, name: str) -> Model:
        if name == OFFLINE:
            return Model(name=name, price=FREE, window=_OFFLINE_WINDOW, provider=offline_handler)
        price = self.settings.prices.get(name)
        return Model(
            name=name,
            url=self.settings.model_url,
            key=self.settings.model_key,
            key_variable=self.settings.model_key_variable,
            price=Price(input=price.input, output=price.output) if price else None,
        )

    def _budget(self, run: Run) -> Budget:
        """The run's budget, with what it spent before an interruption."""
        limits = self.settings.limits
        if run.model == OFFLINE and limits == Limits():
            limits = _OFFLINE_LIMITS
        costs = [event.fact for event in self.stores.events.of(run.id) if isinstance(event.fact, ModelAnswered)]
        spent = Spent(
            calls=len(costs),
            tokens=sum(cost.tokens_in + cost.tokens_out for cost in costs),
            money=sum(cost.price for cost in costs),
            minutes=run.spent.minutes,
        )
        return Budget(limits, clock=time.monotonic, spent=spent, stopped=self._stopped(run.id))


def _interpreter(config: RepositoryConfig, repository: Repository) -> Path:
    """The interpreter that runs the repository's tests: what it names, else its own environment, else ours."""
    if config.python:
        named = (repository.folder / config.python).absolute()
        if not named.exists():
            raise NoInterpreter(python=config.python)
        return named
    own = [repository.folder / folder / "bin" / "python" for folder in (".venv", "venv")]
    return next((python for python in own if python.exists()), Path(sys.executable))
