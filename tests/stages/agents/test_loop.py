"""The tool loop with a model in this process that is as strict as a provider."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stages.agents.base import Answer
from stages.agents.limits import Budget
from stages.agents.loop import Loop
from stages.agents.model import Model, NoModel, Price, UnknownPrice
from stages.errors import LimitReached, ParkCause, Parked, Stopped, UnreadableAnswer
from stages.journal import ModelAnswered, ModelSaid, ToolUsed
from stages.prompt import EntryPoint, Prompt
from tests.fakes import Clock, RecordingJournal, Says, ScriptedModel, TreeInMemory, budget, prompt, says

CART = "def total(cart):\n    return sum(cart) + 1\n"
DONE = says(("finish", {"cause": "off by one", "files": ["src/cart.py"], "quote": "q"}))
Read = Callable[[Answer], Any]


def converse(
    model: ScriptedModel,
    journal: RecordingJournal | None = None,
    *,
    limits: Budget | None = None,
    read: Read = lambda answer: answer.fields,
    at: Prompt | None = None,
    workspace: TreeInMemory | None = None,
    **more: Any,
) -> Any:
    """What `read` makes of the model's answer."""
    loop = Loop(journal or RecordingJournal(), model.model(**more), sleep=Clock().sleep)
    return loop.ask(at or prompt(), workspace or TreeInMemory({"src/cart.py": CART}), limits or budget(), read)


def told(model: ScriptedModel, request: int = -1) -> list[str]:
    """What the model was told after the prompt."""
    return [message["content"] for message in model.requests[request][1:] if message["role"] != "assistant"]


def test_the_prompt_is_the_one_first_message_and_stays_so_in_later_turns() -> None:
    model = ScriptedModel(says(("list", {})), says(("read", {"path": "src/cart.py"})), DONE)
    given = prompt()

    found = converse(model, at=given)

    assert found == {"cause": "off by one", "files": ["src/cart.py"], "quote": "q"}
    assert [len(request) for request in model.requests] == [1, 3, 5]
    assert all(request[0] == {"role": "user", "content": given.text} for request in model.requests)
    assert told(model) == ["| src/cart.py", "1| def total(cart):\n2|     return sum(cart) + 1"]
    assert model.refused == []


def test_several_calls_of_one_turn_are_done_in_order_and_a_refused_one_stops_none() -> None:
    workspace = TreeInMemory({"a": "1"})
    calls = (
        ("write", {"path": "a", "text": "2"}),
        ("read", {"path": "../x"}),
        ("edit", {"path": "a", "old": "2", "new": "3"}),
        ("finish", {"summary": "s"}),
        ("write", {"path": "a", "text": "never"}),
    )

    converse(ScriptedModel(says(*calls)), at=prompt(EntryPoint.DEVELOP, "# Develop: x"), workspace=workspace)

    assert workspace.now["a"] == b"3"


def test_everything_is_told_to_the_journal_in_order() -> None:
    journal = RecordingJournal()
    model = ScriptedModel(says(("list", {}), text="Let me look."), DONE)

    converse(model, journal, price=Price(input=3.0, output=15.0))

    kinds = [type(event) for event in journal.events]
    assert kinds == [ModelAnswered, ModelSaid, ToolUsed, ModelAnswered, ToolUsed]
    assert journal.answers[0].tokens_in == 1_000
    assert journal.answers[0].price == pytest.approx(0.003 + 0.00075)
    assert journal.tools[0] == ToolUsed(tool="list", arguments="{}", result="| src/cart.py", refused=False)
    assert len(journal.prompts) == 1


def test_a_refused_answer_goes_back_to_the_model_with_the_reason() -> None:
    model = ScriptedModel(DONE, DONE)
    reasons = iter([UnreadableAnswer(reason="the test passes"), None])

    def read(answer: Answer) -> str:
        if problem := next(reasons):
            raise problem
        return "found"

    assert converse(model, read=read) == "found"
    assert told(model) == ["refused: the test passes"]


