"""The embedded model as a custom provider of litellm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stages.offline.conversation import Message, text_of
from stages.offline.model import RepairModel, Reply

if TYPE_CHECKING:
    from litellm.llms.custom_llm import CustomLLM

_CHARACTERS_PER_TOKEN = 4  # a count for the ledger: nothing is priced by it


def make(candidate_runs: int) -> CustomLLM:
    """The handler; litellm is imported here, and nowhere else in this folder."""
    from litellm.llms.custom_llm import CustomLLM
    from litellm.types.utils import ChatCompletionMessageToolCall, Choices, Function, ModelResponse, Usage
    from litellm.types.utils import Message as Said

    model = RepairModel(candidate_runs=candidate_runs)

    def respond(name: str, messages: Sequence[Message]) -> ModelResponse:
        reply = model.reply([_plain(message) for message in messages])
        calls = [
            ChatCompletionMessageToolCall(
                id=f"call_{reply.turn}_{place}",
                type="function",
                function=Function(name=asked.name, arguments=asked.arguments),
            )
            for place, asked in enumerate(reply.calls)
        ]
        said = Said(role="assistant", content=None, tool_calls=calls)
        choice = Choices(finish_reason="tool_calls", index=0, message=said)
        asked, told = _tokens(messages, reply)
        usage = Usage(prompt_tokens=asked, completion_tokens=told, total_tokens=asked + told)
        return ModelResponse(model=name, choices=[choice], usage=usage)

    class OfflineRepair(CustomLLM):
        """Answers `offline/repair`."""

        def completion(self, model: str, messages: list[Any], *_: Any, **__: Any) -> ModelResponse:
            return respond(model, messages)

        async def acompletion(self, model: str, messages: list[Any], *_: Any, **__: Any) -> ModelResponse:
            return respond(model, messages)

    return OfflineRepair()


def _plain(message: Any) -> Message:
    """A message as a dict, also when it is an object of litellm's."""
    if isinstance(message, Mapping):
        return message
    plain: Message = message.model_dump()
    return plain


def _tokens(messages: Sequence[Message], reply: Reply) -> tuple[int, int]:
    """About what was read anew, and what was said: nothing is worked out twice, so nothing is counted twice."""
    new = 0
    for message in reversed(messages):
        plain = _plain(message)
        if plain.get("role") == "assistant":
            break
        new += len(text_of(plain))
    said = sum(len(call.arguments) for call in reply.calls)
    return new // _CHARACTERS_PER_TOKEN, said // _CHARACTERS_PER_TOKEN
