"""Tests that stand in one file with the code that they are about: what they said at the base they must still say."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final

from memory.types import CheckId
from stages.weakening import Weakened, Weakening, functions

_RUST_TESTS: Final = "#[cfg(test)]"


def changed_inside(
    path: str, before: bytes | None, after: bytes | None, *, tests: Collection[str] = (), documented: bool = False
) -> Iterator[Weakened]:
    """Functions of these names, tests of Rust and, where they are `documented` by them, examples in docstrings that say
    something else.

    A test that is added is no harm; one that is gone shows in what is collected, too.
    """
    if before is None or after is None:
        return
    yield from _functions_changed(path, before, after, tests)
    less = documented and _examples(before) - _examples(after)
    if less or (path.endswith(".rs") and _tests_of_rust(before) - _tests_of_rust(after)):
        yield Weakened(what=CheckId(path), how=Weakening.CHANGED)


def _functions_changed(path: str, before: bytes, after: bytes, tests: Collection[str]) -> Iterator[Weakened]:
    there, here = ({name: ast.dump(node) for name, node in functions(data)} for data in (before, after))
    for name in sorted(tests):
        if name in there and name in here and there[name] != here[name]:
            yield Weakened(what=CheckId(f"{path}::{name}"), how=Weakening.CHANGED)


def _examples(data: bytes) -> Counter[tuple[str, str]]:
    """What docstrings show, and what they say comes of it."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Counter()
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    texts = (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))
    found = Counter[tuple[str, str]]()
    for text in texts:
        try:
            found.update((one.source, one.want) for one in doctest.DocTestParser().get_examples(text))
        except ValueError:  # no doctest, though it looks like one
            continue
    return found


def _tests_of_rust(data: bytes) -> Counter[str]:
    """The lines from where the tests of a file of Rust begin, where they stand at its end as they use to."""
    _, begins, tests = data.decode("utf-8", "replace").partition(_RUST_TESTS)
    return Counter(line for text in tests.splitlines() if begins and (line := " ".join(text.split())))