def test_the_fourth_refusal_ends_the_conversation_though_the_answers_are_equal() -> None:
    model = ScriptedModel(*[DONE] * 5)

    def read(answer: Answer) -> None:
        raise UnreadableAnswer(reason="no")

    with pytest.raises(UnreadableAnswer, match="no"):
        converse(model, read=read)

    assert len(model.requests) == 4


# --- F56: answers that cannot be used --------------------------------------------------------------------------------

UNUSABLE = {
    "empty": says(text=""),
    "nothing at all": says(),
    "plain text": says(text='I would call {"name": "finish"}'),
    "refusal": says(text="I cannot help with that."),
    "unknown tool": says(("shell", {"command": "id"})),
    "odd name": says(("rm -rf /; é", {})),
    "invalid JSON": says(("finish", '{"cause": ')),
    "no object": says(("finish", "[1]")),
    "deep JSON": says(("finish", "[" * 100_000)),
    "10 MB": says(("finish", '{"cause": "' + "x" * 10_000_000 + '"}')),
    "10 MB of text": says(text="x" * 10_000_000),
    "cut": says(text="I think that", finish_reason="length"),
}


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_f56_an_unusable_answer_gets_one_repair_turn(bad: Says) -> None:
    model, journal = ScriptedModel(bad, DONE), RecordingJournal()

    found = converse(model, journal)

    assert found == {"cause": "off by one", "files": ["src/cart.py"], "quote": "q"}
    assert len(told(model)) == 1
    assert len(json.dumps(model.requests[-1])) < 40_000
    assert model.refused == []
    assert len(journal.answers) == 2


@pytest.mark.parametrize("bad", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_f56_a_second_one_in_a_row_ends_it_and_both_are_paid_for(bad: Says) -> None:
    model, limits = ScriptedModel(bad, bad, DONE), budget()

    with pytest.raises(UnreadableAnswer, match="no answer that can be used"):
        converse(model, limits=limits, price=Price(input=3.0, output=15.0))

    assert limits.spent.calls == 2
    assert limits.spent.money == pytest.approx(2 * 0.00375)


def test_a_good_call_in_between_gives_a_new_repair_turn() -> None:
    bad = says(text="hm")

    assert converse(ScriptedModel(bad, says(("list", {})), bad, DONE))


def test_one_good_call_beside_a_bad_one_is_a_good_turn() -> None:
    mixed = says(("nothing", {}), ("list", {}))

    assert converse(ScriptedModel(mixed, says(("list", {"path": "src"}), ("other", {})), DONE))


def test_arguments_that_do_not_fit_are_told_up_to_three_times() -> None:
    bad = [says(("finish", {"quote": "q", "cause": number})) for number in range(4)]

    assert converse(ScriptedModel(*bad[:3], DONE))
    with pytest.raises(UnreadableAnswer, match="files is missing"):
        converse(ScriptedModel(*bad))


@pytest.mark.parametrize("ids", [("same", "same"), (None, ""), ("", "x")])
def test_calls_with_missing_or_equal_ids_get_ids_of_their_own(ids: tuple[str | None, ...]) -> None:
    model = ScriptedModel(says(("list", {}), ("list", {"path": "src"}), ids=ids), DONE)

    converse(model)

    assert model.refused == []


# --- F57: loops ------------------------------------------------------------------------------------------------------


def test_f57_the_third_equal_call_in_a_row_ends_the_loop() -> None:
    model = ScriptedModel(*[says(("read", {"path": "src/cart.py", "start": 1}))] * 4)
    workspace = TreeInMemory({"src/cart.py": CART})

    with pytest.raises(UnreadableAnswer, match="called read three times in a row with equal arguments"):
        converse(model, workspace=workspace)

    assert len(model.requests) == 3


def test_f57_equal_calls_with_another_in_between_are_work() -> None:
    run, look = ("run", {"check": "pytest"}), ("read", {"path": "src/cart.py"})

    assert converse(ScriptedModel(says(run, look), says(run, look), says(run, run), DONE))


def test_f57_three_equal_calls_in_one_turn_are_a_loop_too() -> None:
    with pytest.raises(UnreadableAnswer, match="three times in a row"):
        converse(ScriptedModel(says(*[("list", {})] * 3)))


# --- money, limits, window -------------------------------------------------------------------------------------------


def test_r20_an_unknown_price_is_refused_before_any_call_and_the_message_says_what_to_set() -> None:
    model = ScriptedModel(DONE)

    with pytest.raises(UnknownPrice, match=r'\[prices\."scripted/one"\]'):
        converse(model, price=None)

    assert model.requests == []


def test_without_a_model_the_message_says_what_to_set() -> None:
    with pytest.raises(NoModel, match="TICKETSMITH_MODEL"):
        Loop(RecordingJournal(), Model(name="")).check()


def test_a_listed_model_is_ready_with_its_price_and_window() -> None:
    ready = Loop(RecordingJournal(), Model(name="openai/gpt-4o", key="k")).check()

    assert ready.price.input > 0
    assert ready.price.output > ready.price.input
    assert ready.window == 128_000
    assert "k" not in repr(ready.model).replace("key", "").replace("token", "")


def test_without_a_key_the_run_waits_for_the_variable_of_that_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)

    with pytest.raises(Parked, match="set the environment variable ANTHROPIC_API_KEY") as parked:
        Loop(RecordingJournal(), Model(name="anthropic/some-model", price=Price(input=1, output=1))).check()

    assert parked.value.cause is ParkCause.TOKEN


