"""The messages of a conversation → its prompt and its turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stages.agents.embedded import Call, Message, text_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What the model asked for in one message, and what it was told, in the same order."""

    calls: tuple[Call, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    prompt: str
    turns: tuple[Turn, ...]


def same(one: Call, other: Call) -> bool:
    """True when both ask for the same, however the JSON is written."""
    if one.name != other.name:
        return False
    if one.arguments == other.arguments:
        return True
    try:
        return bool(json.loads(one.arguments) == json.loads(other.arguments))
    except ValueError:
        return False


def conversation(messages: Sequence[Message]) -> Conversation:
    """The first user message is the prompt; each assistant message with tool calls begins a turn."""
    prompt = next((text_of(message) for message in messages if message.get("role") == "user"), "")
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            turns.append(_turn(message["tool_calls"], messages, place + 1))
    return Conversation(prompt=prompt, turns=tuple(turns))


def _turn(asked: Sequence[Mapping[str, Any]], messages: Sequence[Message], place: int) -> Turn:
    told: dict[str, str] = {}
    while place < len(messages) and messages[place].get("role") == "tool":
        told[str(messages[place].get("tool_call_id"))] = text_of(messages[place])
        place += 1
    calls = tuple(Call(name=str(one["function"]["name"]), arguments=str(one["function"]["arguments"])) for one in asked)
    return Turn(calls=calls, results=tuple(told.get(str(one.get("id")), "") for one in asked))
