"""The gate: what it sees of real attempts, and what it decides from that alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from memory.scrub import Scrubber
from memory.types import CheckId, CommitId, HoldCause
from stages.checks import PYTEST
from stages.errors import Refused, Stopped
from stages.gate import Attempt, Finding, Gate, GateReport, Held, Passed, Span, decide
from stages.jail import FILE_AT_MOST_BYTES
from stages.patch import Patch
from stages.policy import Policy, Rule, Violation
from stages.report import Check, CheckKind, CheckReport, Outcome, Reproduction, TestOutcome
from stages.weakening import Weakened, Weakening, settings_changed, weakened_file
from tests.stages.benches import CART, COUNT, KNOWN, NEW, TESTS, TOTAL, Bench
from tests.stages.repositories import FIXED, SHOP, put


def same(report: GateReport) -> bool:
    adapter = TypeAdapter(GateReport)
    return adapter.validate_json(adapter.dump_json(report)) == report


# --- attempts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", [KNOWN, NEW], ids=["known test", "new test"])
def test_r48_a_fix_passes(shop: Bench, shown: Reproduction) -> None:
    report = shop.judge(shop.patch({CART: FIXED}), shown)

    assert decide(report) == Passed(fixed=(TOTAL,))
    assert report.green_now
    assert report.spans == (Span(path=CART, first=2, last=2),)
    assert same(report)
    assert not (shop.space.tree.parent.parent / "gate").exists()


def test_r48_a_fix_that_breaks_another_test_is_held(shop: Bench) -> None:
    broken = FIXED.replace("len(prices)", "len(prices) - 1")

    verdict = decide(shop.judge(shop.patch({CART: broken})))

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing, verdict.exit_status) == (HoldCause.CHECK, (COUNT,), 1)


def test_r48_a_change_that_does_not_help_is_held(shop: Bench) -> None:
    verdict = decide(shop.judge(shop.patch({CART: SHOP[CART] + "\n\nunused = 1\n"}), NEW))

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing, verdict.exit_status) == (HoldCause.CHECK, (NEW.test,), 1)


def test_an_empty_patch_is_held(shop: Bench) -> None:
    verdict = decide(shop.judge(Patch(diff="")))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK


def test_a_file_that_cannot_be_imported_any_more_is_held_as_failing(shop: Bench) -> None:
    verdict = decide(shop.judge(shop.patch({CART: "def total(:"})))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK
    assert CheckId(TESTS) in verdict.failing


def test_tests_that_were_red_before_are_compared_and_not_demanded(tmp_path: Path) -> None:
    red = {"tests/test_red.py": "def test_red(): assert 0\n"}
    bench = Bench(tmp_path, {**SHOP, **red})

    verdict = decide(bench.judge(bench.patch({CART: FIXED})))

    assert verdict == Passed(fixed=(TOTAL,), still_failing=(CheckId("tests/test_red.py::test_red"),))


def test_sec_30_a_run_that_ends_early_is_held(shop: Bench) -> None:
    leaving = FIXED + "\n\nimport os, atexit\nos._exit(0)\n"

    verdict = decide(shop.judge(shop.patch({CART: leaving})))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK
    assert PYTEST in verdict.failing


def test_r48_a_reproduction_that_does_not_fail_at_the_base_shows_nothing(shop: Bench) -> None:
    verdict = decide(shop.judge(shop.patch({CART: FIXED}), Reproduction(check=PYTEST, test=COUNT)))

    assert isinstance(verdict, Held)
    assert verdict.why == ("the reproduction does not fail at the base",)


PARTS = """
import unittest
from shop.cart import count, total

class Parts(unittest.TestCase):
    def test_totals(self):
        for prices in ([1, 2], None):
            with self.subTest(prices=prices):
                if prices is None:
                    self.skipTest("not here")
                self.assertEqual(total(prices), 3)

    def test_counts(self):
        for prices in ([], [1]):
            with self.subTest(prices=prices):
                if count(prices) is None:
                    self.skipTest("not counted")
                self.assertEqual(count(prices), len(prices))