def test_r19_a_run_stops_at_the_call_before_its_money_is_used_up() -> None:
    price = Price(input=300.0, output=1_500.0)
    costly = [says(("read", {"path": "src/cart.py", "start": 1, "end": n})) for n in range(1, 90)]
    limits = budget(money=1.0)

    with pytest.raises(LimitReached, match="money"):
        converse(ScriptedModel(*costly), limits=limits, price=price)

    assert 0.3 < limits.spent.money <= 1.0


def test_the_answer_may_be_no_longer_than_what_is_left_can_pay() -> None:
    model = ScriptedModel(DONE)

    converse(model, limits=budget(money=0.02), price=Price(input=0.0, output=15.0))

    assert model.parameters[0]["max_tokens"] == 1_333


def test_tokens_calls_and_stops_are_checked_before_each_call() -> None:
    two = [says(("list", {})), says(("list", {"path": "src"})), DONE]
    answers = iter([False, False, True, True])

    with pytest.raises(LimitReached, match="calls: 3 of 2"):
        converse(ScriptedModel(*two), limits=budget(calls=2))
    with pytest.raises(LimitReached, match="tokens"):
        converse(ScriptedModel(*two), limits=budget(tokens=2_000))
    with pytest.raises(Stopped):
        converse(ScriptedModel(*two), limits=budget(stopped=lambda: next(answers)))


@pytest.mark.parametrize("price", [Price(input=3.0, output=0.0), Price(input=0.0, output=3.0)], ids=["in", "out"])
def test_a_provider_that_tells_no_usage_is_counted_by_size(price: Price) -> None:
    limits, journal = budget(), RecordingJournal()

    converse(
        ScriptedModel(Says(calls=DONE.calls, tokens_in=0, tokens_out=0)),
        journal,
        limits=limits,
        price=price,
    )

    assert max(journal.answers[0].tokens_in, journal.answers[0].tokens_out) > 30
    assert limits.spent.money > 0


def test_r29_what_does_not_fit_the_window_is_left_out_where_the_model_sees_it() -> None:
    wide = TreeInMemory({f"f{number}": "word " * 1_200 for number in range(12)})
    model = ScriptedModel(*[says(("read", {"path": f"f{number}"})) for number in range(12)], DONE)
    given = prompt()

    converse(model, at=given, workspace=wide, window=12_000, output=1_000)

    last = model.requests[-1]
    assert last[0]["content"] == given.text
    assert told(model)[0].startswith("(7 earlier tool results left out)\n1| word")
    assert len(told(model)) == 5
    assert model.refused == []


