"""What every agent keeps to, whatever answers behind it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from memory.errors import MissingContext
from stages.agents.base import Agent, Answer
from stages.agents.limits import Budget
from stages.agents.loop import Loop
from stages.agents.model import Model, Price
from stages.agents.program import Program, ProgramAgent
from stages.errors import LimitReached, Stopped, UnreadableAnswer
from stages.prompt import EntryPoint, Prompt
from tests.fakes import RecordingJournal, ScriptedModel, TreeInMemory, budget, prompt, says
from tests.stages.agents.model_server import calling, serving
from tests.stages.agents.test_program import PlainRuns

ANSWERS: Mapping[EntryPoint, Mapping[str, Any]] = {
    EntryPoint.TRIAGE: {"ownership": "ours", "reason": "r"},
    EntryPoint.DIAGNOSE: {"cause": "c", "files": ["a"], "quote": "q", "reproduction": "t"},
    EntryPoint.REDIAGNOSE: {"cause": "c", "files": [], "quote": "q"},
    EntryPoint.DEVELOP: {"summary": "s"},
    EntryPoint.REFIX: {"summary": "s"},
    EntryPoint.REVIEW: {"findings": [{"path": "a", "line": 1, "text": "t"}]},
    EntryPoint.VERIFY: {"check": "pytest"},
    EntryPoint.SUMMARISE: {"text": "größer"},
}
Received = Callable[[], list[str]]
Tried = tuple[RecordingJournal, list[str], Any]


def by_loop(given: Prompt, limits: Budget, read: Callable[[Answer], Any], tree: Path) -> Tried:
    journal, model = RecordingJournal(), ScriptedModel(says(("finish", ANSWERS[given.entry_point])))
    found = _ask(Loop(journal, model.model()), given, limits, read, tree)
    return journal, [request[0]["content"] for request in model.requests], found


def by_http(given: Prompt, limits: Budget, read: Callable[[Answer], Any], tree: Path) -> Tried:
    journal = RecordingJournal()
    with serving(calling("finish", **ANSWERS[given.entry_point])) as server:
        model = Model(name="openai/tiny", url=server.url, key="k", price=Price(input=1, output=1))
        found = _ask(Loop(journal, model), given, limits, read, tree)
    return journal, [request["messages"][-1]["content"] for request in server.requests], found


def by_program(given: Prompt, limits: Budget, read: Callable[[Answer], Any], tree: Path) -> Tried:
    journal, runs = RecordingJournal(), PlainRuns()
    code = f"import sys; sys.stdin.read(); print('''{json.dumps(ANSWERS[given.entry_point])}''')"
    program = Program(command=(sys.executable, "-I", "-c", code))
    found = _ask(ProgramAgent(journal, program, runs), given, limits, read, tree)
    return journal, [command.stdin.decode() for command in runs.commands], found


def _ask(agent: Agent, given: Prompt, limits: Budget, read: Callable[[Answer], Any], tree: Path) -> Any:
    try:
        return agent.ask(given, TreeInMemory(tree=tree), limits, read)
    except (MissingContext, LimitReached, Stopped, UnreadableAnswer) as error:
        return error


WAYS = {"loop": by_loop, "http": by_http, "program": by_program}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
Way = Callable[[Prompt, Budget, Callable[[Answer], Any], Path], Tried]


@ways
@pytest.mark.parametrize("entry_point", EntryPoint)
def test_what_a_model_receives_is_section_and_body_exactly(way: Way, entry_point: EntryPoint, tmp_path: Path) -> None:
    body = f"# {entry_point}: größer, 数据库\n| a\tb\n|\nlast line"
    given = prompt(entry_point, body)

    journal, received, found = way(given, budget(), lambda answer: dict(answer.fields), tmp_path)

    assert received == [given.section + body]
    assert received[0].split("\n")[5] == f"# {entry_point}: größer, 数据库"
    assert journal.prompts == [given]
    assert found == ANSWERS[entry_point]


@ways
def test_every_call_counts_and_is_told_to_the_journal(way: Way, tmp_path: Path) -> None:
    limits = budget()

    journal, _, _ = way(prompt(), limits, lambda answer: answer, tmp_path)

    assert limits.spent.calls == len(journal.answers) == 1
    assert journal.answers[0].seconds > 0


@ways
def test_a_used_up_budget_allows_no_call(way: Way, tmp_path: Path) -> None:
    _, received, found = way(prompt(), budget(calls=0), lambda answer: answer, tmp_path)

    assert (received, type(found)) == ([], LimitReached)


@ways
def test_a_stopped_run_makes_no_call(way: Way, tmp_path: Path) -> None:
    _, received, found = way(prompt(), budget(stopped=lambda: True), lambda answer: answer, tmp_path)

    assert (received, type(found)) == ([], Stopped)


@ways
def test_f58_without_a_real_prompt_there_is_no_call_and_no_record(way: Way, tmp_path: Path) -> None:
    class Looks:
        entry_point, text, body = EntryPoint.DIAGNOSE, "x", "x"

    limits = budget()

    journal, received, found = way(Looks(), limits, lambda answer: answer, tmp_path)  # type: ignore[arg-type]

    assert (received, type(found), limits.spent.calls, journal.prompts) == ([], MissingContext, 0, [])
