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
_MARKS: Final = frozenset(
    {
        *("skip", "skipif", "xfail", "importorskip"),  # pytest's
        *("skipTest", "skipIf", "skipUnless", "SkipTest", "expectedFailure"),  # unittest's
    }
)


class Weakening(StrEnum):
    """How a test says less than it did at the base."""

    DELETED = "deleted"
    SKIPPED = "skipped"  # or expected to fail
    ASSERTS = "asserts"  # one that was there is gone or changed
    CONFIGURATION = "configuration"  # pytest's settings
    CHANGED = "changed"  # passes only as the patch has the tests, and not as they were


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
            if (
                (one.outcome in _RUNS and other.outcome in _HIDES)
                or (one.outcome is Outcome.XFAILED and other.outcome is Outcome.SKIPPED)
                or (one.outcome is Outcome.PASSED and other.hidden > one.hidden)  # one that failed tells not of all
            ):
                found.append(Weakened(what=test, how=Weakening.SKIPPED))
            if other.asserts < one.asserts:
                found.append(Weakened(what=test, how=Weakening.ASSERTS))
    return tuple(found)


def weakened_file(path: str, before: bytes | None, after: bytes | None) -> tuple[Weakened, ...]:
    """Functions of a test file that lost an assertion, or that may be skipped where they could not.

    Deleted functions and files show in what is collected, files that cannot be parsed in what fails.
    """
    there, here = _parsed(before), _parsed(after)
    if there is None or here is None:
        return ()
    now = dict(_functions(here, ""))
    found = [
        Weakened(what=CheckId(f"{path}::{name}"), how=how)
        for name, function in _functions(there, "")
        if name in now
        for how in _weaker(function, now[name])
    ]
    if _marks_outside(here) - _marks_outside(there):
        found.append(Weakened(what=CheckId(path), how=Weakening.SKIPPED))
    return tuple(found)


def _weaker(before: ast.AST, after: ast.AST) -> Iterator[Weakening]:
    if _assertions(before) - _assertions(after):
        yield Weakening.ASSERTS
    if _marks(after) - _marks(before):
        yield Weakening.SKIPPED


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


def functions(data: bytes) -> Iterator[tuple[str, ast.AST]]:
    """The functions of a Python file by their names, those of classes behind `Class::`; none of one that is broken."""
    tree = _parsed(data)
    return iter(()) if tree is None else _functions(tree, "")


def _parsed(data: bytes | None) -> ast.Module | None:
    try:
        return None if data is None else ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _functions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{name}{child.name}::")
        else:
            yield from _functions(child, name)


def _assertions(function: ast.AST) -> Counter[str]:
    """What a function asserts, written one way."""
    return Counter(ast.dump(node) for node in _asserted(function))


def _marks(node: ast.AST) -> Counter[str]:
    """What may skip a test or excuse its failure."""
    names = (getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node))
    return Counter(name for name in names if name in _MARKS)


def _marks_outside(tree: ast.Module) -> Counter[str]:
    """Those outside of functions: for a class, or for the whole file."""
    return _marks(tree) - sum((_marks(function) for _, function in _functions(tree, "")), Counter[str]())


def _asserted(function: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield node.test  # its message may change
        elif isinstance(node, ast.Call) and _name(node).startswith(("assert", "raises", "warns")):
            yield node


def _name(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
