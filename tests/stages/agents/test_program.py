"""The external program as agent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stages.agents.program import Program, ProgramAgent, last_object
from stages.errors import LimitReached, ParkCause, Parked, Refused, Stopped, UnreadableAnswer
from stages.prompt import EntryPoint, Prompt
from stages.sandbox import Command, Level, Ran
from tests.fakes import RecordingJournal, TreeInMemory, budget, prompt

SAID = '{"cause": "off by one", "files": ["src/cart.py"], "quote": "q"}'
DEVELOP = prompt(EntryPoint.DEVELOP, "# Develop: x")


class PlainRuns:
    """Runs commands as plain processes, for programs of these tests only; keeps what it was told to run."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def run(self, command: Command, *, stopped: Callable[[], bool] = lambda: False) -> Ran:
        self.commands.append(command)
        begun = time.monotonic()
        try:
            done = subprocess.run(
                command.arguments,
                cwd=command.tree / command.folder,
                env=dict(command.environment),
                input=command.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=command.timeout_seconds,
            )
        except subprocess.TimeoutExpired:
            return ran(None, "", timed_out=True)
        except FileNotFoundError:
            return ran(127, "not found")
        return ran(done.returncode, done.stdout.decode(), seconds=time.monotonic() - begun)


class Gives:
    """A sandbox in which every command came to this."""

    def __init__(self, came: Ran) -> None:
        self.came = came

    def run(self, command: Command, *, stopped: Callable[[], bool] = lambda: False) -> Ran:
        return self.came


def ran(exit_status: int | None, output: str, *, timed_out: bool = False, seconds: float = 0.1) -> Ran:
    return Ran(
        exit_status=exit_status, timed_out=timed_out, output=output, reported=b"", seconds=seconds, level=Level.PLAIN
    )


def python(code: str, **more: Any) -> Program:
    return Program(command=(sys.executable, "-I", "-c", code), **more)


def test_the_program_gets_the_prompt_on_stdin_and_only_the_environment_that_is_configured(tmp_path: Path) -> None:
    journal, given = RecordingJournal(), prompt(body="# Diagnose: größer\n| 数据库")
    code = (
        "import sys, os, json\n"
        "open('seen', 'wb').write(sys.stdin.buffer.read())\n"
        "open('env', 'w').write(' '.join(sorted(os.environ)))\n"
        "print('thinking {hm} ...'); print('" + SAID + "')"
    )
    agent = ProgramAgent(journal, python(code, environment={"MY_KEY": "v", "LC_CTYPE": "C.UTF-8"}), PlainRuns())

    found = agent.ask(given, TreeInMemory(tree=tmp_path), budget(), lambda answer: answer.fields)

    assert found == {"cause": "off by one", "files": ["src/cart.py"], "quote": "q"}
    assert (tmp_path / "seen").read_bytes() == given.text.encode()
    assert (tmp_path / "env").read_text() == "LC_CTYPE MY_KEY"
    assert "MY_KEY" not in os.environ
    assert journal.prompts == [given]
    assert (journal.answers[0].model, journal.answers[0].tokens_in) == (sys.executable, 0)


@pytest.mark.parametrize("given", [prompt(point, f"# {point}") for point in EntryPoint], ids=list(EntryPoint))
def test_a_program_may_write_only_where_an_agent_may(given: Prompt, tmp_path: Path) -> None:
    runs, workspace = PlainRuns(), TreeInMemory(tree=tmp_path)

    with pytest.raises(UnreadableAnswer):
        ProgramAgent(RecordingJournal(), python("pass"), runs).ask(given, workspace, budget(), lambda answer: answer)

    assert runs.commands[0].tree_writable is (given.entry_point in (EntryPoint.DEVELOP, EntryPoint.REFIX))


def test_what_it_left_in_the_tree_counts_as_written() -> None:
    workspace = TreeInMemory()
    agent = ProgramAgent(RecordingJournal(), python(""), Gives(ran(0, 'done {"summary": "s"}')))

    agent.ask(DEVELOP, workspace, budget(), lambda answer: answer.fields)

    assert workspace.absorbed


