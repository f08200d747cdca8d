"""F55: the loop against a provider on loopback that fails, waits and refuses."""

from __future__ import annotations

import time
from typing import Any

import pytest

from stages.agents.limits import Budget
from stages.agents.loop import RETRIES_AT_MOST, Loop
from stages.agents.model import Model, Price
from stages.errors import LimitReached, ParkCause, Parked, UnreadableAnswer
from stages.prompt import Prompt
from tests.fakes import Clock, RecordingJournal, TreeInMemory, budget, prompt
from tests.stages.agents.model_server import ModelServer, Reply, calling, refusing, serving

KEY = "sk-a-key-of-nobody-0123456789"
DONE = calling("finish", cause="c", files=[], quote="q")
RATE = refusing(429, "slow down")
TOO_LONG = refusing(
    400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "context_length_exceeded",
)  # fmt: skip


def converse(
    server: ModelServer,
    *,
    limits: Budget | None = None,
    clock: Clock | None = None,
    given: Prompt | None = None,
    **more: Any,
) -> Any:
    fields: dict[str, Any] = {
        "name": "openai/tiny",
        "url": server.url,
        "key": KEY,
        "price": Price(input=1.0, output=1.0),
    }
    loop = Loop(RecordingJournal(), Model(**{**fields, **more}), sleep=(clock or Clock()).sleep)
    return loop.ask(given or prompt(), TreeInMemory({"a": "1"}), limits or budget(), lambda answer: answer.fields)


def test_the_prompt_arrives_as_the_one_user_message_byte_for_byte_with_tools_beside_it() -> None:
    given = prompt(body="# Diagnose: größer\n| 数据库\t$x")
    with serving(DONE) as server:
        converse(server, given=given)

    request = server.requests[0]
    assert request["messages"] == [{"role": "user", "content": given.text}]
    assert [tool["function"]["name"] for tool in request["tools"]] == ["list", "read", "search", "run", "finish"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "failing",
    [
        RATE,
        refusing(429, "slow down", retry_after="7"),
        refusing(500, "boom"),
        refusing(502, "bad gateway"),
        refusing(503, "busy"),
        refusing(529, "overloaded"),
        Reply(body=b"<html>proxy</html>"),
        Reply(body={"id": "x", "object": "chat.completion"}),
    ],
    ids=["429", "429 with a wish", "500", "502", "503", "529", "html", "no choices"],
)
def test_f55_what_passes_is_tried_again_and_each_try_is_a_call_of_the_budget(failing: Reply) -> None:
    limits = budget()
    with serving(failing, failing, DONE) as server:
        found = converse(server, limits=limits)

    assert found == {"cause": "c", "files": [], "quote": "q"}
    assert (len(server.requests), limits.spent.calls) == (3, 3)


def test_f55_the_provider_says_how_long_to_wait() -> None:
    clock = Clock()
    with serving(refusing(429, "slow down", retry_after="7"), refusing(500, "boom"), DONE) as server:
        converse(server, clock=clock)

    assert clock.now == 100.0 + 7.0 + 4.0


@pytest.mark.parametrize(
    ("failing", "cause", "requests"),
    [
        (RATE, ParkCause.RATE_LIMIT, RETRIES_AT_MOST + 1),
        (refusing(429, "slow down", retry_after="3600"), ParkCause.RATE_LIMIT, 1),
        (refusing(500, "boom"), ParkCause.MODEL, RETRIES_AT_MOST + 1),
        (refusing(404, "no such model", "model_not_found"), ParkCause.MODEL, 1),
        (refusing(400, "bad parameter"), ParkCause.MODEL, 1),
        (refusing(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"), ParkCause.TOKEN, 1),
        (refusing(403, "not for you"), ParkCause.TOKEN, 1),
    ],
    ids=["429", "429 for an hour", "500", "404", "400", "401", "403"],
)
def test_f55_what_does_not_pass_parks_the_run(failing: Reply, cause: ParkCause, requests: int) -> None:
    with serving(failing) as server, pytest.raises(Parked) as parked:
        converse(server)

    assert parked.value.cause is cause
    assert len(server.requests) == requests
    assert KEY not in str(parked.value)


@pytest.mark.parametrize(("variable", "named"), [("MY_KEY", "MY_KEY"), ("", "OPENAI_API_KEY")])
def test_r18_a_refused_key_names_the_variable_to_set(
    variable: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(refusing(401, "no", "invalid_api_key")) as server, pytest.raises(Parked) as parked:
        converse(server, key_variable=variable)

    assert f"set the environment variable {named}" in str(parked.value)


def test_a_key_in_a_message_of_the_provider_is_not_repeated() -> None:
    with serving(refusing(400, f"what is {KEY}?")) as server, pytest.raises(Parked, match=r"what is \[secret\]"):
        converse(server)


def test_a_provider_that_will_not_answer_ends_the_conversation_and_parks_nothing() -> None:
    refused = refusing(
        400, "rejected as a result of our safety system: content_policy_violation", "content_policy_violation"
    )
    with serving(refused) as server, pytest.raises(UnreadableAnswer, match="refused to answer"):
        converse(server)


def test_a_provider_that_hangs_is_left_and_its_time_and_tokens_count() -> None:
    def slow() -> Reply:
        time.sleep(1.5)
        return DONE

    limits = budget()
    with serving(slow, DONE) as server:
        converse(server, limits=limits, timeout_seconds=1.0)

    assert limits.spent.calls == 2
    assert limits.spent.tokens > 1_100


def test_a_provider_that_is_not_there_parks_the_run() -> None:
    with serving(DONE) as server:
        pass

    with pytest.raises(Parked, match="openai/tiny cannot be asked") as parked:
        converse(server)

    assert parked.value.cause is ParkCause.MODEL


def test_a_window_smaller_than_was_thought_is_learned_from_the_provider() -> None:
    with serving(TOO_LONG, DONE) as server:
        assert converse(server, window=16_000)

    assert len(server.requests) == 2


def test_a_prompt_longer_than_any_window_of_the_provider_ends_by_its_limit() -> None:
    with serving(TOO_LONG) as server, pytest.raises(LimitReached, match="model's window"):
        converse(server, window=16_000, given=prompt(body="# D\n" + "word " * 3_000))


def test_a_window_that_shrinks_to_nothing_ends_by_its_limit() -> None:
    with serving(TOO_LONG) as server, pytest.raises(LimitReached, match="model's window"):
        converse(server, window=2_500, output=100)


def test_a_window_that_the_provider_never_accepts_parks_the_run() -> None:
    with serving(TOO_LONG) as server, pytest.raises(Parked, match="cannot be asked"):
        converse(server, window=200_000)

    assert len(server.requests) == RETRIES_AT_MOST + 1


def test_a_local_server_needs_no_key() -> None:
    with serving(DONE) as server:
        assert converse(server, key="")

    assert KEY not in str(server.headers)
