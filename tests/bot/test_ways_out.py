"""Whatever a person cannot do, or a run waits for, is told with what to do next."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.commands.app import AppThere
from bot.credentials import NoApp, NoKey, NoSecret
from bot.errors import AlreadyOpen, NothingToRetry, NotPublished, RunError, RunIsOver, VariableNotSet
from bot.issue_ticket import OtherGitHub
from bot.leaving import sentence
from bot.run import RunState
from bot.serving import AddressTaken
from memory.errors import Told
from stages.errors import DoesNotFit, ParkCause, UnreadableAnswer
from stages.prompt import EntryPoint, MarkerForgery
from stages.repository import BadBranchName, BranchTaken
from stages.reproducing import NotShown
from stages.workspace import Workspace
from tests.bot.kit import TICKET, Act, Script, bed, silent, told
from tests.test_architecture import SOURCES, module_name

PRINTED = "E   Click [here](https://evil.example) now\nTotal: 1 failed"


@pytest.mark.parametrize(
    ("error", "ways"),
    [
        (NothingToRetry(run="r1", state="published"), ["runs requeue r1 NOTE", "runs verify r1"]),
        (NotPublished(run="r1", state="parked"), ["runs retry r1", "runs requeue r1 NOTE"]),
        (AlreadyOpen(ticket="7", run="r1", state="parked"), ["runs retry r1", "--anew", "runs requeue r1 NOTE"]),
        (RunIsOver(run="r1", outcome="drop: budget"), ["runs requeue r1 NOTE"]),
    ],
)
def test_what_cannot_be_done_is_told_with_the_commands_that_can(error: RunError, ways: list[str]) -> None:
    for way in ways:
        assert way in sentence(error)


def sentences() -> Iterator[str]:
    """Every text in the program that could be shown, with values left out; not of the module about that one file."""
    for path in SOURCES:
        if module_name(path) == "bot.config":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield " ".join(node.value.split())


def test_whoever_is_sent_to_a_file_of_settings_is_told_whose_it_is() -> None:
    named = [text for text in sentences() if "ticketsmith.toml" in text and " " in text]
    unclear = [text for text in named if re.search(r"(?<!operator's )(?<!\.github/)ticketsmith\.toml", text)]

    assert len(named) > 10
    assert unclear == []


@pytest.mark.parametrize("error", [NoApp, NoKey, NoSecret, AddressTaken, AppThere, OtherGitHub, VariableNotSet])
def test_whoever_is_sent_to_a_table_of_settings_is_told_whose_file_it_is_in(error: type[Told]) -> None:
    assert "of the operator's ticketsmith.toml" in " ".join((error.__doc__ or "").split())


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        (BranchTaken(branch="ticketsmith/price", message="it is a folder"), ParkCause.BRANCH),
        (BadBranchName(branch="'HEAD'"), ParkCause.BRANCH),
        (MarkerForgery(line=3, entry_point="review"), ParkCause.PROGRAM),
    ],
)
def test_a_run_waits_for_what_is_really_in_its_way(tmp_path: Path, wrong: Act, cause: ParkCause) -> None:
    ground = bed(tmp_path)

    run = ground.fix(ground.app(Script.of(review=wrong)))

    assert (run.state, run.park_cause) == (RunState.PARKED, cause)


def test_a_branch_that_stands_in_the_way_is_told_and_once_it_is_gone_the_run_goes_on(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    ground.git("branch", "ticketsmith")
    app = ground.app()

    parked = ground.fix(app)
    ground.git("branch", "-D", "ticketsmith")
    run = app.pursue(parked, silent())

    assert (parked.park_cause, run.state) == (ParkCause.BRANCH, RunState.PUBLISHED)


def test_a_patch_that_does_not_fit_ends_the_run_as_trying_again_would_give_the_same(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(review=DoesNotFit(reason="corrupt patch at line 4")))

    run = ground.fix(app)

    assert told(app, run)[-1] == "final drop: model-format"


@pytest.mark.parametrize(
    ("entry_point", "wrong", "ended"),
    [
        (EntryPoint.DIAGNOSE, NotShown(reason=f"it passes\n{PRINTED}"), "no test was found that shows the failure"),
        (EntryPoint.DEVELOP, UnreadableAnswer(reason=PRINTED), "the model gave no answer that can be used"),
    ],
)
def test_what_tests_printed_is_quoted_as_evidence_and_never_codes_own_sentence(
    tmp_path: Path, entry_point: EntryPoint, wrong: Act, ended: str
) -> None:
    ground = bed(tmp_path)
    app = ground.app(script := Script.of(**{entry_point.value: wrong}))

    run = ground.fix(app)

    lines = script.bodies(EntryPoint.SUMMARISE)[-1].split("\n")
    assert f"Ended: {ended}" in lines
    assert all(line.startswith("| ") for line in lines if "1 failed" in line or "Click" in line)
    assert any("1 failed" in line for line in lines)
    assert run.state is RunState.ENDED


def test_a_run_without_a_red_test_names_the_test_files_that_nobody_could_read(tmp_path: Path) -> None:
    settings = "[checks.t]\npytest = []\n"
    tests = {"lib/till.py": "", "tests/test_till.py": "import till\n\n\ndef test_price():\n    assert till\n"}
    ground = bed(tmp_path, {".github/ticketsmith.toml": settings, **tests})
    app = ground.app(Script.of(diagnose=NotShown(reason="it passes"), summarise=UnreadableAnswer(reason="no")))

    run = ground.fix(app)

    text = app.publisher.path(run, "summary.md").read_text()
    assert "No test was found that shows the failure; 1 test file cannot be read on the base commit." in text
    assert "tests/test_till.py cannot be read: ModuleNotFoundError: No module named 'till'" in text


def test_where_no_model_sums_up_what_was_printed_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    script = Script.of(develop=UnreadableAnswer(reason=PRINTED), summarise=UnreadableAnswer(reason="no"))
    app = ground.app(script)

    run = ground.fix(app, TICKET)

    text = app.publisher.path(run, "summary.md").read_text().split("\n")
    assert text[2] == "The model gave no answer that can be used."
    assert text[3].startswith("- The model's answer cannot be used: E")
    assert not any(line.startswith(("E ", "Total")) for line in text)


def test_what_code_saw_stands_below_the_words_of_a_model_that_leaves_it_out(tmp_path: Path) -> None:
    ground = bed(tmp_path, {"tests/prices.txt": "1\n"})

    def changes_tests_too(workspace: Workspace) -> dict[str, object]:
        workspace.write("price.txt", b"3\n")
        workspace.write("tests/prices.txt", b"3\n")
        return {"summary": "Wrote both."}

    app = ground.app(Script.of(develop=changes_tests_too, summarise={"text": "All good."}))

    run = ground.fix(app, TICKET)

    text = app.publisher.path(run, "summary.md").read_text().split("\n")
    assert text[2:5] == ["All good.", "", "What code saw:"]
    assert "- look at this first: tests: tests/prices.txt" in text
    assert "- red before, green now: price" in text
