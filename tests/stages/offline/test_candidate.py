"""A candidate is one exact replacement that can be taken back, and its digest is the one that its patch will have."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stages.offline.candidate import Candidate
from stages.offline.ranking import Suspicion, ranked
from stages.offline.scope import Program
from stages.offline.source import Focus
from stages.patch import FileChange, Patch

TEXT = '''\
"""Twice the same lines, so that an edit needs its neighbours."""

LIMIT = 10


def low(items, n):
    total = 0
    for item in items:
        # count
        if item < LIMIT and n:
            total += 1
    return total


def high(items, n):
    total = 0
    for item in items:
        # count
        if item > LIMIT and n:
            total += 1
    return total
'''


def candidates(text: str = TEXT) -> list[Candidate]:
    program = Program("src/work.py", text.removesuffix("\n"))
    return [one for one in ranked([program], Suspicion([program], {})) if one.works_as_python]


def test_each_edit_is_unique_and_can_be_taken_back() -> None:
    made = candidates()

    assert len(made) > 300
    for one in made:
        assert one.change is not None
        before, after = one.source.text, one.text
        assert before.count(one.change.old) == 1
        assert after == before.replace(one.change.old, one.change.new)
        assert after.count(one.change.new) == 1
        assert after.replace(one.change.undone.old, one.change.undone.new) == before


def test_the_digests_are_those_of_the_patch_that_git_makes(tmp_path: Path) -> None:
    for one in candidates()[::9]:
        assert frozenset(edit.digest for edit in patch_of(one, tmp_path).edits) in one.digests, one.block


def patch_of(one: Candidate, folder: Path) -> Patch:
    for name, text in (("a", one.source.text), ("b", one.text)):
        (folder / name).write_text(f"{text}\n")
    command = ["git", "diff", "--no-index", "--unified=3", "--no-color", "a", "b"]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    return Patch(diff=shown, files=(FileChange(path="a", status="M", old_mode="100644", new_mode="100644"),))


def test_a_line_that_stands_twice_is_named_with_its_neighbours() -> None:
    one = next(one for one in candidates() if one.line == 11 and one.block[2] == ("            total -= 1",))

    assert one.change is not None
    assert one.change.old == "        if item < LIMIT and n:\n            total += 1\n    return total"


@pytest.mark.parametrize("text", ["x = (1)\n", "def f(a):\n    return a\n"])
def test_an_edit_that_changes_nothing_is_no_candidate(text: str) -> None:
    program = Program("src/work.py", text.removesuffix("\n"))

    made = [one for one in ranked([program], Suspicion([program], {})) if one.works_as_python]

    assert all(one.text != program.text for one in made)


def test_lines_that_no_failing_test_ran_are_no_candidates() -> None:
    program = Program("src/work.py", TEXT.removesuffix("\n"))
    hits = {"src/work.py": {line: (int(line > 14), 1) for line in range(6, 22)}}

    made = ranked([program], Suspicion([program], hits))

    assert {one.line for one in made if one.line < 15} <= {3}
    assert any(one.line == 3 for one in made)


def test_a_line_that_a_traceback_names_is_more_suspicious() -> None:
    program = Program("src/work.py", TEXT.removesuffix("\n"))
    hits = {"src/work.py": dict.fromkeys(range(6, 22), (1, 1))}
    first = {one.line for one in ranked([program], Suspicion([program], hits, [("src/work.py", 19)]))[:1]}
    nothing_known = ranked([program], Suspicion([program], {}, [("src/work.py", 10)]))[:1]

    assert first == {19}
    assert {one.line for one in nothing_known} == {10}


def test_what_is_out_of_focus_makes_no_candidates() -> None:
    focus = Focus(lines=frozenset({10}), words=frozenset({"item"}))
    program = Program("src/work.py", TEXT.removesuffix("\n"), (), focus)

    lines = {one.line for one in ranked([program], Suspicion([program], {}))}

    assert lines <= {*range(6, 13), 16}  # and a guard at the head of the other function
