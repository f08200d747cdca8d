"""Models that run in this process, as custom providers of litellm: they go through the same loop as any other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

if TYPE_CHECKING:
    from litellm.llms.custom_llm import CustomLLM

Message: TypeAlias = Mapping[str, Any]
_CHARACTERS_PER_TOKEN: Final = 4  # a count for the ledger: nothing is priced by it


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of a tool. `arguments` is the JSON object as text."""

    name: str
    arguments: str


class Replies(Protocol):
    """A model: what was said so far → its next tool calls."""

    def reply(self, messages: Sequence[Message]) -> Sequence[Call]: ...


def call(name: str, **arguments: object) -> Call:
    """A tool call with these arguments."""
    return Call(name=name, arguments=json.dumps(arguments, ensure_ascii=False, sort_keys=True))


def handler_of(model: Replies) -> CustomLLM:
    """The handler for litellm's provider map. litellm is imported here, and not before."""
    from litellm.llms.custom_llm import CustomLLM
    from litellm.types.utils import ChatCompletionMessageToolCall, Choices, Function, ModelResponse, Usage
    from litellm.types.utils import Message as Said

    def respond(name: str, given: Sequence[Any]) -> ModelResponse:
        messages = [_plain(message) for message in given]
        calls = model.reply(messages)
        turn = sum(message.get("role") == "assistant" for message in messages)
        said = Said(
            role="assistant",
            content=None,
            tool_calls=[
                ChatCompletionMessageToolCall(
                    id=f"call_{turn}_{place}",
                    type="function",
                    function=Function(name=asked.name, arguments=asked.arguments),
                )
                for place, asked in enumerate(calls)
            ],
        )
        read, told = _size_of_new(messages), sum(len(asked.arguments) for asked in calls)
        usage = Usage(
            prompt_tokens=read // _CHARACTERS_PER_TOKEN,
            completion_tokens=told // _CHARACTERS_PER_TOKEN,
            total_tokens=read // _CHARACTERS_PER_TOKEN + told // _CHARACTERS_PER_TOKEN,
        )
        choice = Choices(finish_reason="tool_calls", index=0, message=said)
        return ModelResponse(model=name, choices=[choice], usage=usage)

    class Embedded(CustomLLM):
        """Answers for a model of this process."""

        def completion(self, model: str, messages: list[Any], *_: Any, **__: Any) -> ModelResponse:
            return respond(model, messages)

        async def acompletion(self, model: str, messages: list[Any], *_: Any, **__: Any) -> ModelResponse:
            return respond(model, messages)

    return Embedded()


def text_of(message: Message) -> str:
    """The text of a message, whichever of litellm's forms it has."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content or () if isinstance(part, Mapping))


def _plain(message: Any) -> Message:
    """A message as a mapping, also when it is an object of litellm's."""
    if isinstance(message, Mapping):
        return message
    plain: Message = message.model_dump()
    return plain


def _size_of_new(messages: Sequence[Message]) -> int:
    """Characters since the model last spoke: nothing is worked out twice, so nothing is counted twice."""
    size = 0
    for message in reversed(messages):
        if message.get("role") == "assistant":
            break
        size += len(text_of(message))
    return size
