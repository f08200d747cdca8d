"""One answer of a model, as far as it can be used."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Message: TypeAlias = dict[str, Any]

ARGUMENTS_AT_MOST: Final = 400_000  # characters
TEXT_AT_MOST: Final = 20_000
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """`arguments` is None when they are no JSON object; `problem` then says why."""

    id: str
    name: str
    arguments: Mapping[str, object] | None
    problem: str = ""

    @property
    def json(self) -> str:
        return json.dumps(self.arguments or {}, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the model said. `cut` is True when it was stopped at the limit of its answer."""

    text: str
    calls: tuple[ToolCall, ...]
    cut: bool
    message: Message  # for the history: as the provider sent it where that can be sent back, mended where not


def turn_of(response: Any, place: int) -> Turn:
    """Read a response in OpenAI's form; `place` counts the turns and makes ids that no other turn has."""
    choice = next(iter(getattr(response, "choices", None) or ()), None)
    said = getattr(choice, "message", None)
    text = str(getattr(said, "content", None) or "")[:TEXT_AT_MOST]
    calls = _calls(getattr(said, "tool_calls", None) or (), place)
    message: Message = {"role": "assistant", "content": text or (None if calls else "(no answer)")}
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                # A name or arguments that no provider takes back would end the conversation.
                "function": {"name": call.name if _NAME.fullmatch(call.name) else "unknown", "arguments": call.json},
            }
            for call in calls
        ]
    for kept in ("thinking_blocks", "reasoning_content"):
        if value := getattr(said, kept, None):
            message[kept] = value
    return Turn(text=text, calls=calls, cut=getattr(choice, "finish_reason", "") == "length", message=message)


def _calls(asked: Any, place: int) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for number, one in enumerate(asked):
        identifier = str(getattr(one, "id", None) or "")
        if not identifier or identifier in taken:
            identifier = f"call_{place}_{number}"
        taken.add(identifier)
        function = getattr(one, "function", None)
        arguments, problem = _arguments(getattr(function, "arguments", None))
        name = str(getattr(function, "name", None) or "")
        calls.append(ToolCall(id=identifier, name=name, arguments=arguments, problem=problem))
    return tuple(calls)


def _arguments(sent: object) -> tuple[Mapping[str, object] | None, str]:
    text = str(sent or "{}")
    if len(text) > ARGUMENTS_AT_MOST:
        return None, f"the arguments have more than {ARGUMENTS_AT_MOST} characters"
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return None, "the arguments are not valid JSON"
    return (arguments, "") if isinstance(arguments, dict) else (None, "the arguments are not a JSON object")
