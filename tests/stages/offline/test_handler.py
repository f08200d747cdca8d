"""The handler behind litellm: what goes in and out of a real call."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

PROMPT = "[ticketsmith:end]\n# Review: say what is wrong.\n"


@pytest.fixture(scope="module")
def litellm() -> Any:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        patched.setenv("LITELLM_MODE", "PRODUCTION")
        import litellm as module

        from stages.offline import handler

        patched.setattr(module, "custom_provider_map", [{"provider": "offline", "custom_handler": handler()}])
        yield module


def test_a_call_through_litellm_gives_tool_calls_and_usage(litellm: Any) -> None:
    response = litellm.completion(model="offline/repair", messages=[{"role": "user", "content": PROMPT}])

    (call,) = response.choices[0].message.tool_calls
    assert call.function.name == "finish"
    assert json.loads(call.function.arguments) == {"findings": []}
    assert response.usage.prompt_tokens == len(PROMPT) // 4


def test_the_messages_may_be_objects_and_only_new_ones_are_counted(litellm: Any) -> None:
    first = litellm.completion(model="offline/repair", messages=[{"role": "user", "content": PROMPT}])
    said = first.choices[0].message
    refused = {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": "refused: " + "x" * 91}

    second = litellm.completion(model="offline/repair", messages=[{"role": "user", "content": PROMPT}, said, refused])

    assert second.choices[0].message.tool_calls[0].function.arguments == said.tool_calls[0].function.arguments
    assert second.choices[0].message.tool_calls[0].id != said.tool_calls[0].id
    assert second.usage.prompt_tokens == 25


def test_it_answers_asynchronous_calls_too(litellm: Any) -> None:
    messages = [{"role": "user", "content": PROMPT}]

    response = asyncio.run(litellm.acompletion(model="offline/repair", messages=messages))

    assert response.choices[0].message.tool_calls[0].function.name == "finish"
