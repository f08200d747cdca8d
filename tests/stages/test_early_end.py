"""A check that ends early at the base too is compared test by test, and no patch hides anything behind that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from memory.types import CheckId, HoldCause
from stages.checks import PYTEST
from stages.comparison import Comparison, compare
from stages.early_end import RUNS_AT_MOST, with_the_rest
from stages.gate import Held, Passed, Verdict, decide
from stages.report import Check, CheckKind, CheckReport, Outcome, TestOutcome
from stages.weakening import Weakened, Weakening
from tests.stages.benches import CART, TESTS, TOTAL, Bench
from tests.stages.repositories import FIXED, SHOP

CHECK = Check(name=PYTEST, kind=CheckKind.PYTEST)
ALL = tuple(CheckId(f"t.py::{name}") for name in "abz")
A, B, Z = ALL


def ran(*, exit_status: int | None = 1, rest: str = "", **ended: str) -> CheckReport:
    """A run that ended early, of three tests; `rest` are those that were run after it."""
    outcomes = tuple(TestOutcome(id=CheckId(f"t.py::{name}"), outcome=Outcome(how)) for name, how in ended.items())
    return CheckReport(
        check=PYTEST,
        exit_status=exit_status,
        seconds=0.0,
        outcomes=outcomes,
        collected=ALL,
        complete=False,
        rest=tuple(CheckId(f"t.py::{name}") for name in rest),
    )


BASE = ran(a="failed", b="passed", z="failed")
FINE = ran(exit_status=0, a="passed", b="passed", z="failed")


# --- the comparison --------------------------------------------------------------------------------------------------


def test_that_a_check_ends_early_as_it_did_at_the_base_is_nothing_new() -> None:
    assert compare(CHECK, BASE, FINE) == Comparison(still_failing=(Z,), fixed=(A,))


def test_a_run_that_ended_between_tests_as_at_the_base_is_red_before_and_still() -> None:
    base, head = ran(a="failed", b="passed", z="passed"), ran(exit_status=0, a="passed", b="passed", z="passed")

    assert compare(CHECK, base, head) == Comparison(still_failing=(PYTEST,), fixed=(A,))


HOLDS = {
    "the base's run was whole": (replace(BASE, complete=True), FINE),
    "one that passed was not reached": (BASE, ran(a="passed", z="failed")),
    "it ended earlier, after the last that passed": (BASE, ran(a="passed", b="passed")),
    "it ended earlier, though the rest passes alone": (BASE, ran(rest="bz", a="passed", b="passed", z="failed")),
    "one of the base's rest was not reached": (
        ran(rest="z", a="failed", b="failed", z="passed"),
        ran(a="passed", b="failed"),
    ),
    "nothing was collected": (BASE, replace(FINE, collected=(), outcomes=())),
    "the time was over": (BASE, replace(FINE, exit_status=None, timed_out=True)),
    "it was ended otherwise": (BASE, replace(FINE, exit_status=139)),
}


@pytest.mark.parametrize(("base", "head"), HOLDS.values(), ids=HOLDS.keys())
def test_a_run_that_ends_earlier_or_otherwise_than_at_the_base_fails_newly(
    base: CheckReport, head: CheckReport
) -> None:
    assert PYTEST in compare(CHECK, base, head).newly_failing


def test_a_test_that_passed_and_fails_or_is_hidden_is_found_though_both_runs_ended_early() -> None:
    fails = compare(CHECK, BASE, ran(a="passed", b="failed", z="failed"))
    hides = compare(CHECK, BASE, ran(exit_status=0, a="passed", b="skipped", z="failed"))
    gone = compare(CHECK, BASE, replace(ran(exit_status=0, a="passed", z="failed"), collected=(A, Z)))

    assert fails.newly_failing == (B,)
    assert hides.weakened == (Weakened(what=B, how=Weakening.SKIPPED),)
    assert gone.weakened == (Weakened(what=B, how=Weakening.DELETED),)


@pytest.mark.parametrize("kind", [kind for kind in CheckKind if kind is not CheckKind.PYTEST])
def test_only_a_channel_of_pytests_own_tells_where_a_run_ended(kind: CheckKind) -> None:
    assert PYTEST in compare(replace(CHECK, kind=kind), BASE, FINE).newly_failing


# --- the rest --------------------------------------------------------------------------------------------------------


def test_what_a_run_did_not_reach_is_run_after_it() -> None:
    asked: list[tuple[CheckId, ...]] = []

    def run(tests: tuple[CheckId, ...]) -> CheckReport:
        asked.append(tests)
        return ran(b="failed") if len(asked) == 1 else replace(ran(z="passed"), complete=True)

    report = with_the_rest(CHECK, ran(a="failed"), run)

    assert asked == [(B, Z), (Z,)]
    assert [(one.id, one.outcome.value) for one in report.outcomes] == [(A, "failed"), (B, "failed"), (Z, "passed")]
    assert (report.rest, report.complete) == ((B, Z), False)


NOTHING_LEFT = {
    "whole": (CHECK, replace(ran(a="passed"), complete=True)),
    "all reached": (CHECK, FINE),
    "time over": (CHECK, replace(ran(a="failed"), timed_out=True)),
    "no pytest": (replace(CHECK, kind=CheckKind.JUNIT), ran(a="failed")),
}


@pytest.mark.parametrize(("check", "report"), NOTHING_LEFT.values(), ids=NOTHING_LEFT.keys())
def test_nothing_is_run_after_a_run_that_left_nothing(check: Check, report: CheckReport) -> None:
    def run(_: tuple[CheckId, ...]) -> CheckReport:
        raise AssertionError

    assert with_the_rest(check, report, run) == report


def test_runs_that_end_early_one_after_the_other_are_not_followed_for_ever() -> None:
    many = tuple(CheckId(f"t.py::t{number}") for number in range(RUNS_AT_MOST + 9))
    whole = replace(ran(), collected=many)

    report = with_the_rest(
        CHECK, whole, lambda left: replace(whole, outcomes=(TestOutcome(id=left[0], outcome=Outcome.FAILED),))
    )

    assert report.rest == many[:RUNS_AT_MOST]


# --- in the gate -----------------------------------------------------------------------------------------------------

CLOSES = "import os\n\n\ndef test_z():\n    os.closerange(3, 1000)\n"
EXITS = "import os\n\n\ndef test_z():\n    os._exit(3)\n"
COUNTS = "from shop.cart import count\n\n\ndef test_more():\n    assert count([4]) == 1\n"
ENDS, MORE = CheckId("tests/test_e.py::test_z"), CheckId("tests/test_m.py::test_more")
RED = {"tests/test_n.py": "def test_red():\n    assert False\n"}


def judged(folder: Path, files: Mapping[str, str], changed: Mapping[str, str]) -> Verdict:
    bench = Bench(folder, {**SHOP, **files})
    assert not bench.baseline[0].complete, "the control"
    return decide(bench.judge(bench.patch(changed)))


@pytest.mark.parametrize("ends", [CLOSES, EXITS], ids=["closes the channel", "exits"])
@pytest.mark.parametrize("name", ["tests/test_e.py", "tests/test_a.py"], ids=["after the others", "before them"])
def test_a_right_patch_passes_where_the_check_ended_early_without_it(tmp_path: Path, ends: str, name: str) -> None:
    red = CheckId("tests/test_n.py::test_red")

    verdict = judged(tmp_path, {name: ends, "tests/test_m.py": COUNTS, **RED}, {CART: FIXED})

    assert isinstance(verdict, Passed)
    assert set(verdict.still_failing) == {CheckId(f"{name}::test_z"), red}


def test_a_patch_that_steers_tests_passes_there_too(tmp_path: Path) -> None:
    settled = "import pytest\n\n\n@pytest.fixture\ndef prices():\n    return [1, 2]\n"

    verdict = judged(tmp_path, {"tests/test_e.py": CLOSES}, {CART: FIXED, "tests/conftest.py": settled})

    assert isinstance(verdict, Passed)


def test_what_a_patch_breaks_behind_the_end_is_seen(tmp_path: Path) -> None:
    broken = FIXED.replace("len(prices)", "len(prices) if prices != [4] else 0")

    verdict = judged(tmp_path, {"tests/test_e.py": CLOSES, "tests/test_m.py": COUNTS}, {CART: broken})

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing) == (HoldCause.CHECK, (MORE,))


HIDING = {
    "in the next test": "def count(prices):\n    import os\n    os._exit(1)\n",
    "in a later one": (
        "def count(prices):\n    import os, threading, time\n"
        "    threading.Thread(target=lambda: (time.sleep(0.3), os._exit(1))).start()\n    return len(prices)\n"
    ),
}


@pytest.mark.parametrize("hides", HIDING.values(), ids=HIDING.keys())
def test_a_patch_whose_run_ends_right_after_the_reproduction_is_held(tmp_path: Path, hides: str) -> None:
    """Though the base's run ended early as well, at a later test."""
    total, _ = FIXED.split("def count")
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(1)\n"

    verdict = judged(tmp_path, {"tests/test_d.py": slow, "tests/test_e.py": CLOSES}, {CART: total + hides})

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK
    assert PYTEST in verdict.failing


def test_a_test_that_flips_before_the_end_is_named_and_does_not_hold(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.mkdir()
    place.chmod(0o777)
    flips = (
        f"import pathlib\n\n\ndef test_flips():\n    state = pathlib.Path({str(place)!r}) / 'ran'\n"
        "    times = len(state.read_text()) if state.exists() else 0\n    state.write_text('x' * (times + 1))\n"
        "    if not times:\n        state.chmod(0o666)\n    assert times != 1\n"
    )

    verdict = judged(tmp_path, {"tests/test_d.py": flips, "tests/test_e.py": CLOSES}, {CART: FIXED})

    assert verdict == Passed(fixed=(TOTAL,), still_failing=(ENDS,), flaky=(CheckId("tests/test_d.py::test_flips"),))


def test_a_patch_that_makes_a_whole_check_end_early_is_held(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {**SHOP, "tests/test_m.py": COUNTS})
    changed = {TESTS: SHOP[TESTS] + "\n\ndef test_z():\n    import os\n    os.closerange(3, 1000)\n"}

    verdict = decide(bench.judge(bench.patch({CART: FIXED, **changed})))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK
    assert PYTEST in verdict.failing