def test_names_that_git_refuses_make_the_answer_unreadable() -> None:
    class Odd(TreeInMemory):
        def absorb(self) -> None:
            raise Refused(reason="git refuses this name")

    agent = ProgramAgent(RecordingJournal(), python(""), Gives(ran(0, '{"summary": "s"}')))

    with pytest.raises(UnreadableAnswer, match="git refuses this name"):
        agent.ask(DEVELOP, Odd(), budget(), lambda answer: answer.fields)


@pytest.mark.parametrize(
    ("came", "reason"),
    [
        (ran(0, ""), "does not end with a JSON object"),
        (ran(0, "[1, 2]"), "does not end with a JSON object"),
        (ran(0, '{"cause": "c", "quote": "q"}'), "files is missing"),
        (ran(0, '{"cause": "c", "files": [], "quote": "q", "more": 1}'), "there is no field 'more'"),
        (ran(1, ""), "exit status 1: it printed nothing"),
        (ran(3, f"boom {SAID}"), "exit status 3: boom"),
        (ran(None, "x"), "was killed: x"),
        (ran(None, "", timed_out=True), "did not end in time"),
    ],
)
def test_r18_an_answer_that_is_none_says_why(came: Ran, reason: str) -> None:
    limits = budget()

    with pytest.raises(UnreadableAnswer, match=reason):
        ProgramAgent(RecordingJournal(), python(""), Gives(came)).ask(
            prompt(), TreeInMemory(), limits, lambda answer: answer
        )

    assert limits.spent.calls == 1


def test_a_program_that_is_not_there_parks_the_run(tmp_path: Path) -> None:
    agent = ProgramAgent(RecordingJournal(), Program(command=("/nowhere/agent",)), PlainRuns())

    with pytest.raises(Parked, match="cannot be started") as parked:
        agent.ask(prompt(), TreeInMemory(tree=tmp_path), budget(), lambda answer: answer)

    assert parked.value.cause is ParkCause.ENVIRONMENT


def test_a_program_has_one_try_and_its_refusal_is_the_ending() -> None:
    class NotShown(UnreadableAnswer):
        """{reason}"""

    def read(answer: object) -> None:
        raise NotShown(reason="the test passes")

    with pytest.raises(NotShown, match="the test passes"):
        ProgramAgent(RecordingJournal(), python(""), Gives(ran(0, SAID))).ask(prompt(), TreeInMemory(), budget(), read)


def test_a_program_is_one_call_of_the_budget_and_keeps_to_its_minutes(tmp_path: Path) -> None:
    limits = budget(calls=1, minutes=2)
    runs = PlainRuns()
    agent = ProgramAgent(RecordingJournal(), python(f"print('{SAID}')", timeout_seconds=900), runs)

    agent.ask(prompt(), TreeInMemory(tree=tmp_path), limits, lambda answer: answer)

    assert runs.commands[0].timeout_seconds == 120
    with pytest.raises(LimitReached, match="calls"):
        agent.ask(prompt(), TreeInMemory(tree=tmp_path), limits, lambda answer: answer)


def test_a_stop_while_it_ran_is_a_stop_and_no_answer() -> None:
    stops = iter([False, True, True])

    with pytest.raises(Stopped):
        ProgramAgent(RecordingJournal(), python(""), Gives(ran(None, ""))).ask(
            prompt(), TreeInMemory(), budget(stopped=lambda: next(stops)), lambda answer: answer
        )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('first {"a": 1} then {"a": 2} end', {"a": 2}),
        ('{"findings": [{"line": 1}, {"line": 2}]}', {"findings": [{"line": 1}, {"line": 2}]}),
        ('{"text": "a {b} \\" {"}\n', {"text": 'a {b} " {'}),
        ('{\n  "a": {\n    "b": 1\n  }\n}', {"a": {"b": 1}}),
        ('{"a": 1', None),
        ("no object", None),
        ("[" * 50_000, None),
    ],
)
def test_the_last_object_is_the_outermost_of_the_last(text: str, found: object) -> None:
    assert last_object(text) == found


@pytest.mark.parametrize("text", ['{"a":' * 13_000, "{" * 65_536, '{"a": "' * 9_000])
def test_looking_for_an_object_in_hostile_text_is_quick(text: str) -> None:
    begun = time.perf_counter()

    assert last_object(text) is None

    assert time.perf_counter() - begun < 1.0
