"""Defects that a mutation library makes in packages: drawn by a seed, kept when a test catches them.

A defect is a place in a package's own code, drawn evenly among all places that the library can change, and one of the
changes that it knows for that place, drawn evenly as well. Packages take turns. Nothing of it is ever committed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stages.checks import Checks, Wish
from stages.offline.paths import is_test_file
from stages.report import Check, CheckReport, Outcome
from tests.benchmarks.cases import Case, program
from tests.benchmarks.packages import CHOSEN, Package, check_of, checks, fetch, laid
from tests.benchmarks.pipeline import ticket_text

LIBRARY: Final = "cosmic-ray==8.7.0"
SEED: Final = 7
"""Draws the defects. The first of two consecutive ones is for tuning, the second is held back."""
_TEST_SECONDS: Final = 10.0
_ACCOUNT_LINES: Final = 40
_NOT_CODE: Final = ("docs", "doc", "examples", "benchmarks", "scripts", "build", "bin", "tools")
_NAMES: Final = {
    "ReplaceBinaryOperator": "arithmetic operator",
    "ReplaceComparisonOperator": "comparison operator",
    "ReplaceUnaryOperator": "unary operator",
    "AddNot": "added not",
    "ReplaceTrueWithFalse": "truth value",
    "ReplaceFalseWithTrue": "truth value",
    "ReplaceAndWithOr": "and/or",
    "ReplaceOrWithAnd": "and/or",
    "ReplaceBreakWithContinue": "break/continue",
    "ReplaceContinueWithBreak": "break/continue",
    "ExceptionReplacer": "caught exception",
    "NumberReplacer": "number",
    "RemoveDecorator": "removed decorator",
    "ZeroIterationForLoop": "loop over nothing",
}


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A package with one defect. `reference` is the text of the file at `path` without it; `test` catches it."""

    package: Package
    kind: str
    operator: str
    path: str
    line: int
    files: Mapping[str, bytes]
    reference: str
    test: str
    account: str
    held_back: bool

    @property
    def name(self) -> str:
        return f"{self.package.name}:{self.path}:{self.line} {self.operator}"

    @property
    def case(self) -> Case:
        return Case(
            set="mutants",
            name=self.name,
            kind=self.kind,
            files=self.files,
            ticket=ticket_text(self.test, self.account),
            references={self.path: self.reference},
            same=lambda patched: None,
        )


@dataclass(kw_only=True)
class _Drawn:
    """What was drawn so far, for the share that no test catches."""

    defects: int = 0
    caught: int = 0


class Corpus:
    """All defects of the chosen packages. `folder` keeps archives, trees and the environment of the library."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.drawn = folder, _Drawn()
        self._python = _library(folder)
        self._runner = checks()

    def mutants(self, *, seed: int = SEED) -> Iterator[Mutant]:
        """Without end: the packages in turn, each with defects of its own; the same ones for the same seed."""
        shelves = [self._of(package, random.Random(f"{seed} {package}")) for package in CHOSEN]
        number = 0
        while True:
            for shelf in shelves:
                yield next(shelf)(number)
                number += 1

    def _of(self, package: Package, chance: random.Random) -> Iterator[Any]:
        files = fetch(package, self.folder / "archives")
        check = check_of(files)
        assert check is not None
        texts = {path: data.decode() for path, data in files.items() if _is_code(path)}
        places: dict[tuple[str, int, int], list[tuple[str, int]]] = {}
        for path, line, column, operator, number in self._ask(files=texts)["places"]:
            places.setdefault((path, line, column), []).append((operator, number))
        order = sorted(places)
        chance.shuffle(order)
        for place in order:
            path, line, _ = place
            operator, number = chance.choice(places[place])
            text = self._ask(files={path: texts[path]}, make=[[path, operator, number]])["made"][0]
            if text is None or program(text) in (None, program(texts[path])):
                continue
            broken = {**files, path: text.encode()}
            self.drawn.defects += 1
            with tempfile.TemporaryDirectory() as tree:
                found = shown(self._runner, check, laid(broken, Path(tree) / "tree"))
            if found is None:
                continue
            self.drawn.caught += 1
            yield _made(package, operator, path, line, broken, texts[path], found)

    def _ask(self, **asked: Any) -> Any:
        command = [str(self._python), str(Path(__file__).with_name("mutate.py"))]
        done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def _made(
    package: Package, operator: str, path: str, line: int, files: Mapping[str, bytes], reference: str, found: Any
) -> Any:
    def numbered(number: int) -> Mutant:
        return Mutant(
            package=package,
            kind=_NAMES.get(operator.partition("/")[2].split("_")[0], operator),
            operator=operator.partition("/")[2],
            path=path,
            line=line,
            files=files,
            reference=reference,
            test=found[0],
            account=found[1],
            held_back=number % 2 == 1,
        )

    return numbered


def shown(runner: Checks, check: Check, tree: Path) -> tuple[str, str] | None:
    """The first test that fails and what pytest says of it; None when all pass, or when no test can be read."""
    report = runner.run(check, tree, Wish(stop_at_first=True, test_seconds=_TEST_SECONDS))
    return _first(report)


def _first(report: CheckReport) -> tuple[str, str] | None:
    failed = [test for test in report.outcomes if test.outcome is Outcome.FAILED and "::" in test.id]
    if not failed:
        return None
    said = failed[0].text or f"{failed[0].type}: {failed[0].message}"
    return failed[0].id, "\n".join(said.splitlines()[-_ACCOUNT_LINES:])


def _is_code(path: str) -> bool:
    parts = path.split("/")
    outside = parts[0] in _NOT_CODE or parts[-1] in ("setup.py", "conf.py", "noxfile.py")
    return path.endswith(".py") and not outside and not is_test_file(path)


def _library(folder: Path) -> Path:
    """The interpreter of an environment with the mutation library: it is no dependency of ours."""
    home = folder / f"library-{LIBRARY.replace('==', '-')}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", LIBRARY], check=True)
        (home / "ready").touch()
    return python
