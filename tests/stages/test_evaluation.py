"""A finding holds only where the test that it names was run, and failed because of the patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from memory.types import CheckId
from stages.evaluation import TESTS_AT_MOST, evaluated
from stages.report import CheckReport
from stages.verdict import Finding
from tests.fakes import GREEN, LINT, PYTEST, RED, TreeInMemory, case, failed, passed, report

PATCHED = b"patched"


class Tree(TreeInMemory):
    """With a patch applied; the test `GREEN` ends as `ends` says for the patched tree and for the base."""

    def __init__(self, *with_patch: bool, at_base: bool = True) -> None:
        super().__init__({"a.py": "base"}, self._show)
        self.write("a.py", PATCHED)
        self._ends, self._at_base = list(with_patch), at_base

    def _show(self, files: Mapping[str, bytes], check: CheckId, tests: Sequence[CheckId]) -> CheckReport:
        green = self._ends.pop(0) if files["a.py"] == PATCHED else self._at_base
        return report(check, *(passed(test) if green else failed(test) for test in tests))


def finding(check: str = GREEN) -> Finding:
    return Finding(path="a.py", line=1, text="it breaks", check=check)


def test_a_test_that_fails_alone_with_the_patch_and_passes_without_it_makes_a_finding_true() -> None:
    tree = Tree(False, False)

    assert [one.fails for one in evaluated([finding(), finding("")], case(), tree)] == [True, False]
    assert tree.runs == [(PYTEST.name, (GREEN,))] * 3


@pytest.mark.parametrize(
    "tree",
    [Tree(True), Tree(False, True), Tree(False, False, at_base=False)],
    ids=["passes", "flips", "fails at the base too"],
)
def test_a_test_that_the_patch_did_not_break_makes_none(tree: Tree) -> None:
    assert [one.fails for one in evaluated([finding()], case(), tree)] == [False]


@pytest.mark.parametrize("check", ["", "pytest", LINT.name, "no/such.py::test", RED])
def test_what_is_no_test_or_was_red_before_is_not_even_run(check: str) -> None:
    tree = Tree()

    assert [one.fails for one in evaluated([finding(check)], case(), tree)] == [False]
    assert tree.runs == []


def test_a_review_cannot_have_all_tests_run_one_by_one() -> None:
    tests = tuple(CheckId(f"tests/test_cart.py::test_{number}") for number in range(TESTS_AT_MOST + 3))
    tree = Tree(*[True] * len(tests))

    evaluated(map(finding, tests), case(known={PYTEST.name: tests}), tree)

    assert len(tree.runs) == TESTS_AT_MOST
