"""The benchmark of repairs counts what it says that it counts."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import quixbugs
from tests.benchmarks.__main__ import flat, read
from tests.benchmarks.cases import Case, Row, program, tried
from tests.benchmarks.packages import CANDIDATES, CHOSEN, CHOSEN_AT_MOST, why_not
from tests.benchmarks.pipeline import ticket_text
from tests.benchmarks.repair_tables import spread, summary

FURTHER = Path(quixbugs.__file__).with_name("further_inputs.py")
RIGHT = "def till(age):\n    return age >= 18\n"
WRONG = RIGHT.replace(">=", ">")
TEST = "from till import till\n\n\ndef test_till():\n    assert till(18) and not till(17)\n"


def case(path: str = "till.py", wrong: str = WRONG, right: str = RIGHT) -> Case:
    files = {path: wrong.encode(), "test_till.py": TEST.encode()}
    return Case(
        set="own",
        name="till",
        kind="comparison",
        files=files,
        ticket=ticket_text("test_till.py::test_till", "AssertionError"),
        references={path: right},
        same=lambda patched: None,
        candidate_runs=30,
    )


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> Row:
    return tried(case(), tmp_path_factory.mktemp("work"))


def test_a_defect_goes_through_the_whole_program_and_is_compared_with_what_it_was_made_of(row: Row) -> None:
    assert (row.worked.repaired, row.equal, row.right) == (True, True, True)
    assert list(row.worked.patched) == ["till.py"]
    assert program(row.worked.patched["till.py"]) == program(RIGHT)
    assert 1 <= row.worked.searched <= 30
    assert row.worked.tools > row.worked.searched
    assert row.worked.holds == 0


def test_what_is_counted_can_be_summed_up(row: Row) -> None:
    figures = summary([row])["own"]["all"]

    assert figures["repaired"]["hits"] == figures["repaired"]["of"] == figures["equal_text"] == 1
    assert figures["median_p90_max"]["candidate_runs"] == (row.worked.searched,) * 3
    assert figures["median_p90_max"]["seconds_given_up"] is None
    assert "repaired (equal)" in row.line
    assert row.as_json()["candidate_runs"] == row.worked.searched


def test_a_repair_that_took_more_runs_than_it_may_is_none(row: Row) -> None:
    late = Row(case=case(), worked=row.worked, equal=True, right=True)
    object.__setattr__(late.case, "candidate_runs", row.worked.searched - 1)

    assert row.repaired
    assert not late.repaired
    assert summary([late])["own"]["all"]["repaired"]["hits"] == 0


def test_median_nine_in_ten_and_most_are_those_of_the_values() -> None:
    assert spread([3, 1, 2]) == (2, 3, 3)
    assert spread(list(range(100))) == (49.5, 90, 99)


def test_the_chosen_packages_are_candidates_and_none_is_chosen_twice() -> None:
    assert set(CHOSEN) <= set(CANDIDATES)
    assert len(set(CHOSEN)) == len(CHOSEN) == CHOSEN_AT_MOST


def test_a_package_with_compiled_parts_or_without_tests_is_left_out() -> None:
    assert why_not({"fast.c": b""}, None) == "not Python alone"
    assert why_not({"slow.py": b""}, None) == "no tests for pytest"


def test_quixbugs_is_skipped_with_the_reason_where_it_is_not_there(tmp_path: Path) -> None:
    assert quixbugs.folder({}) == "BENCH_CORPUS names no folder with a copy of QuixBugs in it"
    assert str(tmp_path) in str(quixbugs.folder({"BENCH_CORPUS": str(tmp_path)}))
    (tmp_path / "QuixBugs" / "python_programs").mkdir(parents=True)
    assert quixbugs.folder({"BENCH_CORPUS": str(tmp_path)}) == tmp_path / "QuixBugs"


NODE = """
class Node:
    def __init__(self, value=None, successor=None, successors=(), predecessors=(), incoming=(), outgoing=()):
        self.value, self.successor, self.successors = value, successor, list(successors)
        self.predecessors, self.incoming_nodes, self.outgoing_nodes = [], [], []
"""
GCD = "def gcd(a, b):\n    return a if b == 0 else gcd(b, a % b)\n"
SEARCH = """
def breadth_first_search(start, goal):
    seen, queue = {start}, [start]
    while queue:
        node = queue.pop(0)
        if node is goal:
            return True
        queue += [one for one in node.successors if one not in seen]
        seen |= set(node.successors)
    return False
"""
SQRT = """
def sqrt(x, epsilon):
    y = x / 2
    while abs(x - y * y) > epsilon:
        y = (y + x / y) / 2
    return y
"""


def compared(name: str, reference: str, patched: str, inputs: list[object]) -> dict[str, int]:
    asked = {"name": name, "reference": reference, "patched": patched, "node": NODE, "inputs": inputs, "seed": 3}
    done = subprocess.run(
        [sys.executable, str(FURTHER)], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_equal_behaviour_on_further_inputs_is_equal() -> None:
    other = "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n"

    found = compared("gcd", GCD, other, [[12, 18], [35, 21]])

    assert found == {"answered": 120, "different": 0}


def test_a_patch_that_fits_the_tests_alone_is_seen() -> None:
    fits = "def gcd(a, b):\n    return {(12, 18): 6}.get((a, b), 7)\n"

    assert compared("gcd", GCD, fits, [[12, 18], [35, 21]])["different"] > 20


def test_graphs_are_made_where_there_are_no_inputs() -> None:
    never = "def breadth_first_search(start, goal):\n    return False\n"

    assert compared("breadth_first_search", SEARCH, SEARCH, [])["different"] == 0
    assert compared("breadth_first_search", SEARCH, never, [])["different"] > 0


def test_a_root_may_differ_by_its_own_epsilon() -> None:
    near = SQRT.replace("y = x / 2", "y = x / 3")

    assert compared("sqrt", SQRT, near, [[2, 0.01], [4, 0.2]])["different"] == 0


def test_figures_are_shown_by_the_way_to_them_and_details_are_left_out() -> None:
    figures = {"all": {"share": 0.5, "spread": [1, 2]}, "rows": [{"name": "x"}], "costs": [{"notes": 1}, {"notes": 2}]}

    assert list(flat(figures)) == [
        ("all · share", 0.5),
        ("all · spread", [1, 2]),
        ("costs 1 · notes", 1),
        ("costs 2 · notes", 2),
    ]


def test_what_is_no_json_is_kept_as_it_was_printed() -> None:
    assert read('{"a": 1}') == {"a": 1}
    assert read("skipped: it is not there\n") == "skipped: it is not there"


def test_the_scripts_that_run_elsewhere_import_nothing_of_ours() -> None:
    for script in (FURTHER, FURTHER.with_name("mutate.py")):
        imported = [node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.ImportFrom)]
        assert not [
            node for node in imported if (node.module or "").split(".")[0] in ("bot", "stages", "memory", "tests")
        ]