def test_a_note_is_put_before_words_of_ours_where_no_result_is_left() -> None:
    wide = TreeInMemory({"f": "word " * 1_200})
    model = ScriptedModel(says(("read", {"path": "f"})), says(text="word " * 1_500), DONE)

    converse(model, workspace=wide, window=5_600, output=1_000)

    assert told(model) == [
        "(1 earlier tool results left out)\nAnswer with a call of one of the tools. When the work is done, call finish."
    ]


def test_a_prompt_that_fits_no_window_is_refused_before_any_call() -> None:
    model = ScriptedModel(DONE)

    with pytest.raises(LimitReached, match="model's window"):
        converse(model, at=prompt(body="x" * 100_000), window=8_000)

    assert model.requests == []


def test_text_of_many_languages_is_counted_by_the_character() -> None:
    with pytest.raises(LimitReached, match="model's window"):
        converse(ScriptedModel(DONE), at=prompt(body="# 数据库\n" + "连接超时" * 2_000), window=8_000)


def test_what_a_provider_wants_back_is_sent_back() -> None:
    thinking = [{"type": "thinking", "thinking": "hm", "signature": "s"}]

    def answering(messages: Sequence[Mapping[str, Any]]) -> Says:
        return DONE

    model = ScriptedModel(says(("list", {})), answering)
    _with_thinking(model, thinking)

    converse(model)

    assert model.requests[1][1]["thinking_blocks"] == thinking


def _with_thinking(model: ScriptedModel, thinking: list[dict[str, str]]) -> None:
    inner = model._completion

    def completion(messages: list[dict[str, Any]], parameters: dict[str, Any]) -> Any:
        answer = inner(messages, parameters)
        answer.choices[0].message.thinking_blocks = thinking
        return answer

    model._completion = completion  # type: ignore[method-assign]


def test_a_model_of_this_process_that_breaks_is_not_asked_again() -> None:
    model = ScriptedModel(ZeroDivisionError("a bug"), DONE)

    with pytest.raises(Parked, match="a bug") as parked:
        converse(model)

    assert parked.value.cause is ParkCause.MODEL
    assert len(model.requests) == 1


def test_importing_the_loop_brings_neither_litellm_nor_git() -> None:
    code = (
        "import sys, stages.agents.loop, stages.agents.program, stages.base\n"
        "assert not {'litellm', 'openai', 'git'} & set(sys.modules), 'imported'"
    )
    root = Path(__file__).resolve().parents[3]

    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr


ALONE = """
import os, socket, sys, time
looked_up = []
def getaddrinfo(host, *rest, **more):
    looked_up.append(host)
    raise OSError("no names here")
socket.getaddrinfo = getaddrinfo
connect = socket.socket.connect
def connecting(self, address):
    looked_up.append(address)
    return connect(self, address)
socket.socket.connect = connecting

from tests.fakes import RecordingJournal, ScriptedModel, TreeInMemory, budget, prompt, says
from stages.agents.loop import Loop
model = ScriptedModel(says(("finish", {"cause": "c", "files": [], "quote": "q"})))
print(Loop(RecordingJournal(), model.model()).ask(prompt(), TreeInMemory(), budget(), lambda answer: answer.fields))
time.sleep(0.5)
assert not looked_up, looked_up
assert "FROM_A_FILE" not in os.environ
assert "FROM_A_FILE" not in str(sys.modules["litellm"].__dict__.get("api_base"))
"""


def test_the_loop_asks_nobody_but_the_model_and_reads_no_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("FROM_A_FILE=1\nOPENAI_API_BASE=http://evil.example\n")
    root = Path(__file__).resolve().parents[3]

    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "{'cause': 'c', 'files': [], 'quote': 'q'}\n"
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
