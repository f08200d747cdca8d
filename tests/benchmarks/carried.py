"""Defects that people wrote: HumanEvalPack's Python programs, from a folder that BENCH_CORPUS names.

The search was built with QuixBugs and mutants in sight, not with these. Its 164 programs have one defect each, with the
repaired version and tests. The rule, set down before the first one was tried: those count whose defect is one line
(one line changed, left out or too much); `SEED` puts them in an order, the first half is for tuning, the second is held
back. Each assertion is a test of its own, with what stands above it. Nothing of it is ever committed.
"""

from __future__ import annotations

import ast
import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from tests.benchmarks.cases import Case
from tests.benchmarks.mutants import shown
from tests.benchmarks.packages import check_of, checks, laid
from tests.benchmarks.pipeline import ticket_text
from tests.benchmarks.quixbugs import compared

CANDIDATE_RUNS: Final = 500
SEED: Final = 20_261_130
_FILE: Final = "humanevalpack.jsonl"


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A program with one wrong line, its repaired version, and its tests as one function `check`."""

    name: str
    kind: str
    broken: str
    repaired: str
    check: str
    held_back: bool

    @property
    def path(self) -> str:
        return f"{self.name}.py"

    @property
    def files(self) -> dict[str, bytes]:
        """A repository: the program, its tests, and what puts its folder on the path."""
        test = as_tests(self.check, self.name)
        return {self.path: self.broken.encode(), f"tests/test_{self.name}.py": test.encode(), "conftest.py": b""}

    def same(self, patched: Mapping[str, str]) -> bool | None:
        """Whether a patch of the program does what the repaired version does; None for one of other files."""
        if set(patched) != {self.path}:
            return None
        return compared(name=self.name, reference=self.repaired, patched=patched[self.path], check=self.check)


def file(environment: Mapping[str, str]) -> Path | str:
    """Where the programs are; else why they cannot be measured."""
    named = environment.get("BENCH_CORPUS")
    if not named:
        return "BENCH_CORPUS names no folder with HumanEvalPack in it"
    found = Path(named).absolute() / _FILE
    return found if found.is_file() else f"{found} is not there: the Python part of HumanEvalPack"


def defects(path: Path) -> list[Defect]:
    """Those of one line, in the order of the seed."""
    given = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    wanted = [one for one in given if _is_one_line(one["buggy_solution"], one["canonical_solution"])]
    random.Random(SEED).shuffle(wanted)
    return [
        Defect(
            name=one["entry_point"],
            kind=one["bug_type"],
            broken=one["prompt"] + one["buggy_solution"],
            repaired=one["prompt"] + one["canonical_solution"],
            check=one["test"],
            held_back=place >= len(wanted) // 2,
        )
        for place, one in enumerate(wanted)
    ]


def cases(path: Path, *, half: str, only: Sequence[str] = ()) -> Iterator[Case]:
    """One repository for each program of a half, `tuning`, `held-back` or `both`."""
    runner = checks()
    for one in defects(path):
        if (half != "both" and one.held_back == (half == "tuning")) or (only and one.name not in only):
            continue
        check = check_of(one.files)
        assert check is not None
        with tempfile.TemporaryDirectory() as tree:
            found = shown(runner, check, laid(one.files, Path(tree) / "tree"))
        if found is None:
            raise SystemExit(f"no test of {one.name} fails")
        yield Case(
            set="carried over",
            name=one.name,
            kind=one.kind,
            files=one.files,
            ticket=ticket_text(*found),
            references={one.path: one.repaired},
            same=one.same,
            candidate_runs=CANDIDATE_RUNS,
        )


def as_tests(check: str, name: str) -> str:
    """The text of a test file: each assertion of `check` is a test, with what stands above it and is none."""
    tree = ast.parse(check)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check")
    around = [node for node in tree.body if node is not function and not _calls_check(node)]
    lines = [f"from {name} import *", f"from {name} import {name}", *map(ast.unparse, around)]
    if (given := function.args.args[0].arg) != name:
        lines.append(f"{given} = {name}")
    above: list[ast.stmt] = []
    number = 0
    for statement in function.body:
        if not any(isinstance(node, ast.Assert) for node in ast.walk(statement)):
            above.append(statement)
            continue
        number += 1
        body = "\n".join(map(ast.unparse, [*above, statement]))
        lines += ["", "", f"def test_{number}():", *(f"    {line}" for line in body.split("\n"))]
    return "\n".join([*lines, ""])


def _calls_check(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "check"


def _is_one_line(broken: str, repaired: str) -> bool:
    changes = SequenceMatcher(None, broken.splitlines(), repaired.splitlines(), autojunk=False).get_opcodes()
    changed = [(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in changes if tag != "equal"]
    return len(changed) == 1 and max(changed[0]) == 1
