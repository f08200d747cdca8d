"""Whole runs on tiny repositories: real git, real checks, real memory, and a model that says what the test says."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from bot.app import App, Choices
from bot.config import Settings
from bot.facts import Fact
from bot.progress import Progress
from bot.pursuit import Audited
from bot.run import Run
from bot.terminal import Terminal
from memory.recording import RecordedEnding
from memory.types import Lesson, TicketId
from stages.agents.base import Agent, Answer, Reading
from stages.agents.limits import Budget
from stages.git import Git
from stages.journal import Journal, ModelAnswered
from stages.prompt import EntryPoint, Prompt
from stages.repository import Repository
from stages.ticket import Ticket
from stages.workspace import Workspace
from tests.bot.empty_database import lay_empty_database
from tests.stages.repositories import commit, make

Found = TypeVar("Found")
Act: TypeAlias = Mapping[str, object] | BaseException | Callable[[Workspace], Mapping[str, object]]

SETTINGS: Final = """\
environment = "shop"

[checks.price]
command = ["sh", "-c", "grep -qx 3 price.txt && test ! -e broken || { cat trace.txt; exit 1; }"]

[checks.sane]
command = ["sh", "-c", "! grep -q 4 price.txt"]
"""
SHOP: Final[Mapping[str, str]] = {
    ".github/ticketsmith.toml": SETTINGS,
    ".github/ticketsmith/tuning.md": "- Prices are whole cents.\n",
    "price.txt": "1\n",
}
"""A file with a wrong number: `price` shows it, and so does a file `broken`; a 4 makes `sane` fail. What `price` prints
then is `trace.txt`.

Checks are commands, for they start fast.
"""
TRACE: Final = """\
Traceback (most recent call last):
  File "till/prices.py", line 12, in read_price
    return int(text) / shares
ZeroDivisionError: division by zero
"""
TICKET: Final = Ticket(
    id=TicketId("local:price"), title="The price is wrong", body="price.txt says 1, we agreed on 3.", author="mira"
)


# --- The model -----------------------------------------------------------------------------------------------------


def writes(path: str = "price.txt", text: str = "3\n", **fields: object) -> Act:
    """An answer of a stage that may write: one file, then `finish`."""

    def act(workspace: Workspace) -> Mapping[str, object]:
        workspace.write(path, text.encode())
        return {"summary": f"Wrote {path}.", **fields}

    return act


NOTHING: Final[Act] = {"summary": "I found nothing."}
DIAGNOSED: Final[Mapping[str, object]] = {
    "cause": "The number is wrong.",
    "files": ["price.txt"],
    "reproduction": "price",
}
ANSWERS: Final[Mapping[EntryPoint, Act]] = {
    EntryPoint.TRIAGE: {"ownership": "ours", "reason": "price.txt is here."},
    EntryPoint.DIAGNOSE: DIAGNOSED,
    EntryPoint.REDIAGNOSE: DIAGNOSED,
    EntryPoint.DEVELOP: writes(),
    EntryPoint.REFIX: writes(),
    EntryPoint.REVIEW: {"findings": []},
    EntryPoint.VERIFY: {"check": "price"},
    EntryPoint.SUMMARISE: {"text": "The price is 3 now."},
}
"""A run that publishes at once."""


@dataclass
class Script:
    """What the model answers at each entry point; a list is used up, its last item stays. Keeps the prompts."""

    answers: dict[EntryPoint, list[Act]]
    prompts: list[Prompt] = field(default_factory=list)
    asked: list[EntryPoint] = field(default_factory=list)

    @classmethod
    def of(cls, **answers: Act | Sequence[Act]) -> Script:
        given = {EntryPoint(name): one for name, one in answers.items()}
        return cls(
            answers={
                point: list(one) if isinstance(one, list | tuple) else [one]  # type: ignore[list-item]
                for point, one in {**ANSWERS, **given}.items()
            }
        )

    def next(self, point: EntryPoint) -> Act:
        acts = self.answers[point]
        return acts.pop(0) if len(acts) > 1 else acts[0]

    def bodies(self, point: EntryPoint) -> list[str]:
        return [prompt.body for prompt in self.prompts if prompt.entry_point is point]


def title_in(body: str) -> str:
    """The ticket's first line that says something, as a prompt shows it."""
    quoted = body.partition("Ticket:\n")[2].split("\n")
    return next((line[2:300] for line in quoted if line[2:].strip()), "")


