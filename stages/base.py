"""The base of all stages: what is given, what memory says, one question, what is found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Generic, TypeVar, final

from memory.errors import MissingContext
from memory.types import MemoryContext, MemoryQuery
from stages.admission import Admission
from stages.agents.base import Agent, Answer
from stages.agents.limits import Budget
from stages.prompt import EntryPoint, Prompt

if TYPE_CHECKING:
    from stages.workspace import Workspace

Given = TypeVar("Given")
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Desk:
    """What a stage works with. `admission` says which new files may be published."""

    agent: Agent
    workspace: Workspace
    limits: Budget
    admission: Admission = field(default_factory=Admission)


class Stage(ABC, Generic[Given, Found]):
    """A step that asks a model one kind of question.

    A subclass names its entry points and writes `query`, `body` and `read`; nothing else of it is called.
    """

    entry_points: tuple[EntryPoint, ...]

    @final
    def __init__(self, entry_point: EntryPoint, desk: Desk) -> None:
        if entry_point not in self.entry_points:
            raise ValueError(f"{type(self).__name__} does not stand at {entry_point}")
        self.entry_point, self.desk = entry_point, desk

    @final
    def run(self, given: Given, *, context: MemoryContext) -> Found:
        """Ask once, and give what code read from the answer.

        Raises MissingContext without a context that recall made for this entry point, and what `Agent.ask` raises.
        """
        if not isinstance(context, MemoryContext):
            raise MissingContext(what=f"the {self.entry_point} stage")
        prompt = Prompt(entry_point=self.entry_point, context=context, body=self._clean(self.body(given)))
        return self.desk.agent.ask(
            prompt, self.desk.workspace, self.desk.limits, lambda answer: self.read(answer, given)
        )

    def _clean(self, body: str) -> str:
        """The body without secrets of this configuration, which whoever wrote into it has no business to know."""
        return self.desk.admission.scrubber.without_values(body)

    @abstractmethod
    def query(self, given: Given) -> MemoryQuery:
        """What memory is searched for."""

    @abstractmethod
    def body(self, given: Given) -> str:
        """The prompt of this stage. Foreign text in it is quoted here, by `stages.quoting`."""

    @abstractmethod
    def read(self, answer: Answer, given: Given) -> Found:
        """What the answer says. Raises UnreadableAnswer with the reason that the model is told."""


def template(entry_point: EntryPoint) -> Template:
    """The text of an entry point's prompt, from `stages/prompts/`."""
    return Template(resources.files("stages").joinpath("prompts", f"{entry_point}.md").read_text("utf-8"))
