"""The model as a function of messages: nothing but the messages counts, and importing it loads nothing heavy."""

from __future__ import annotations

import builtins
import json
import socket
import subprocess
import sys
import time

import pytest

from stages.agents.embedded import Message
from stages.offline import CANDIDATE_RUNS_AT_MOST, MODEL
from stages.offline.body import body
from stages.offline.model import RepairModel
from tests.stages.offline.playground import Playground, play

WORK = "def mean(numbers):\n    return sum(numbers) / len(numbers)\n"
TESTS = """\
from work import mean


def test_two():
    assert mean([2, 6]) == 4


def test_work():
    assert mean([]) == 0
"""
PROMPT = "# Develop: do it.\n\nChecks: pytest\n\nReproduction: check pytest, test tests/test_work.py::test_work\n\n"
HELD = "Held: at the gate, attempt 1, cause check\n| failed tests/test_work.py::test_two"


def tree() -> Playground:
    return Playground({"src/work.py": WORK, "tests/test_work.py": TESTS})


def test_the_same_messages_give_the_same_calls_with_and_without_what_is_remembered() -> None:
    messages = play(PROMPT + HELD, tree()).messages
    remembering, forgetting = RepairModel(candidate_runs=500), RepairModel(candidate_runs=500, remembered=0)
    ends = [place for place in range(1, len(messages) + 1) if place == len(messages) or _begins_turn(messages[place])]
    turns = [*ends[:3], *ends[3::5]]

    step_by_step = [remembering.reply(messages[:place]) for place in turns]
    from_scratch = [forgetting.reply(messages[:place]) for place in turns]
    backwards = [remembering.reply(messages[:place]) for place in reversed(turns)]

    assert len(turns) > 5
    assert step_by_step == from_scratch == backwards[::-1]


def _begins_turn(message: Message) -> bool:
    return bool(message["role"] == "assistant")


def test_two_conversations_with_one_prompt_do_not_disturb_each_other() -> None:
    model = RepairModel(candidate_runs=500)
    alone = play(PROMPT + HELD, tree())
    other = tree()
    other.files["src/work.py"] = "def mean(numbers):\n    return sum(numbers) / max(len(numbers), 0)\n"

    play(PROMPT + HELD, other, model=model)
    again = play(PROMPT + HELD, tree(), model=model)

    assert again.messages == alone.messages


def test_a_conversation_that_it_did_not_lead_is_given_up() -> None:
    model = RepairModel(candidate_runs=500)
    calls = [{"id": "a", "type": "function", "function": {"name": "write", "arguments": '{"path": "x", "text": ""}'}}]
    messages: list[Message] = [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "wrote x, 0 lines"},
    ]

    reply = model.reply(messages)

    assert [call.name for call in reply] == ["finish"]
    assert "Given up" in json.loads(reply[0].arguments)["summary"]


def test_arguments_that_are_no_json_are_not_taken_for_its_own() -> None:
    first = RepairModel(candidate_runs=500).reply([{"role": "user", "content": PROMPT}])
    calls = [{"id": "a", "type": "function", "function": {"name": call.name, "arguments": "{"}} for call in first]
    messages: list[Message] = [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": None, "tool_calls": calls},
    ]

    reply = RepairModel(candidate_runs=500).reply(messages)

    assert [call.name for call in reply] == ["finish"]


def test_a_prompt_of_parts_and_a_missing_result_are_read_as_they_are() -> None:
    model = RepairModel(candidate_runs=500)
    parts: list[Message] = [{"role": "user", "content": [{"type": "text", "text": PROMPT}, {"type": "image"}]}]

    assert model.reply(parts) == model.reply([{"role": "user", "content": PROMPT}])


def test_it_opens_no_file_and_no_socket_and_reads_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = play(PROMPT + HELD, tree()).messages

    def forbidden(*_: object, **__: object) -> object:
        raise AssertionError("the model reached outside")

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "open", forbidden)
        patched.setattr(socket, "socket", forbidden)
        patched.setattr(time, "time", forbidden)
        patched.setattr(time, "monotonic", forbidden)
        reply = RepairModel(candidate_runs=500).reply(messages)

    assert reply


def test_importing_it_loads_neither_litellm_nor_libcst() -> None:
    script = "import sys, stages.offline; print([name for name in ('litellm', 'libcst') if name in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"


def test_its_name_and_its_limit_are_what_the_documentation_says() -> None:
    assert MODEL == "offline/repair"
    assert CANDIDATE_RUNS_AT_MOST == 500


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("# Triage: say.\n\nTicket:\n| it crashes", {"ownership": "ours"}),
        (
            '# Triage: say.\n\nTicket:\n| File "/usr/lib/python3.11/site-packages/x.py", line 3, in z',
            {"ownership": "not-here"},
        ),
        (
            '# Triage: say.\n\nTicket:\n| File "/usr/lib/python3.11/x.py", line 3\n| File "src/a.py", line 2, in f',
            {"ownership": "ours"},
        ),
        ("# Review: say.\n", {"findings": []}),
        ("# Verify: name.\n\nChecks: lint, pytest", {"check": "pytest"}),
        (
            "# Verify: name.\n\nReproduction: check pytest, test tests/test_a.py::test_b",
            {"check": "tests/test_a.py::test_b"},
        ),
        ("# Verify: name.\n\nReproduction: check pytest, test\n| tests/a.py::test_é", {"check": "tests/a.py::test_é"}),
        (
            "# Summarise: write.\n\nEnded: drop, budget\n\nEvidence:\n| 12 passed",
            {"text": "drop, budget.\n12 passed"},
        ),
        (
            (
                "# Summarise: write.\n\nTicket:\n| it crashes\n\nEnded: the gate passed\n\nPatch:\n"
                "| diff --git a/x.py b/x.py\n| --- a/x.py\n| +++ b/x.py\n| @@ -1 +1 @@\n| -a > b\n| +a >= b\n| c"
            ),
            {"text": "the gate passed.\nChanged x.py:\n-a > b\n+a >= b"},
        ),
        ("# Summarise: write.\n", {"text": "Nothing is known of this run."}),
    ],
)
def test_the_small_entry_points_answer_at_once(prompt: str, answer: dict[str, object]) -> None:
    reply = RepairModel(candidate_runs=1).reply([{"role": "user", "content": prompt}])

    (call,) = reply
    said = json.loads(call.arguments)
    assert call.name == "finish"
    assert answer.items() <= said.items()


def test_the_check_of_a_test_that_stands_on_a_line_of_its_own_is_read_too() -> None:
    checks = "Checks: pytest-api, pytest-web\n\nReproduction: check pytest-web, test"

    read = body(f"# Develop: do it.\n\n{checks}\n| web/test_a.py::test_b[two words]\n")

    assert (read.check, read.test) == ("pytest-web", "web/test_a.py::test_b[two words]")
