"""What every agent has in common: no prompt without a context, one budget, an answer that code has read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar, final

from memory.errors import MissingContext
from stages.agents.limits import Budget
from stages.errors import UnreadableAnswer
from stages.journal import Journal
from stages.prompt import Prompt

if TYPE_CHECKING:
    from stages.workspace import Workspace

Found = TypeVar("Found")

REFUSALS_AT_MOST: Final = 3


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a model answered: the arguments of `finish`, or the JSON object that ends a program's output."""

    fields: Mapping[str, object] = field(default_factory=dict)
    text: str = ""


class Reading(Generic[Found]):
    """Reads answers until one can be used."""

    def __init__(self, read: Callable[[Answer], Found]) -> None:
        self._read = read
        self._found: list[Found] = []
        self._refusals = 0
        self._refused: UnreadableAnswer | None = None

    def refusal(self, answer: Answer) -> str | None:
        """Why the answer cannot be used, or None when it was read.

        Raises UnreadableAnswer after three refusals.
        """
        try:
            self._found = [self._read(answer)]
        except UnreadableAnswer as error:
            self._refusals += 1
            self._refused = error
            if self._refusals > REFUSALS_AT_MOST:
                raise
            return str(error.fields["reason"])
        return None

    @property
    def found(self) -> Found:
        """Raises the last refusal when no answer was read."""
        if not self._found:
            raise self._refused or UnreadableAnswer(reason="the conversation ended without an answer")
        return self._found[0]


class Agent(ABC):
    """Answers prompts. A backend writes only `_converse`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    @final
    def ask(self, prompt: Prompt, workspace: Workspace, limits: Budget, read: Callable[[Answer], Found]) -> Found:
        """Have the prompt answered, and give what `read` makes of the answer.

        `read` raises UnreadableAnswer for an answer that code refuses; the model is told the reason and may answer
        again, three times at most. Raises MissingContext before any cost without a real prompt, UnreadableAnswer when
        no answer could be used, LimitReached, Stopped, and Parked when the model cannot be reached.
        """
        if type(prompt) is not Prompt:  # a subclass could say another text
            raise MissingContext(what="an agent")
        self._journal.asked(prompt)
        reading = Reading(read)
        self._converse(prompt, workspace, limits, reading)
        return reading.found

    @abstractmethod
    def _converse(self, prompt: Prompt, workspace: Workspace, limits: Budget, reading: Reading[Found]) -> None:
        """Go on until `reading.refusal(answer)` is None, or raise.

        The fields that `finish` takes at an entry point, and what the agent may do there, hang on the prompt's entry
        point: `stages.answers.FIELDS` and `EntryPoint.may`.
        """