"""


@pytest.mark.parametrize(
    ("change", "held"),
    [(("", ""), None), (("return len(prices)", "return len(prices) or None"), HoldCause.TESTS_WEAKENED)],
    ids=["as they were", "one more"],
)
def test_r48_subtests_that_are_skipped_hide_no_fix_and_no_more_of_them_may_be(
    tmp_path: Path, change: tuple[str, str], held: HoldCause | None
) -> None:
    bench = Bench(tmp_path, {**SHOP, TESTS: PARTS})
    shown = Reproduction(check=PYTEST, test=CheckId(f"{TESTS}::Parts::test_totals"))

    verdict = decide(bench.judge(bench.patch({CART: FIXED.replace(*change)}), shown))

    assert (verdict.cause if isinstance(verdict, Held) else None) is held


WEAKER: dict[str, Mapping[str, str | None]] = {
    "deleted file": {TESTS: None},
    "deleted test": {TESTS: SHOP[TESTS].split("\n\n\ndef test_count")[0] + "\n"},
    "renamed test": {TESTS: SHOP[TESTS].replace("test_count", "check_count")},
    "skipped": {TESTS: SHOP[TESTS].replace("def test_count", "import pytest\n@pytest.mark.skip\ndef test_count")},
    "expected to fail": {
        TESTS: SHOP[TESTS].replace("def test_count", "import pytest\n@pytest.mark.xfail\ndef test_count")
    },
    "skipped inside": {
        TESTS: SHOP[TESTS].replace("    assert count([1", "    import pytest; pytest.skip()\n    assert count([1")
    },
    "fewer assertions": {TESTS: SHOP[TESTS].replace("    assert count([]) == 0\n", "")},
    "another assertion": {TESTS: SHOP[TESTS].replace("assert count([]) == 0", "assert True")},
    "another value": {TESTS: SHOP[TESTS].replace("count([1, 2]) == 2", "count([1, 2]) >= 0")},
    "new settings": {"pytest.ini": "[pytest]\naddopts = -k total\n"},
    "section in settings": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--deselect tests'\n"},
}


@pytest.mark.parametrize("changed", WEAKER.values(), ids=WEAKER.keys())
def test_r48_b75_a_patch_that_weakens_tests_is_held(shop: Bench, changed: Mapping[str, str | None]) -> None:
    report = shop.judge(shop.patch({CART: FIXED, **changed}))

    verdict = decide(report)

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.TESTS_WEAKENED
    assert same(report)


STRONGER: dict[str, Mapping[str, str | None]] = {
    "one more assertion": {TESTS: SHOP[TESTS] + "    assert count([5]) == 1\n"},
    "one more test": {TESTS: SHOP[TESTS] + "\n\ndef test_more():\n    assert total([4]) == 4\n"},
    "other section of settings": {"pyproject.toml": "[project]\nname = 'shop'\n"},
}


@pytest.mark.parametrize("changed", STRONGER.values(), ids=STRONGER.keys())
def test_a_patch_that_strengthens_tests_passes(shop: Bench, changed: Mapping[str, str | None]) -> None:
    assert isinstance(decide(shop.judge(shop.patch({CART: FIXED, **changed}))), Passed)


def test_r62_sec_29_the_bases_settings_and_conftest_are_used(tmp_path: Path) -> None:
    hiding = "collect_ignore = ['test_cart.py', 'test_ticket.py']\n"
    bench = Bench(tmp_path, {**SHOP, "tests/conftest.py": "", "pytest.ini": "[pytest]\n"})

    report = bench.judge(bench.patch({CART: SHOP[CART] + "\n", "tests/conftest.py": hiding, "conftest.py": hiding}))

    assert set(report.restored) == {"conftest.py", "tests/conftest.py"}
    assert {notice.path for notice in report.notices} == {"conftest.py", "tests/conftest.py"}
    verdict = decide(report)
    assert isinstance(verdict, Held)
    assert verdict.failing == (TOTAL,)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({".github/workflows/ci.yml": "on: push\n"}, HoldCause.PROTECTED),
        ({"uv.lock": "", ".github/x": ""}, HoldCause.PROTECTED),
        ({f"src/shop/n{number}.py": "x = 1\n" for number in range(20)}, HoldCause.TOO_BIG),
        ({"src/shop/big.py": "x = 1\n" * 40_000}, HoldCause.TOO_BIG),
        ({"src/shop/key.py": "key = 'canary-of-the-operator'\n"}, HoldCause.LEAK),
        ({"src/shop/key.py": "K = 'ghp_" + "aB3dE5gH7jK9" * 3 + "'\n"}, HoldCause.LEAK),
    ],
)
def test_r45_b49_b50_b73_a_patch_that_may_not_be_is_held_before_anything_runs(
    shop: Bench, changed: dict[str, str], cause: HoldCause
) -> None:
    report = shop.judge(shop.patch({CART: FIXED, **changed}), scrubber=Scrubber(["canary-of-the-operator"]))

    verdict = decide(report)

    assert isinstance(verdict, Held)
    assert verdict.cause is cause
    assert report.reproduction is None
    assert "canary-of-the-operator" not in str(verdict)
    assert same(report)


def test_a_patch_may_not_touch_the_reproduction(shop: Bench) -> None:
    report = shop.judge(shop.patch({CART: FIXED, "Tests/test_ticket.py": "def test_ticket(): pass\n"}), NEW)

    assert [violation.detail for violation in report.violations] == ["the frozen reproduction"]
    assert isinstance(decide(report), Held)


def test_a_test_file_that_is_too_large_to_compare_is_held(tmp_path: Path) -> None:
    large = "data = '" + "x" * FILE_AT_MOST_BYTES + "'\n"
    bench = Bench(tmp_path, {**SHOP, "tests/test_data.py": large})
    put(bench.space.tree, {"tests/test_data.py": large + "more = 1\n"})

    report = bench.judge(bench.space.patch(touched_only=False), policy=Policy(bytes_at_most=10**8))

    assert Weakened(what=CheckId("tests/test_data.py"), how=Weakening.ASSERTS) in report.weakened


def test_a_reproduction_by_an_unknown_check_is_refused(shop: Bench) -> None:
    attempt = Attempt(
        number=1,
        repository=shop.repository,
        base=shop.space.base,
        patch=shop.patch({CART: FIXED}),
        reproduction=Reproduction(check=CheckId("gone"), test=TOTAL),
        red=shop.baseline[0],
        baseline=(),
        checks=shop.space.checks,
        workspace="gate",
    )

    with pytest.raises(Refused, match="no check"):
        Gate(shop.spaces, Policy(), Scrubber()).judge(attempt)


def test_sec_20_a_link_in_a_patch_is_held(shop: Bench) -> None:
    (shop.space.tree / "link").symlink_to("/etc/passwd")

    verdict = decide(shop.judge(shop.space.patch(touched_only=False)))

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.PROTECTED


def test_commands_are_checks_too(tmp_path: Path) -> None:
    lint = Check(name=CheckId("lint"), kind=CheckKind.COMMAND, arguments=("sh", "-c", "! grep -rq TODO src"))
    red = Check(name=CheckId("red"), kind=CheckKind.COMMAND, arguments=("false",))
    works = Check(name=CheckId("works"), kind=CheckKind.COMMAND, arguments=("grep", "-q", "sum(prices)", CART))
    bench = Bench(tmp_path, SHOP, (lint, red, works))
    shown = Reproduction(check=works.name, test=works.name)

    good = decide(bench.judge(bench.patch({CART: FIXED}), shown))
    bad = decide(bench.judge(bench.patch({CART: FIXED + "# TODO\n"}), shown))

    assert good == Passed(fixed=(works.name,), still_failing=(red.name,))
    assert isinstance(bad, Held)
    assert (bad.cause, bad.failing) == (HoldCause.CHECK, (lint.name,))


def test_a_run_that_a_person_stopped_is_no_verdict(shop: Bench) -> None:
    attempt = Attempt(
        number=1,
        repository=shop.repository,
        base=shop.space.base,
        patch=shop.patch({CART: FIXED}),
        reproduction=KNOWN,
        red=shop.baseline[0],
        baseline=shop.baseline,
        checks=shop.space.checks,
        workspace="gate",
    )

    with pytest.raises(Stopped):
        Gate(shop.spaces, Policy(), Scrubber()).judge(attempt, stopped=lambda: True)

    assert not (shop.space.tree.parent.parent / "gate").exists()


# --- the decision ----------------------------------------------------------------------------------------------------

GREEN = CheckReport(check=PYTEST, exit_status=0, seconds=1.0)
RED = CheckReport(
    check=PYTEST,
    exit_status=1,
    seconds=1.0,
    outcomes=(TestOutcome(id=COUNT, outcome=Outcome.FAILED), TestOutcome(id=TOTAL, outcome=Outcome.PASSED)),
)
FINE = GateReport(
    attempt=1,
    base=CommitId("0" * 40),
    red_at_base=True,
    green_now=True,
    reproduction=GREEN,
    checks=(GREEN,),
    spans=(Span(path="Makefile", first=3, last=5),),
    notices=(Violation(rule=Rule.ENTRY_POINT, path="Makefile"),),
)
TRUE = Finding(path="Makefile", line=4, text="breaks alone", check=TOTAL, fails=True)
WRONGS = {
    HoldCause.PROTECTED: {"violations": (Violation(rule=Rule.PROTECTED, path="a"), Violation(rule=Rule.SIZE))},
    HoldCause.TOO_BIG: {"violations": (Violation(rule=Rule.SIZE),)},
    HoldCause.LEAK: {"leaks": (Span(path="a", first=1, last=1),)},
    HoldCause.TESTS_WEAKENED: {"weakened": (Weakened(what=TOTAL, how=Weakening.DELETED),)},
    HoldCause.CHECK: {"newly_failing": (COUNT,), "checks": (RED,)},
}


def test_nothing_wrong_passes() -> None:
    assert decide(FINE) == Passed()


def test_causes_are_found_in_their_order() -> None:
    order = list(WRONGS)

    for number, cause in enumerate(order):
        report = FINE
        for later in reversed(order[number:]):
            report = replace(report, **WRONGS[later])  # type: ignore[arg-type]
        verdict = decide(report, [TRUE])
        assert isinstance(verdict, Held)
        assert verdict.cause is cause


@pytest.mark.parametrize(
    ("finding", "holds"),
    [
        (TRUE, True),
        (replace(TRUE, line=2), False),
        (replace(TRUE, line=6), False),
        (replace(TRUE, path="setup.py"), False),
        (replace(TRUE, fails=False), False),
        (replace(TRUE, fails=False, rule="entry-point"), False),
        (replace(TRUE, fails=False, rule="tests"), False),
    ],
)
def test_a_finding_holds_only_where_code_finds_it_true(finding: Finding, holds: bool) -> None:
    verdict = decide(FINE, [finding])

    assert isinstance(verdict, Held) == holds
    assert not holds or (isinstance(verdict, Held) and verdict.failing == (TOTAL,))


@pytest.mark.parametrize(
    "wrong",
    [
        {"red_at_base": False},
        {"green_now": False},
        {"reproduction": None},
        {"newly_failing": (COUNT,), "checks": (RED,)},
    ],
)
def test_r48_whatever_is_missing_holds(wrong: dict[str, object]) -> None:
    verdict = decide(replace(FINE, **wrong))  # type: ignore[arg-type]

    assert isinstance(verdict, Held)
    assert verdict.cause is HoldCause.CHECK


def test_the_exit_status_is_that_of_the_run_that_failed() -> None:
    verdict = decide(replace(FINE, newly_failing=(COUNT,), checks=(GREEN, RED)))

    assert isinstance(verdict, Held)
    assert verdict.exit_status == 1


# --- weakening in files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "weaker"),
    [
        ("def test_a():\n    assert x == 1", "def test_a():\n    assert x == 2", ["t.py::test_a"]),
        ("def test_a():\n    assert x == 1", "def test_a():\n    assert (x  ==  1), 'now with a message'", []),
        ("def test_a():\n    assert x", "def test_a():\n    assert y\n    assert x", []),
        ("def test_a():\n    assert x\n    assert x", "def test_a():\n    assert x", ["t.py::test_a"]),
        (
            "class A:\n  def test_a(self):\n    self.assertEqual(1, x)",
            "class A:\n  def test_a(self): pass",
            ["t.py::A::test_a"],
        ),
        ("if x:\n  def test_a():\n    assert x", "if x:\n  def test_a(): pass", ["t.py::test_a"]),
        (
            "def test_a():\n  with raises(ValueError): f()",
            "def test_a():\n  with raises(Exception): f()",
            ["t.py::test_a"],
        ),
        ("def test_a(): f()", "@pytest.mark.skipif(CI)\ndef test_a(): f()", ["t.py::test_a"]),
        ("def test_a(): f()", "def test_a():\n  if CI: pytest.skip()\n  f()", ["t.py::test_a"]),
        ("def test_a(): f()", "pytestmark = pytest.mark.xfail\ndef test_a(): f()", ["t.py"]),
        ("@mark.xfail\ndef test_a(): f()", "def test_a(): f()", []),
        ("def test_a(): f()", "def test_a(): f()\n@mark.skip\ndef test_b(): f()", []),
        ("def test_a():\n    assert x", "", []),
        ("def test_a():\n    assert x", "def (", []),
        ("def (", "def test_a(): pass", []),
    ],
)
def test_assertions_that_go_and_marks_that_come_are_found(before: str, after: str, weaker: list[str]) -> None:
    found = weakened_file("t.py", before.encode(), after.encode())

    assert [weakened.what for weakened in found] == weaker


@pytest.mark.parametrize(
    ("path", "before", "after", "changed"),
    [
        ("pytest.ini", None, "", True),
        ("pytest.ini", "[pytest]\n", None, True),
        ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'b'\n", False),
        ("pyproject.toml", "[tool.pytest.ini_options]\na = 1\n", "[project]\n[tool.pytest.ini_options]\na=1", False),
        ("pyproject.toml", "[tool.pytest.ini_options]\na = 1\n", None, True),
        ("pyproject.toml", "", "not toml", True),
        ("tox.ini", "[tox]\na=1\n", "[tox]\na=2\n", False),
        ("tox.ini", "[pytest]\na=1\n", "[pytest]\na=2\n", True),
        ("setup.cfg", None, "[tool:pytest]\naddopts = -k x\n", True),
        ("setup.cfg", "", "[broken", True),
        ("sub/setup.cfg", b"\xff", b"", True),
    ],
)
def test_b75_a_change_of_pytests_settings_is_found(
    path: str, before: str | bytes | None, after: str | bytes | None, changed: bool
) -> None:
    def data(text: str | bytes | None) -> bytes | None:
        return text.encode() if isinstance(text, str) else text

    assert settings_changed(path, data(before), data(after)) == changed


def test_sec_5_3_the_gate_does_not_load_what_reads_lessons() -> None:
    look = "import sys, stages.gate; print(sorted(name for name in sys.modules if name.startswith('memory.')))"

    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout

    for module in ("recall", "store", "lessons", "notes", "index", "tables"):
        assert f"'memory.{module}'" not in loaded
