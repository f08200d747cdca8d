"""What says what is right is known wherever it stands: tests of any name, data, docstrings, and what runs a check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from memory.types import CheckId, HoldCause
from stages.files_of_tests import TestFiles, is_of_tests
from stages.foreign_tests import is_foreign_test, scripts_changed
from stages.gate import Held, Passed, decide
from stages.inline_tests import changed_inside
from stages.report import Check, CheckKind, CheckReport, Reproduction
from stages.weakening import Weakening
from tests.stages.benches import Bench

WRONG, RIGHT = ("def total(prices):\n    return sum(prices) - 1\n", "def total(prices):\n    return sum(prices)\n")
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
UNIT = (
    "import unittest\nfrom cart import total\n\n\nclass T(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
)
CHECKED = TEST.replace("test_total", "check_total")
DOCUMENTED = 'def total(prices):\n    """Sum.\n\n    >>> total([1, 2])\n    3\n    """\n    return sum(prices) - 1\n'
TOGETHER = f"{WRONG}\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
NAMES = "[pytest]\npython_files = check_*.py tests.py cart.py\npython_functions = check_* test_*\n"

Files = Mapping[str, str]
WAYS: Mapping[str, tuple[Files, str, Files, Files]] = {
    # files, reproduction, a patch of what is expected, a patch of the code
    "tests.py of django": (
        {"cart.py": WRONG, "till/tests.py": TEST, "pytest.ini": NAMES},
        "till/tests.py::test_total",
        {"till/tests.py": TEST.replace("== 3", "== 2")},
        {"cart.py": RIGHT},
    ),
    "unittest": (
        {"cart.py": WRONG, "testcart.py": UNIT},
        "testcart.py::T::test_total",
        {"testcart.py": UNIT.replace(", 3)", ", 2)")},
        {"cart.py": RIGHT},
    ),
    "a name by settings": (
        {"cart.py": WRONG, "checks/check_total.py": CHECKED, "pytest.ini": NAMES},
        "checks/check_total.py::check_total",
        {"checks/check_total.py": CHECKED.replace("== 3", "== 2")},
        {"cart.py": RIGHT},
    ),
    "a docstring": (
        {"cart.py": DOCUMENTED, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"},
        "cart.py::cart.total",
        {"cart.py": DOCUMENTED.replace("    3\n", "    2\n")},
        {"cart.py": DOCUMENTED.replace(" - 1", "")},
    ),
    "one file for both": (
        {"cart.py": TOGETHER, "pytest.ini": NAMES},
        "cart.py::test_total",
        {"cart.py": TOGETHER.replace("== 3", "== 2")},
        {"cart.py": TOGETHER.replace(" - 1", "")},
    ),
}


@pytest.mark.parametrize(("files", "test", "cheat", "honest"), WAYS.values(), ids=WAYS.keys())
def test_b75_what_tests_expect_is_not_changed_wherever_they_stand(
    files: Files, test: str, cheat: Files, honest: Files, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, files)
    shown = Reproduction(check=bench.space.checks[0].name, test=CheckId(test))

    held = decide(bench.judge(bench.patch(cheat), shown))
    bench.space.reset()
    passed = decide(bench.judge(bench.patch(honest), shown))

    assert isinstance(held, Held)
    assert held.cause is HoldCause.TESTS_WEAKENED
    assert isinstance(passed, Passed), passed


@pytest.mark.parametrize("folder", ["testdata", "fixtures", "golden", "__tests__", "Tests", "unit_tests"])
def test_b75_data_beside_tests_is_the_bases(folder: str, tmp_path: Path) -> None:
    data = f"{folder}/total.json"
    test = "import json\n" + TEST.replace("== 3", f"== json.load(open({data!r}))")
    bench = Bench(tmp_path, {"cart.py": WRONG, data: "3\n", "test_cart.py": test})
    shown = Reproduction(check=bench.space.checks[0].name, test=CheckId("test_cart.py::test_total"))

    held = decide(bench.judge(bench.patch({data: "2\n"}), shown))

    assert isinstance(held, Held)
    assert (held.cause, held.failing) == (HoldCause.TESTS_WEAKENED, (shown.test,))


def test_b75_a_target_that_does_nothing_proves_nothing(tmp_path: Path) -> None:
    check = Check(name=CheckId("make"), kind=CheckKind.COMMAND, arguments=("make", "test"), timeout_seconds=20.0)
    bench = Bench(tmp_path, {"Makefile": "test:\n\tgrep -q 3 price.txt\n", "price.txt": "1\n"}, (check,))
    shown = Reproduction(check=check.name, test=check.name)

    held = decide(bench.judge(bench.patch({"Makefile": "test:\n\ttrue\n"}), shown))

    assert isinstance(held, Held)
    assert (held.cause, held.failing) == (HoldCause.TESTS_WEAKENED, (check.name,))


@pytest.mark.parametrize("path", ["test.js", "test-cart.js", "a/test-x.mjs", "a/x.test.ts"])
def test_names_that_node_runs_are_tests(path: str) -> None:
    assert is_foreign_test(path)


@pytest.mark.parametrize("path", ["contest/a.py", "latest/a.json", "src/test_runner.rs", "attestation/x.go"])
def test_names_that_only_look_alike_are_none(path: str) -> None:
    assert not is_of_tests(path)


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("npm run unit", {"unit": "true"}),
        ("yarn unit", {"unit": "true"}),
        ("npm run --silent unit", {"preunit": "exit 0"}),
        ("npm run all", {"all": "pnpm unit", "unit": "true"}),
    ],
)
def test_b75_scripts_that_the_test_script_calls_are_about_tests(test: str, after: Files) -> None:
    before = {"test": test, "all": "pnpm unit", "unit": "node check.js", "build": "tsc"}

    def package(scripts: Files) -> bytes:
        return json.dumps({"scripts": scripts}).encode()

    assert scripts_changed(package(before), package({**before, **after}))
    assert not scripts_changed(package(before), package({**before, "build": "tsc -p ."}))


RUST = "pub fn total() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn totals() { assert_eq!(total(), 3); }\n}\n"


def test_b75_tests_inside_a_file_of_rust_stay_as_they_were() -> None:
    def changed(after: str) -> list[Weakening]:
        return [one.how for one in changed_inside("src/lib.rs", RUST.encode(), after.encode())]

    assert changed(RUST.replace("), 3)", "), 2)")) == [Weakening.CHANGED]
    assert changed(RUST.replace("total() {}", "total() { 3 }")) == []
    assert changed(RUST.replace("    #[test]\n", "    #[test]\n    fn more() {}\n    #[test]\n")) == []


def test_examples_that_no_check_runs_may_be_mended() -> None:
    before, after = DOCUMENTED.encode(), DOCUMENTED.replace("    3\n", "    4\n").encode()

    assert list(changed_inside("cart.py", before, after)) == []
    assert len(list(changed_inside("cart.py", before, after, documented=True))) == 1


def test_a_file_of_its_own_product_is_told_from_one_that_looks_elsewhere() -> None:
    texts = {"cart.py": TOGETHER, "checks/check_a.py": CHECKED, "pkg/x.py": ""}
    texts["pkg/check_b.py"] = "from . import x\n\n\ndef check_b():\n    assert x\n"
    ids = ("cart.py::test_total[1]", "checks/check_a.py::check_total", "pkg/check_b.py::check_b", "cart.py::cart.total")
    report = CheckReport(check=CheckId("p"), exit_status=0, seconds=0.0, collected=tuple(map(CheckId, ids)))
    known = TestFiles((), (report,), tuple(texts), lambda path: texts[path].encode())

    assert [path for path in texts if path in known] == ["checks/check_a.py", "pkg/check_b.py"]
    assert known.inside("cart.py") == {"test_total"}
    assert known.inside("checks/check_a.py") == frozenset()
    assert (known.documented("cart.py"), known.documented("pkg/x.py")) == (True, False)
