"""Defects that are carried over from a set of others: which ones count, how they become repositories and tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import carried, quixbugs, search_alone

FURTHER = Path(quixbugs.__file__).with_name("further_inputs.py")
PROMPT = "def half(n):\n"
RIGHT = "    return n / 2\n"
CHECK = """\
METADATA = {}


def check(candidate):
    numbers = [2, 4]
    assert candidate(2) == 1
    for number in numbers:
        assert candidate(number) == number / 2


check(half)
"""


def given(number: int, broken: str, right: str = RIGHT) -> str:
    return json.dumps(
        {
            "entry_point": "half" if not number else f"half{number}",
            "bug_type": "value misuse",
            "prompt": PROMPT,
            "buggy_solution": broken,
            "canonical_solution": right,
            "test": CHECK,
        }
    )


def pack(folder: Path, *lines: str) -> Path:
    path = folder / "humanevalpack.jsonl"
    path.write_text("\n".join([*lines, ""]), "utf-8")
    return path


def compared(reference: str, patched: str, check: str) -> dict[str, int]:
    asked = {"name": "half", "reference": reference, "patched": patched, "check": check, "seed": 3}
    done = subprocess.run(
        [sys.executable, str(FURTHER)], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_it_is_skipped_with_the_reason_where_it_is_not_there(tmp_path: Path) -> None:
    assert carried.file({}) == "BENCH_CORPUS names no folder with HumanEvalPack in it"
    assert str(tmp_path) in str(carried.file({"BENCH_CORPUS": str(tmp_path)}))
    assert carried.file({"BENCH_CORPUS": str(pack(tmp_path).parent)}) == tmp_path / "humanevalpack.jsonl"


def test_only_defects_of_one_line_count(tmp_path: Path) -> None:
    two = "    n = n + 1\n    return n / 3\n"
    path = pack(
        tmp_path,
        given(1, "    return n / 3\n"),
        given(2, "    n = n + 1\n    return n / 2\n"),
        given(3, "", "    return n / 2\n"),
        given(4, two),
        given(5, two, "    n = n\n    return n / 2\n"),
        given(6, "    return n / 2\n"),
    )

    assert {one.name for one in carried.defects(path)} == {"half1", "half2", "half3"}


def test_the_halves_are_the_same_each_time_and_have_nothing_in_common(tmp_path: Path) -> None:
    path = pack(tmp_path, *(given(number, "    return n / 3\n") for number in range(1, 12)))

    first, again = carried.defects(path), carried.defects(path)

    assert first == again
    assert [one.held_back for one in first] == [False] * 5 + [True] * 6
    assert len({one.name for one in first}) == 11


def test_each_assertion_is_a_test_with_what_stands_above_it() -> None:
    text = carried.as_tests(CHECK, "half")

    assert text == (
        "from half import *\nfrom half import half\nMETADATA = {}\ncandidate = half\n\n\n"
        "def test_1():\n    numbers = [2, 4]\n    assert candidate(2) == 1\n\n\n"
        "def test_2():\n    numbers = [2, 4]\n"
        "    for number in numbers:\n        assert candidate(number) == number / 2\n"
    )


def test_a_defect_is_a_repository_whose_tests_fail_and_a_ticket_with_what_they_say(tmp_path: Path) -> None:
    path = pack(tmp_path, given(0, "    return n / 4\n"), given(1, "    return n / 4\n"))

    (made,) = carried.cases(path, half="both", only=["half"])

    assert set(made.files) == {"half.py", "tests/test_half.py", "conftest.py"}
    assert "tests/test_half.py::test_1 fails" in made.ticket
    assert "assert 0.5 == 1" in made.ticket
    assert made.references == {"half.py": PROMPT + RIGHT}
    assert made.same({"half.py": "def half(n):\n    return n * 0.5\n"}) is True
    assert made.same({"half.py": "def half(n):\n    return {2: 1, 4: 2}.get(n, 0)\n"}) is False
    assert made.same({"half.py": PROMPT + RIGHT, "other.py": ""}) is None


def test_inputs_are_those_that_a_check_asks_for_and_others_made_of_them() -> None:
    right = PROMPT + RIGHT

    assert compared(right, "def half(n):\n    return n * 0.5\n", CHECK) == {"answered": 120, "different": 0}
    assert compared(right, "def half(n):\n    return {2: 1, 4: 2}.get(n, 0)\n", CHECK)["different"] > 20


def test_tuples_dicts_and_numbers_with_a_point_are_changed_too() -> None:
    right = "def half(n):\n    return sum(n[0].values()) / 3 * n[1]\n"
    other = "def half(n):\n    return n[1] / 3 * sum(n[0].values())\n"
    fits = "def half(n):\n    return 7 / 3 * 0.25\n"
    refused = "    try:\n        half(None)\n    except TypeError:\n        pass\n"
    check = "def check(half):\n    assert half(({'a': 3, 'b': 4}, 0.25)) > 0\n" + refused

    assert compared(right, other, check) == {"answered": 60, "different": 0}
    assert compared(right, fits, check)["different"] > 20


def test_the_search_alone_is_told_what_was_held_and_its_patch_is_compared(tmp_path: Path) -> None:
    (found,) = [search_alone.searched(one) for one in carried.defects(pack(tmp_path, given(0, "    return n / 3\n")))]

    assert (found.name, found.green, found.right) == ("half", True, True)
    assert found.candidate_runs >= 1


def test_a_program_that_one_edit_does_not_repair_is_not_green(tmp_path: Path) -> None:
    defect = carried.Defect(
        name="half",
        kind="missing logic",
        broken="def half(n):\n    return n\n",
        repaired="def half(n):\n    return {0: 7, 1: 3, 2: 11, 5: 'a'}[n]\n",
        check="def check(half):\n    assert half(0) == 7\n    assert half(2) == 11\n    assert half(5) == 'a'\n",
        held_back=False,
    )

    found = search_alone.searched(defect)

    assert (found.green, found.right) == (False, None)


def test_without_the_programs_the_search_alone_says_why_it_is_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BENCH_CORPUS", raising=False)

    assert search_alone.main([]) == 0
    assert "skipped: BENCH_CORPUS names no folder" in capsys.readouterr().out


def test_each_defect_is_searched_in_a_process_of_its_own_and_summed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(tmp_path, given(0, "    return n / 3\n"))
    monkeypatch.setenv("BENCH_CORPUS", str(tmp_path))

    assert search_alone.main(["--json"]) == 0

    figures = json.loads(capsys.readouterr().out)["held-back"]
    assert (figures["green"]["hits"], figures["right"]["hits"], figures["wrong"]) == (1, 1, 0)
