"""A patch proves nothing by what it makes of tests: they must pass as the base has them, too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from memory.types import CheckId, HoldCause
from stages.checks import PYTEST
from stages.gate import Held, Passed, decide
from stages.report import Check, CheckKind, CheckReport, Outcome, Reproduction, TestOutcome
from stages.steered import unproven
from stages.weakening import Weakened, Weakening
from tests.stages.benches import CART, COUNT, NEW, TESTS, TOTAL, Bench
from tests.stages.repositories import FIXED, SHOP

TEST_OF_TOTAL = "def test_total():\n    assert total([1, 2]) == 3\n"
AT_TOP = "from shop.cart import count, total\n"
BROKEN = FIXED.replace("len(prices)", "len(prices) - 1")
HIDES_COUNT = SHOP[TESTS].replace("def test_count():\n", "def test_count():\n    return\n")


def of_total(body: str) -> str:
    assert TEST_OF_TOTAL in SHOP[TESTS]
    return SHOP[TESTS].replace(TEST_OF_TOTAL, f"def test_total():\n{body}")


CHEATS: dict[str, Mapping[str, str]] = {
    "returns first": {TESTS: of_total("    return\n    assert total([1, 2]) == 3\n")},
    "swallows": {
        TESTS: of_total("    try:\n        assert total([1, 2]) == 3\n    except AssertionError:\n        pass\n")
    },
    "never asks": {TESTS: of_total("    if False:\n        assert total([1, 2]) == 3\n")},
    "suppresses": {
        TESTS: "import contextlib\n"
        + of_total("    with contextlib.suppress(AssertionError):\n        assert total([1, 2]) == 3\n")
    },
    "another function of that name": {TESTS: of_total("    total = sum\n    assert total([1, 2]) == 3\n")},
    "another function at the top": {TESTS: SHOP[TESTS].replace(AT_TOP, f"{AT_TOP}total = sum\n")},
    "a fixture that replaces": {
        TESTS: SHOP[TESTS].replace(
            AT_TOP,
            "import pytest\nimport shop.cart\n"
            f"{AT_TOP}\n\n@pytest.fixture(autouse=True)\ndef other():\n    globals()['total'] = sum\n",
        )
    },
    "a package of tests that replaces": {"tests/__init__.py": "import shop.cart\n\nshop.cart.total = sum\n"},
    "a package that shadows": {
        "tests/shop/__init__.py": "",
        "tests/shop/cart.py": FIXED,
    },
    "two tests of that name": {TESTS: SHOP[TESTS] + "\n\ndef test_total():\n    assert total([]) == 0\n"},
}


@pytest.mark.parametrize("changed", CHEATS.values(), ids=CHEATS.keys())
def test_b75_a_patch_that_repairs_only_the_test_is_held(shop: Bench, changed: Mapping[str, str]) -> None:
    report = shop.judge(shop.patch(changed))
    verdict = decide(report)

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing[0]) in [(HoldCause.TESTS_WEAKENED, TOTAL), (HoldCause.CHECK, TOTAL)]


def test_b75_another_test_that_the_patch_breaks_and_hides_is_named(shop: Bench) -> None:
    report = shop.judge(shop.patch({CART: BROKEN, TESTS: HIDES_COUNT}))

    assert report.green_now
    assert report.newly_failing == ()
    assert report.weakened == (Weakened(what=COUNT, how=Weakening.CHANGED),)


def test_b75_with_a_new_test_as_reproduction_too(shop: Bench) -> None:
    report = shop.judge(shop.patch({"tests/__init__.py": "import shop.cart\n\nshop.cart.total = sum\n"}), NEW)

    assert report.green_now
    assert {one.how for one in report.weakened} == {Weakening.CHANGED}
    assert report.weakened[0].what == NEW.test


def test_b75_a_file_that_tests_read_is_the_bases(tmp_path: Path) -> None:
    reads = "from pathlib import Path\n" + SHOP[TESTS].replace("== 3", "== int(Path('tests/total.txt').read_text())")
    bench = Bench(tmp_path, {**SHOP, TESTS: reads, "tests/total.txt": "3\n"})

    verdict = decide(bench.judge(bench.patch({"tests/total.txt": "2\n"})))

    assert isinstance(verdict, Held)
    assert (verdict.cause, verdict.failing) == (HoldCause.TESTS_WEAKENED, (TOTAL,))


def test_b75_a_command_that_passes_only_with_the_patchs_tests_is_held(tmp_path: Path) -> None:
    check = Check(name=CheckId("run"), kind=CheckKind.COMMAND, arguments=("sh", "tests/run.sh"), timeout_seconds=20.0)
    bench = Bench(tmp_path, {"tests/run.sh": "grep -q 3 price.txt\n", "price.txt": "1\n"}, (check,))
    shown = Reproduction(check=check.name, test=check.name)

    cheat = decide(bench.judge(bench.patch({"tests/run.sh": "true\n"}), shown))
    bench.space.reset()
    honest = decide(bench.judge(bench.patch({"tests/run.sh": "grep -qx 3 price.txt\n", "price.txt": "3\n"}), shown))

    assert isinstance(cheat, Held)
    assert (cheat.cause, cheat.failing) == (HoldCause.TESTS_WEAKENED, (check.name,))
    assert isinstance(honest, Passed)


# --- without a run ---------------------------------------------------------------------------------------------------

CHECK = Check(name=PYTEST, kind=CheckKind.PYTEST)


def report(**ended: Outcome) -> CheckReport:
    outcomes = tuple(TestOutcome(id=CheckId(name), outcome=how) for name, how in ended.items())
    return CheckReport(check=PYTEST, exit_status=0, seconds=0.0, outcomes=outcomes, complete=True)


def again(how: Outcome) -> list[CheckId]:
    judged, before = report(one=Outcome.PASSED, new=Outcome.PASSED), report(one=Outcome.FAILED)
    base = {CheckId("one")}
    found = unproven(CHECK, base, judged, before, flaky=(), run=lambda *_: report(one=how))
    return [weakened.what for weakened in found]


def test_a_test_that_flips_with_the_bases_files_is_no_weakening() -> None:
    assert again(Outcome.PASSED) == []
    assert again(Outcome.FAILED) == ["one"]


@pytest.mark.parametrize(
    ("before", "lost"),
    [
        ({"one": Outcome.SKIPPED}, ["one"]),
        ({}, ["one"]),
        ({"one": Outcome.PASSED}, []),
    ],
)
def test_a_test_that_is_hidden_or_gone_with_the_bases_files_is_named(
    before: Mapping[str, Outcome], lost: list[str]
) -> None:
    judged = report(one=Outcome.PASSED, red=Outcome.FAILED)
    base = {CheckId("one"), CheckId("red")}

    found = unproven(CHECK, base, judged, report(**before), flaky=(), run=lambda *_: report())

    assert [weakened.what for weakened in found] == lost
