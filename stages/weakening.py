"""Tests that say less than they did: found in what was collected, in how it ended, and in the files themselves."""

from __future__ import annotations

import ast
import configparser
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from memory.types import CheckId
from stages.report import CheckReport, Outcome

_SECTIONS: Final = {"tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_WHOLE: Final = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
_RUNS: Final = frozenset({Outcome.PASSED, Outcome.FAILED})
_HIDES: Final = frozenset({Outcome.SKIPPED, Outcome.XFAILED})


class Weakening(StrEnum):
    """How a test says less than it did at the base."""

    DELETED = "deleted"
    SKIPPED = "skipped"  # or expected to fail
    ASSERTS = "asserts"  # one that was there is gone or changed
    CONFIGURATION = "configuration"  # pytest's settings


@dataclass(frozen=True, kw_only=True)
class Weakened:
    """A test, or a file of test settings, that a patch weakens."""

    what: CheckId
    how: Weakening


def weakened_runs(base: CheckReport, head: CheckReport) -> tuple[Weakened, ...]:
    """Tests of the base that are gone, hidden or assert less. One whose file cannot be read any more fails instead."""
    before = {outcome.id: outcome for outcome in base.outcomes}
    after = {outcome.id: outcome for outcome in head.outcomes}
    broken = tuple(id_ for id_, outcome in after.items() if outcome.outcome is Outcome.FAILED)
    collected = frozenset(head.collected)
    found = list[Weakened]()
    for test in base.collected:
        one, other = before.get(test), after.get(test)
        if test not in collected:
            if not any(test.startswith(f"{file}::") for file in broken):
                found.append(Weakened(what=test, how=Weakening.DELETED))
        elif one and other:
            if (one.outcome in _RUNS and other.outcome in _HIDES) or (
                one.outcome is Outcome.XFAILED and other.outcome is Outcome.SKIPPED
            ):
                found.append(Weakened(what=test, how=Weakening.SKIPPED))
            if other.asserts < one.asserts:
                found.append(Weakened(what=test, how=Weakening.ASSERTS))
    return tuple(found)


def weakened_file(path: str, before: bytes | None, after: bytes | None) -> tuple[Weakened, ...]:
    """Functions of a test file whose assertions were taken away or changed.

    Deleted functions and files show in what is collected, files that cannot be parsed in what fails.
    """
    if before is None or after is None:
        return ()
    there, here = _assertions(before), _assertions(after)
    return tuple(
        Weakened(what=CheckId(f"{path}::{name}"), how=Weakening.ASSERTS)
        for name, asserted in there.items()
        if name in here and asserted - here[name]
    )


def is_settings(path: str) -> bool:
    """True for a file that may hold pytest's settings."""
    name = PurePosixPath(path).name
    return name in _WHOLE or name in _SECTIONS or name == "pyproject.toml"


def settings_changed(path: str, before: bytes | None, after: bytes | None) -> bool:
    """True when pytest's settings in such a file are not what they were; also when they cannot be read any more."""
    name = PurePosixPath(path).name
    if name in _WHOLE:
        return before != after
    try:
        return _settings(name, before) != _settings(name, after)
    except (ValueError, configparser.Error, RecursionError):
        return True


def _settings(name: str, data: bytes | None) -> object:
    text = (data or b"").decode()
    if name == "pyproject.toml":
        return tomllib.loads(text).get("tool", {}).get("pytest")
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    section = _SECTIONS[name]
    return dict(parser.items(section)) if parser.has_section(section) else None


def _assertions(data: bytes) -> dict[str, Counter[str]]:
    """Name of each function → its assertions, written one way."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {name: Counter(map(ast.dump, _asserted(function))) for name, function in _functions(tree, "")}


def _functions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{name}{child.name}::")
        else:
            yield from _functions(child, name)


def _asserted(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield node.test  # its message may change
        elif isinstance(node, ast.Call) and _name(node).startswith(("assert", "raises", "warns")):
            yield node


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
