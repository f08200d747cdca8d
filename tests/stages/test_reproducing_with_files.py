"""Tests that need what earlier tests of their file leave behind, from the diagnosis to the merged fix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bot.app import App, Choices
from bot.config import Settings
from bot.run import RunState
from memory.types import CheckId, TicketId
from stages import offline
from stages.body import reproduction as reproduction_block
from stages.case import Asking, Case
from stages.errors import Refused
from stages.git import Git
from stages.offline.body import body as body_of
from stages.report import CheckReport, Reproduction
from stages.reproducing import NotShown, Passes, Reproducing
from stages.ticket import Ticket
from stages.workspace import Workspace
from tests.bot.empty_database import lay_empty_database
from tests.bot.kit import silent
from tests.fakes import NOW, SCOPE, ticket
from tests.stages.repositories import make, workspace
from tests.stages.test_stages_at_work import desk

TILL = "till.py"
OPENED = "tests/test_till.py::TestTill::test_opened"
TOTAL = "tests/test_till.py::TestTill::test_total"
STALE = "tests/test_till.py::TestTill::test_nothing_is_left"
FILES: Final = {
    TILL: """\
class Till:
    def __init__(self):
        self.coins = []

    def put(self, coin):
        self.coins.append(coin)

    def total(self):
        return sum(self.coins[1:])
""",
    "tests/test_till.py": """\
from till import Till


class TestTill:
    till = None
    left = []

    def test_opened(self):
        TestTill.till = Till()
        TestTill.till.put(2)
        TestTill.left.append(2)
        assert len(TestTill.till.coins) == 1

    def test_total(self):
        assert TestTill.till.total() == 2

    def test_nothing_is_left(self):
        assert TestTill.left == []

    def test_red_for_its_own_reason(self):
        assert Till().total() == 1
""",
}
"""`test_total` fails alone with an AttributeError, after `test_opened` with the failure that a ticket would show;
`test_nothing_is_left` passes alone."""
ONE_DEFECT: Final = {
    TILL: FILES[TILL],
    "tests/test_till.py": FILES["tests/test_till.py"].partition("\n    def test_nothing_is_left")[0],
}


@pytest.fixture
def till(tmp_path: Path) -> Workspace:
    return workspace(tmp_path, FILES)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[CheckReport]:
    """What the checks show of these files."""
    return baseline_of(workspace(tmp_path_factory.mktemp("shown"), FILES))


def baseline_of(space: Workspace) -> list[CheckReport]:
    return [space.run(check.name) for check in space.checks]


def reproducing(space: Workspace, baseline: list[CheckReport], text: str = "") -> Reproducing:
    told = replace(ticket(), body=text)
    case = Case.of(told, Asking(scope=SCOPE, at=NOW), checks=space.checks, baseline=baseline)
    return Reproducing(case, desk(space, None))  # type: ignore[arg-type]  # no model is asked


@pytest.mark.parametrize("test", [TOTAL, STALE])
def test_a_test_is_run_with_its_file_where_only_that_shows_what_the_check_showed(
    till: Workspace, shown: list[CheckReport], test: str
) -> None:
    found = reproducing(till, shown).name(test)

    assert found == Reproduction(check=CheckId("pytest"), test=CheckId(test), with_file=True)


def test_what_is_another_one_in_each_run_does_not_hide_that_a_failure_is_the_same(tmp_path: Path) -> None:
    """A name of a temporary file, in the message."""
    text = FILES["tests/test_till.py"].replace(
        "        assert TestTill.till.total() == 2\n",
        "        import tempfile\n"
        "        with tempfile.TemporaryDirectory() as folder:\n"
        "            assert f'{folder}/{TestTill.till.total()}' == 'two'\n",
    )
    space = workspace(tmp_path, {**FILES, "tests/test_till.py": text})

    assert reproducing(space, baseline_of(space)).name(TOTAL).with_file


def test_a_test_that_fails_alone_as_it_does_in_the_check_is_run_alone(
    till: Workspace, shown: list[CheckReport]
) -> None:
    own = "tests/test_till.py::TestTill::test_red_for_its_own_reason"

    assert not reproducing(till, shown).name(own).with_file


def test_a_test_that_passed_in_the_check_and_alone_is_no_reproduction(
    till: Workspace, shown: list[CheckReport]
) -> None:
    with pytest.raises(NotShown, match="passes on the base commit"):
        reproducing(till, shown).name(OPENED)
    with pytest.raises(Passes):
        reproducing(till, shown, f"{OPENED} fails").name(OPENED)


def test_a_run_with_files_tells_of_the_tests_alone(till: Workspace) -> None:
    report = till.run(CheckId("pytest"), tests=[CheckId(TOTAL)], with_files=True, stop_at_first=True)

    (outcome,) = report.outcomes
    assert outcome.id == TOTAL
    assert outcome.failure.startswith("AssertionError: assert 0 == 2\n")
    assert "where <till.Till object at 0x> = TestTill.till" in outcome.failure
    assert report.failing == (TOTAL,)
    assert report.complete


def test_others_of_the_file_that_fail_do_not_make_it_red(till: Workspace) -> None:
    till.write(TILL, FILES[TILL].replace("[1:]", "").encode())

    report = till.run(CheckId("pytest"), tests=[CheckId(TOTAL)], with_files=True)

    assert report.passed
    assert not till.run(CheckId("pytest"), tests=[CheckId(TOTAL)]).passed


def test_a_run_with_files_refuses_what_is_no_test(till: Workspace) -> None:
    with pytest.raises(Refused, match="is not the id of a test"):
        till.run(CheckId("pytest"), tests=[CheckId("../outside.py::test")], with_files=True)


@pytest.mark.parametrize("test", [TOTAL, "tests/test_till.py::test_odd[a b, c]"])
def test_a_prompt_says_that_the_file_is_needed_and_the_embedded_model_reads_it(test: str) -> None:
    shown = Reproduction(check=CheckId("pytest"), test=CheckId(test))

    alone, beside = (
        body_of(f"[ticketsmith:end]\n# Develop\n\n{reproduction_block(one)}\n")
        for one in (shown, replace(shown, with_file=True))
    )

    assert (alone.test, alone.with_file) == (test, False)
    assert (beside.test, beside.with_file) == (test, True)


def test_a_defect_that_only_such_a_test_shows_is_repaired_published_and_verified(tmp_path: Path) -> None:
    repository = make(tmp_path / "till", ONE_DEFECT)
    home = tmp_path / "home"
    database = lay_empty_database(home / "t.sqlite")
    app = App(
        Settings(home=home, database=database, model=offline.MODEL),
        Choices(model=offline.MODEL, trusted=True, sandbox="plain"),
    )
    told = Ticket(
        id=TicketId("local:till"), title="The total is wrong", body=f"{TOTAL} is red: assert 0 == 2", author="mira"
    )

    run = app.pursue(app.open_run(told, repository, repository.resolve()), silent())

    assert run.state is RunState.PUBLISHED, run.park_reason or run.outcome
    assert "-        return sum(self.coins[1:])\n+" in run.patch

    Git(folder=repository.folder).run("merge", "--quiet", "--no-ff", "--message=Merge", run.branch)

    assert app.verify(run, None, silent()).outcome == "verify: worked"
