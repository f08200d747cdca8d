"""Stages and agents in a real workspace: git, pytest and the plain sandbox."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memory.types import CheckId
from stages.agents.base import Agent
from stages.agents.loop import Loop
from stages.agents.program import Program, ProgramAgent
from stages.base import Desk
from stages.case import Asking, Case
from stages.development import Development, DevelopmentGiven
from stages.diagnosis import Diagnosis, DiagnosisGiven
from stages.prompt import EntryPoint
from stages.report import Reproduction
from stages.reproducing import NotShown
from stages.sandbox.plain import Plain
from stages.workspace import Workspace
from tests.fakes import NOW, SCOPE, RecordingJournal, Says, ScriptedModel, budget, context, says, ticket
from tests.stages.repositories import FIXED, workspace

CART = "src/shop/cart.py"
NEW_PATH = "tests/test_new.py"
NEW_TEST = "from shop.cart import total\n\n\ndef test_new():\n    assert total([5]) == 5\n"
RED = CheckId("tests/test_cart.py::test_total")


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    return workspace(tmp_path)


def case_of(space: Workspace) -> Case:
    baseline = [space.run(check.name) for check in space.checks]
    return Case.of(ticket(), Asking(scope=SCOPE, at=NOW), checks=space.checks, baseline=baseline)


def desk(space: Workspace, agent: Agent) -> Desk:
    return Desk(agent=agent, workspace=space, limits=budget())


def diagnose(space: Workspace, *answers: Says) -> tuple[Any, RecordingJournal]:
    journal = RecordingJournal()
    stage = Diagnosis(EntryPoint.DIAGNOSE, desk(space, Loop(journal, ScriptedModel(*answers).model())))
    return stage.run(DiagnosisGiven(case=case_of(space)), context=context(EntryPoint.DIAGNOSE)), journal


def finish(**fields: object) -> Says:
    diagnosis = {"quote": ticket().title, "cause": "the first price is left out", "files": [CART]}
    return says(("finish", {**diagnosis, **fields}))


def test_a_known_red_test_is_found_by_running_it(shop: Workspace) -> None:
    found, journal = diagnose(shop, says(("run", {"check": "pytest", "coverage": True})), finish(reproduction=RED))

    assert found.reproduction == Reproduction(check=CheckId("pytest"), test=RED)
    shown = journal.tools[0].result.split("\n")
    assert shown[0] == "run pytest: exit 1, 2 tests: 1 passed, 1 failed, 0 skipped"
    assert shown[1:3] == [f"| failed {RED}", "|   AssertionError: assert 2 == 3"]
    lines = next(line for line in shown if line.endswith(f" in {CART}"))
    assert {"2:1/0", "6:0/1"} <= set(lines.split())


def test_a_new_test_is_mended_by_the_model_until_it_shows_the_failure(shop: Workspace) -> None:
    wrong_name = finish(test_path="tests/test_cart.py", test_text=NEW_TEST)
    green = finish(test_path=NEW_PATH, test_text=NEW_TEST.replace("== 5", "== 0"))
    no_import = finish(test_path=NEW_PATH, test_text=NEW_TEST.replace("shop.cart", "shop.nothing"))

    found, journal = diagnose(shop, wrong_name, green, no_import, finish(test_path=NEW_PATH, test_text=NEW_TEST))

    assert [used.refused for used in journal.tools] == [True, True, True, False]
    assert "is there already" in journal.tools[0].result
    assert "passes on the base commit" in journal.tools[1].result
    assert "ModuleNotFoundError: No module named 'shop.nothing'" in journal.tools[2].result
    assert (found.reproduction.test, found.reproduction.text) == (f"{NEW_PATH}::test_new", NEW_TEST)
    assert NEW_PATH not in shop.files()


def test_a_test_that_never_fails_ends_after_the_fourth_answer(shop: Workspace) -> None:
    green = finish(test_path=NEW_PATH, test_text="def test_new():\n    assert True\n")

    with pytest.raises(NotShown, match="passes on the base commit"):
        diagnose(shop, *[green] * 4)

    assert NEW_PATH not in shop.files()


def given_of(space: Workspace) -> DevelopmentGiven:
    reproduction = Reproduction(check=CheckId("pytest"), test=RED)
    return DevelopmentGiven(case=case_of(space), cause="c", files=(CART,), reproduction=reproduction)


def test_a_model_edits_runs_and_leaves_a_patch(shop: Workspace) -> None:
    model = ScriptedModel(
        says(("read", {"path": CART})),
        says(
            ("edit", {"path": CART, "old": "    return sum(prices[1:])", "new": "    return sum(prices)"}),
            ("run", {"check": "pytest", "tests": [RED]}),
        ),
        says(("finish", {"summary": "took all prices"})),
    )
    journal = RecordingJournal()
    stage = Development(EntryPoint.DEVELOP, desk(shop, Loop(journal, model.model())))

    patch = stage.run(given_of(shop), context=context(EntryPoint.DEVELOP))

    assert patch.paths == (CART,)
    assert "-    return sum(prices[1:])\n+    return sum(prices)\n" in patch.diff
    assert journal.tools[2].result == "run pytest: exit 0, 1 tests: 1 passed, 0 failed, 0 skipped"


def test_a_program_works_in_the_tree_and_leaves_a_patch(shop: Workspace) -> None:
    code = (
        "import sys\n"
        "assert '# Develop: ' in sys.stdin.read()\n"
        f"open({CART!r}, 'w').write({FIXED!r})\n"
        f"print({json.dumps({'summary': 'took all prices'})!r})"
    )
    program = Program(command=(sys.executable, "-I", "-c", code))
    stage = Development(EntryPoint.DEVELOP, desk(shop, ProgramAgent(RecordingJournal(), program, Plain())))

    patch = stage.run(given_of(shop), context=context(EntryPoint.DEVELOP))

    assert patch.paths == (CART,)
    assert shop.run(CheckId("pytest")).passed
