"""One run at work: its recorded steps, the one call of recall, and its endings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from pydantic import TypeAdapter

from bot import facts
from bot.closing import write_down
from bot.endings import About, of_known_names
from bot.facts import Fact
from bot.journal import RunJournal
from bot.progress import Progress
from bot.run import Run
from bot.stores import Stores
from memory.authorship import NOT_OURS
from memory.recording import Recorded
from memory.signature import RepoView
from memory.types import CheckId, Ending, EndingId, ErrorSignature, Evidence, Injection, MemoryVersion, PathAt
from stages.admission import Admission
from stages.agents.base import Agent
from stages.agents.limits import Budget
from stages.base import Desk, Stage
from stages.case import Case
from stages.journal import Event, ModelAnswered
from stages.prompt import EntryPoint, Prompt
from stages.repository import Repository
from stages.workspace import Workspace

T = TypeVar("T")
Given = TypeVar("Given")
Found = TypeVar("Found")


class Audited:
    """A journal that writes the injection audit before a prompt is sent, and the cost before the next call."""

    def __init__(self, stores: Stores, run: Run, journal: RunJournal) -> None:
        self._stores, self._run, self._journal = stores, run, journal

    def asked(self, prompt: Prompt) -> None:
        context = prompt.context
        blocks = (context.tuning, context.lessons, context.notes)
        self._stores.memory.audit(
            Injection(
                scope=self._run.scope,
                run=self._run.id,
                entry_point=prompt.entry_point,
                prompt_hash=prompt.hash,
                version=context.version.number,
                rule=context.rule,
                shown=tuple(record for block in blocks for record in block.shown),
                left_out=tuple(left for block in blocks for left in block.left_out),
                looked_for=context.looked_for,
                at=self._stores.now(),
            )
        )
        self._journal.asked(prompt)

    def happened(self, event: Event) -> None:
        self._journal.happened(event)
        if isinstance(event, ModelAnswered) and event.price:
            self._journal.flush()


class Pursuit:
    """Everything that is fixed for one run while it works, and the three things that it does: ask, record, step."""

    def __init__(
        self,
        stores: Stores,
        run: Run,
        *,
        repository: Repository,
        agent: Callable[[Audited], Agent],
        budget: Budget,
        progress: Progress,
        admission: Admission,
        guard: Callable[[], None] = lambda: None,
    ) -> None:
        """`guard` raises when this process may no longer write for the run."""
        self.stores, self.run, self.repository, self.budget, self.progress = stores, run, repository, budget, progress
        self._admission, self._guard = admission, guard
        self.journal = RunJournal(stores.events, run.id, now=stores.now, watcher=progress.fact)
        self.agent = agent(Audited(stores, run, self.journal))
        self.signatures: tuple[ErrorSignature, ...] = ()
        self.red: tuple[ErrorSignature, ...] = ()  # of what the reproduction printed; the others are of the alert
        self.known: frozenset[CheckId] = frozenset()  # checks, and tests that they collect at the base
        self.environment = ""
        self.view = RepoView()
        self._alarmed: set[str] = set()  # lessons that are not ours, and that were told of

    # --- Steps -----------------------------------------------------------------------------------------------------

    def once(self, name: str, kind: TypeAdapter[T], work: Callable[[], T], *, attempt: int = 1) -> T:
        """What this step gives: from the tables when the run was here before, else from `work`."""
        self.journal.at(name, attempt=attempt)
        self.progress.stage(name)

        def guarded() -> T:
            value = work()
            self._guard()
            return value

        value = self.stores.steps.once(
            self.run.id, name, kind, guarded, attempt=attempt, spent=lambda: self.budget.spent
        )
        self.journal.flush()
        return value

    def save(self) -> None:
        """Write down what happened and what was spent until now."""
        self.journal.flush()
        self.stores.runs.save_spent(self.run.id, self.budget.spent)

    def tell(self, *told: Fact) -> None:
        """Write down what code saw or decided."""
        self.journal.record(*told)

    # --- Questions -------------------------------------------------------------------------------------------------

    def ask(
        self,
        stage: type[Stage[Given, Found]],
        entry_point: EntryPoint,
        given: Given,
        *,
        workspace: Workspace,
        version: MemoryVersion,
    ) -> Found:
        """Have a stage ask its question, with what memory has to say for it."""
        desk = Desk(agent=self.agent, workspace=workspace, limits=self.budget, admission=self._admission)
        asking = stage(entry_point, desk)
        context = self.stores.context(asking.query(given), version)
        for left in context.lessons.left_out:
            if left.why == NOT_OURS and left.id not in self._alarmed:
                self._alarmed.add(left.id)
                self.tell(facts.Decided(what=f"lesson {left.id} goes into no prompt", because=NOT_OURS))
        return asking.run(given, context=context)

    # --- Endings -----------------------------------------------------------------------------------------------

    def record(
        self,
        ending: Ending,
        *,
        final: bool,
        evidence: Evidence,
        paths: Iterable[str] = (),
        refers_to: EndingId | None = None,
    ) -> Recorded:
        """Write an ending down, with its lesson and the version that shows it."""
        self._guard()
        about = About.of(self.run, self.signatures, self.environment)
        value = about.ending(
            of_known_names(ending, self._is_at_base, self.known.__contains__),
            at=self.stores.now(),
            final=final,
            evidence=evidence,
            paths=self._at_base(paths),
            refers_to=refers_to,
        )
        return write_down(self.stores, value, self.journal)

    def _is_at_base(self, path: str) -> bool:
        return self.repository.blob(self.run.base, path) is not None

    def _at_base(self, paths: Iterable[str]) -> tuple[PathAt, ...]:
        found = ((path, self.repository.blob(self.run.base, path)) for path in paths)
        return tuple(PathAt(path=path, blob=blob) for path, blob in found if blob)

    # --- Notes of people -------------------------------------------------------------------------------------------

    def with_notes(self, case: Case, attempt: int) -> Case:
        """The case with what people said when they sent the ticket back, for this attempt and later ones to read."""
        notes = self.stores.notes.take(self.run.scope, self.run.ticket.id, self.run.id, attempt)
        said = tuple(f"{note.author}: {note.text}" for note in notes)
        for note, text in zip(notes, said, strict=True):
            if text not in case.notes:
                self.tell(facts.NoteRead(author=note.author, text=note.text, written=note.at))
        return replace(case, notes=said)
