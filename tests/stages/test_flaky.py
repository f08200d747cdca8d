"""Tests that flip are named and not held for; what a patch breaks stays broken, however it is run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from memory.types import CheckId, HoldCause
from stages.checks import PYTEST
from stages.comparison import Comparison
from stages.flaky import RERUNS_AT_MOST, TESTS_AT_MOST, explained, on_base, on_head
from stages.gate import Held, Passed, decide
from stages.report import Check, CheckKind, CheckReport, Outcome, TestOutcome
from tests.stages.benches import CART, TOTAL, Bench
from tests.stages.repositories import FIXED, SHOP

CHECK = Check(name=PYTEST, kind=CheckKind.PYTEST)
WHOLE = Check(name=CheckId("maven"), kind=CheckKind.JUNIT)
A, B = CheckId("t.py::a"), CheckId("t.py::b")
NONE = CheckId("t.py::reproduction")


def report(check: Check = CHECK, /, **ended: str) -> CheckReport:
    outcomes = tuple(TestOutcome(id=CheckId(f"t.py::{name}"), outcome=Outcome(how)) for name, how in ended.items())
    failed = any(one.outcome is Outcome.FAILED for one in outcomes)
    return CheckReport(check=check.name, exit_status=int(failed), seconds=0.0, outcomes=outcomes)


class Runs:
    """Answers runs with reports, in order, and remembers what was asked for."""

    def __init__(self, *reports: CheckReport) -> None:
        self._reports: Iterator[CheckReport] = iter(reports)
        self.asked: list[tuple[CheckId, ...]] = []

    def __call__(self, check: Check, tests: tuple[CheckId, ...]) -> CheckReport:
        self.asked.append(tests)
        return next(self._reports)


BROKEN = Comparison(newly_failing=(A, B))
SEEN = report(a="failed", b="failed")


def test_a_test_that_passes_alone_and_in_a_whole_run_flips() -> None:
    runs = Runs(report(a="passed", b="failed"), report(b="failed"), report(b="failed"), report(a="passed", b="failed"))

    suspects = on_head(CHECK, BROKEN, SEEN, NONE, runs)

    assert (suspects.flaky, suspects.firm) == ((A,), (B,))
    assert runs.asked == [(A, B), (B,), (B,), ()]


def test_a_test_that_passes_alone_only_is_broken_by_what_ran_before_it() -> None:
    runs = Runs(report(a="passed", b="passed"), *[report(a="failed", b="failed")] * RERUNS_AT_MOST)

    suspects = on_head(CHECK, BROKEN, SEEN, NONE, runs)

    assert (suspects.flaky, suspects.firm) == ((), (A, B))


def test_a_runner_that_cannot_choose_tests_shows_it_in_one_whole_run() -> None:
    runs = Runs(report(WHOLE, a="passed", b="passed"))

    assert on_head(WHOLE, BROKEN, SEEN, NONE, runs).flaky == (A, B)


def test_the_reproduction_has_no_excuse() -> None:
    runs = Runs(report(b="passed"), report(b="passed"))

    suspects = on_head(CHECK, BROKEN, SEEN, A, runs)

    assert suspects.flaky == (B,)
    assert runs.asked[0] == (B,)


@pytest.mark.parametrize(
    ("compared", "seen"),
    [
        (Comparison(newly_failing=(CHECK.name,)), SEEN),
        (Comparison(), SEEN),
        (
            Comparison(newly_failing=(A, B, CHECK.name)),
            CheckReport(check=PYTEST, exit_status=None, seconds=0.0, complete=False, outcomes=SEEN.outcomes),
        ),
        (
            Comparison(newly_failing=tuple(CheckId(f"t.py::t{n}") for n in range(TESTS_AT_MOST + 1))),
            report(CHECK, **{f"t{n}": "failed" for n in range(TESTS_AT_MOST + 1)}),
        ),
    ],
    ids=["the check itself", "nothing", "incomplete", "too many"],
)
def test_nothing_is_run_again_where_it_would_explain_nothing(compared: Comparison, seen: CheckReport) -> None:
    runs = Runs()

    suspects = on_head(CHECK, compared, seen, NONE, runs)

    assert (suspects.flaky, suspects.firm, runs.asked) == ((), (), [])


def test_a_test_that_fails_at_the_base_in_one_of_three_runs_is_compared_and_not_demanded() -> None:
    suspects = on_head(CHECK, BROKEN, SEEN, NONE, Runs(*[SEEN] * RERUNS_AT_MOST))
    runs = Runs(report(a="passed", b="passed"), report(a="failed", b="passed"), report(b="passed"))

    red = on_base(suspects, runs)

    assert red == (A,)
    assert runs.asked == [(A, B), (A, B), (B,)]
    assert explained(BROKEN, (), red) == Comparison(newly_failing=(B,), still_failing=(A,))


# --- in the gate -----------------------------------------------------------------------------------------------------

FLIPS = """
import pathlib
def test_flips():
    state = pathlib.Path({place!r}) / "ran"
    times = len(state.read_text()) if state.exists() else 0
    state.write_text("x" * (times + 1))
    if not times:
        state.chmod(0o666)  # each tree has a user of its own
    assert times not in {red}
"""


def flipping(folder: Path, red: str, more: Mapping[str, str | bytes] | None = None) -> Bench:
    place = folder / "state"
    place.mkdir()
    place.chmod(0o777)
    test = FLIPS.format(place=str(place), red=red)
    return Bench(folder, {**SHOP, "tests/test_flips.py": test, **(more or {})})


FLIPPING = CheckId("tests/test_flips.py::test_flips")


def test_r49_a_test_that_flips_is_named_and_does_not_hold(tmp_path: Path) -> None:
    bench = flipping(tmp_path, "(1,)")  # the base's run is 0, the first with the patch is 1

    report = bench.judge(bench.patch({CART: FIXED}))

    assert report.flaky == (FLIPPING,)
    assert decide(report) == Passed(fixed=(TOTAL,), flaky=(FLIPPING,))


def test_r49_a_test_that_fails_at_the_base_when_it_is_run_again_is_compared(tmp_path: Path) -> None:
    bench = flipping(tmp_path, "range(1, 100)")

    report = bench.judge(bench.patch({CART: FIXED}))

    assert report.still_failing == (FLIPPING,)
    assert decide(report) == Passed(fixed=(TOTAL,), still_failing=(FLIPPING,))


ORDER = """
import shop.cart
def test_1(): shop.cart.total([1])
def test_2(): assert not hasattr(shop.cart, "left")
"""


def test_r49_a_patch_that_breaks_a_test_only_after_another_one_is_held(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {**SHOP, "tests/test_order.py": ORDER})
    leaking = FIXED.replace("    return sum", "    global left\n    left = 1\n    return sum")

    verdict = decide(bench.judge(bench.patch({CART: leaking})))

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing) == (HoldCause.CHECK, (CheckId("tests/test_order.py::test_2"),))


def test_the_gate_reports_how_many_changed_lines_tests_ran(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SHOP)
    more = FIXED + "\n\ndef unused(prices):\n    first = prices[0]\n    return first\n"

    report = bench.judge(bench.patch({CART: more}))

    assert isinstance(decide(report), Passed)
    assert (report.changed_lines, report.covered_lines) == (3, 1)
