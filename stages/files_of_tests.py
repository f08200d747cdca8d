"""Which files say what is right: by their names, by what was collected from them, and by what runs a check."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath
from typing import Final

from memory.types import CheckId
from stages.detection import is_test_file
from stages.foreign_tests import is_foreign_test
from stages.report import Check, CheckKind, CheckReport, file_of

# Of Python and of data that tests read; of a `testing` folder nobody can tell what it holds.
_FOLDER: Final = re.compile(
    r"(?:.+[_-])?tests?|testing|specs?|testdata|test[_-]data|fixtures?|goldens?|__(?:tests|fixtures|snapshots|mocks)__"
)
# What says how a check is run, and is no product: the base's counts.
_RUNS_CHECKS: Final = re.compile(
    r"(?:gnu)?makefile|.*\.mk|justfile|taskfile\.ya?ml|noxfile\.py|tox\.ini|package\.json|rakefile", re.IGNORECASE
)


def is_of_tests(path: str) -> bool:
    """True for a file of tests by its name, or one that lies beside them."""
    named = is_test_file(path) or is_foreign_test(path)
    return named or any(_FOLDER.fullmatch(folder.casefold()) for folder in PurePosixPath(path).parts[:-1])


class TestFiles:
    """The files of a base from which its tests are made. `at_base` reads one, `files` are all that there are."""

    __test__ = False  # not a test class for pytest

    def __init__(
        self,
        checks: Iterable[Check],
        baseline: Iterable[CheckReport],
        files: Collection[str],
        at_base: Callable[[str], bytes | None],
    ) -> None:
        self._files, self._at_base = files, at_base
        self._kinds = {check.kind for check in checks}
        self._collected: dict[str, set[str]] = {}
        self._documented = set[str]()
        for report in baseline:
            for test in report.collected:
                if self._is_doctest(test):
                    self._documented.add(file_of(test))
                else:
                    self._collected.setdefault(file_of(test), set()).add(test.partition("::")[2])

    def __contains__(self, path: str) -> bool:
        """True for a file that is there for tests alone, or that only says how a command runs them."""
        if is_of_tests(path):
            return True
        if CheckKind.COMMAND in self._kinds and _RUNS_CHECKS.fullmatch(PurePosixPath(path).name):
            return True
        return path in self._collected and self._looks_elsewhere(path)

    def documented(self, path: str) -> bool:
        """True for a file whose examples in docstrings are tests."""
        return path in self._documented

    def inside(self, path: str) -> frozenset[str]:
        """The tests that stand in one file with what they are about: names of functions, and of classes before `::`."""
        here = () if path in self else self._collected.get(path, ())
        return frozenset(name.partition("[")[0] for name in here)

    def _is_doctest(self, test: CheckId) -> bool:
        """True for an example of a docstring: pytest calls it by the dotted name of what it stands in."""
        file, _, name = test.partition("::")
        stem = PurePosixPath(file).stem
        if is_test_file(file) or not re.match(rf"(?:[\w.]+\.)?{re.escape(stem)}(?:\.|$)", name):
            return False
        return name != stem or f"def {stem}(".encode() not in (self._at_base(file) or b"")

    def _looks_elsewhere(self, path: str) -> bool:
        """True when it imports something of the tree: then it is about that, and holds no product of its own."""
        try:
            nodes = list(ast.walk(ast.parse(self._at_base(path) or b"")))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return True
        tops = {name.partition(".")[0] for node in nodes for name in _imported(node)}
        parts = {part for file in self._files if file != path for part in PurePosixPath(file).with_suffix("").parts}
        return "" in tops or not tops.isdisjoint(parts)


def _imported(node: ast.AST) -> Iterable[str]:
    """Modules that a statement imports; of a relative one an empty name."""
    match node:
        case ast.Import(names=names):
            return [one.name for one in names]
        case ast.ImportFrom(module=module, level=0):
            return [module or ""]
        case ast.ImportFrom():
            return [""]
    return []
