"""What is judged is what is published: a patch's own conftest and settings may change nothing that tests show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from memory.scrub import Scrubber
from memory.types import CheckId, HoldCause
from stages.checks import PYTEST
from stages.gate import Attempt, Gate, GateReport, Held, Passed, decide
from stages.policy import Policy
from stages.report import Check, CheckKind, CheckReport, Outcome, Reproduction, TestOutcome
from stages.repository import Repository
from stages.steered import steered
from stages.weakening import Weakened, Weakening
from stages.workspace import Workspaces
from tests.stages.repositories import FIXED, SHOP, checks, make

CART, TESTS = "src/shop/cart.py", "tests/test_cart.py"
TOTAL, COUNT = CheckId(f"{TESTS}::test_total"), CheckId(f"{TESTS}::test_count")
SETTLED = "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n"


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A repository, and what its checks show of the base: the same for each patch."""

    repository: Repository
    spaces: Workspaces
    baseline: tuple[CheckReport, ...]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    folder = tmp_path_factory.mktemp("shop")
    red = {"tests/test_red.py": "def test_red():\n    assert False\n", "tests/conftest.py": ""}
    repository, spaces = make(folder / "repository", {**SHOP, **red}), Workspaces(folder / "work", checks())
    space = spaces.make(repository, repository.resolve(), "base")
    return Shop(repository=repository, spaces=spaces, baseline=tuple(space.run(check.name) for check in space.checks))


def judged(shop: Shop, changed: Mapping[str, str]) -> GateReport:
    space = shop.spaces.make(shop.repository, shop.repository.resolve(), "attempt")
    for path, text in {CART: FIXED, **changed}.items():
        space.write(path, text.encode())
    attempt = Attempt(
        number=1,
        repository=shop.repository,
        base=space.base,
        patch=space.patch(),
        reproduction=Reproduction(check=PYTEST, test=TOTAL),
        red=shop.baseline[0],
        baseline=shop.baseline,
        checks=space.checks,
        workspace="gate",
    )
    return Gate(shop.spaces, Policy(), Scrubber()).judge(attempt)


HIDING = {
    "takes all tests away": ("conftest.py", "def pytest_collection_modifyitems(items):\n    items[:] = []\n"),
    "takes one away": ("tests/conftest.py", "def pytest_collection_modifyitems(items):\n    items.pop(0)\n"),
    "skips": ("conftest.py", "import pytest\n\n\ndef pytest_runtest_setup(item):\n    pytest.skip('later')\n"),
    "leaves a file out": ("tests/conftest.py", "collect_ignore = ['test_cart.py']\n"),
    "turns red to green": ("tests/conftest.py", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
    "breaks": ("conftest.py", "raise RuntimeError('no')\n"),
}


@pytest.mark.parametrize(("path", "text"), HIDING.values(), ids=HIDING.keys())
def test_a_conftest_that_changes_what_tests_show_is_held(shop: Shop, path: str, text: str) -> None:
    verdict = decide(judged(shop, {path: text}))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.TESTS_WEAKENED


def test_a_conftest_that_changes_nothing_that_tests_show_passes_and_is_noticed(shop: Shop) -> None:
    report = judged(shop, {"tests/conftest.py": SETTLED})

    assert isinstance(decide(report), Passed)
    assert "tests/conftest.py" in {notice.path for notice in report.notices}
    assert report.restored == ("tests/conftest.py",)


# --- The comparison alone --------------------------------------------------------------------------------------------

UNIT = Check(name=PYTEST, kind=CheckKind.PYTEST)


def ran(**ended: Outcome) -> CheckReport:
    outcomes = tuple(TestOutcome(id=CheckId(name), outcome=outcome) for name, outcome in ended.items())
    failed = Outcome.FAILED in ended.values()
    return CheckReport(
        check=PYTEST,
        exit_status=int(failed),
        seconds=0.0,
        outcomes=outcomes,
        collected=tuple(outcome.id for outcome in outcomes),
    )


def compared(before: CheckReport, after: CheckReport, again: CheckReport, *flaky: str) -> list[Weakened]:
    known = tuple(map(CheckId, flaky))
    return list(steered(UNIT, before, after, flaky=known, run=lambda *_: again))


GREEN, RED = ran(a=Outcome.PASSED), ran(a=Outcome.FAILED)


def test_a_test_that_flips_between_two_runs_is_not_held_against_the_settings() -> None:
    assert compared(GREEN, RED, GREEN) == []
    assert compared(RED, GREEN, GREEN, "a") == []


def test_a_test_that_fails_firmly_with_the_patchs_settings_is() -> None:
    assert compared(GREEN, RED, RED) == [Weakened(what=CheckId("a"), how=Weakening.CONFIGURATION)]


def test_a_command_that_only_fails_with_the_patchs_settings_is() -> None:
    lint = Check(name=CheckId("lint"), kind=CheckKind.COMMAND)
    good, bad = (CheckReport(check=lint.name, exit_status=status, seconds=0.0) for status in (0, 1))

    assert [one.what for one in steered(lint, good, bad, flaky=(), run=lambda *_: bad)] == [lint.name]
    assert list(steered(lint, bad, good, flaky=(), run=lambda *_: good)) == []