class Scripted(Agent):
    """One call of the budget for each prompt, ten tokens each."""

    def __init__(self, journal: Journal, script: Script) -> None:
        super().__init__(journal)
        self._script = script

    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        limits.before_call(tokens=10)
        self._script.prompts.append(prompt)
        self._script.asked.append(prompt.entry_point)
        limits.after_call(tokens=10, money=0.0)
        self._journal.happened(ModelAnswered(model="scripted", tokens_in=8, tokens_out=2, price=0.0, seconds=0.0))
        while True:
            act = self._script.next(prompt.entry_point)
            if isinstance(act, BaseException):
                raise act
            fields = act(workspace) if callable(act) else act
            if prompt.entry_point in (EntryPoint.DIAGNOSE, EntryPoint.REDIAGNOSE):
                fields = {"quote": title_in(prompt.body), **fields}
            if reading.refusal(Answer(fields=fields)) is None:
                return


# --- The program ---------------------------------------------------------------------------------------------------


class ScriptedApp(App):
    """The program with a scripted model."""

    def __init__(self, settings: Settings, choices: Choices, script: Script, **more: Any) -> None:
        super().__init__(settings, choices, **more)
        self._script = script

    @property
    def _agent_name(self) -> str:
        return "scripted"

    def _agents(self, *_: object) -> Callable[[Audited], Agent]:
        return lambda journal: Scripted(journal, self._script)


def silent() -> Progress:
    return Progress(Terminal(io.StringIO()))


@dataclass
class Bed:
    """A repository with its home, and the program over it. One that is there already is taken as it is."""

    folder: Path
    files: Mapping[str, str] = field(default_factory=lambda: dict(SHOP))
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shop = self.folder / "shop"
        self.repository = Repository.open(shop) if shop.exists() else make(shop, self.files)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def app(self, script: Script | None = None, kind: type[ScriptedApp] = ScriptedApp, **choices: Any) -> ScriptedApp:
        database = lay_empty_database(self.home / "ticketsmith.sqlite")
        settings = Settings(home=self.home, database=database, **self.settings)
        given: dict[str, Any] = {"trusted": True, "sandbox": "plain", **choices}
        return kind(settings, Choices(**given), script or Script.of())

    def fix(self, app: App, ticket: Ticket = TICKET, base: str | None = None) -> Run:
        """Begin a run and take it as far as it goes."""
        return app.pursue(app.open_run(ticket, self.repository, self.repository.resolve(base)), silent())

    def merge(self, branch: str) -> None:
        Git(folder=self.repository.folder).run("merge", "--quiet", "--no-ff", "--message=Merge", branch)

    def commit(self, files: Mapping[str, str | bytes]) -> str:
        return commit(self.repository.folder, files)

    def git(self, verb: str, *arguments: str) -> str:
        return Git(folder=self.repository.folder).run(verb, *arguments).decode().strip()


def bed(folder: Path, files: Mapping[str, str] | None = None, **settings: Any) -> Bed:
    return Bed(folder, {**SHOP, **(files or {})}, settings)


# --- What came of it -----------------------------------------------------------------------------------------------


def endings(app: App, run: Run) -> list[RecordedEnding]:
    return list(app.stores.memory.endings(run.scope, run.id))


def told(app: App, run: Run) -> list[str]:
    """The endings in short: `hold: check`, `final drop: budget`."""
    from bot.witness import outcome_of

    return [("final " if one.ending.final else "") + outcome_of(one.ending.ending) for one in endings(app, run)]


def lessons(app: App, run: Run) -> tuple[Lesson, ...]:
    return app.stores.memory.lessons(run.scope)


def facts_of(app: App, run: Run) -> list[Fact]:
    return [event.fact for event in app.stores.events.of(run.id)]


def opened(path: Path) -> Repository:
    return Repository.open(path)
