"""What happens while a model works, told to whoever keeps the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from stages.prompt import Prompt


@dataclass(frozen=True, kw_only=True)
class ModelAnswered:
    """One call of a model. `price` in US dollars; an external program has one call and no tokens."""

    model: str
    tokens_in: int
    tokens_out: int
    price: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ToolUsed:
    """One tool call of an agent and what it was told."""

    tool: str
    arguments: str  # JSON, cut
    result: str  # cut
    refused: bool


@dataclass(frozen=True, kw_only=True)
class ModelSaid:
    """Text of a model beside its tool calls; for people only."""

    text: str


Event: TypeAlias = ModelAnswered | ToolUsed | ModelSaid


class Journal(Protocol):
    """Keeps what happened for people to read; scrubbed when written, never read by memory."""

    def asked(self, prompt: Prompt) -> None:
        """A prompt is about to be sent."""

    def happened(self, event: Event) -> None:
        """Something happened in the conversation that the last prompt began."""
