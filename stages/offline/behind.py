"""Which files a failing test is about, where no coverage tells: a check that is a command of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from stages.agents.embedded import call
from stages.offline.account import frames, same_file
from stages.offline.paths import is_test_file
from stages.offline.steps import Steps, read_files

_TESTS_READ: Final = 3


def files_behind(tests: Sequence[str], text: str) -> Steps[list[str]]:
    """Python files, those of tests left out: what tracebacks in `text` name, then what the files of `tests` import.

    Ids of tests begin with their file, `tests/test_cart.py::…`, or with its module, as JUnit's reports have it:
    `tests.test_cart::…`.
    """
    (listed,) = yield (call("list"),)
    files = [line[2:].strip() for line in listed.split("\n") if line.startswith("| ") and line.strip().endswith(".py")]
    named = [path for written, _ in frames(text) for path in files if same_file(written, path)]
    texts = yield from read_files(list(dict.fromkeys(_files_of(tests, files)))[:_TESTS_READ])
    imported = [path for text in texts.values() for module in _imports(text) for path in _files_with(module, files)]
    return [path for path in dict.fromkeys((*named, *imported)) if not is_test_file(path)]


def _files_of(tests: Sequence[str], files: Sequence[str]) -> Iterator[str]:
    for test in tests:
        start = test.partition("::")[0]
        module = start.split(".")
        names = {start, *("/".join(module[:end]) + ".py" for end in range(1, len(module) + 1))}
        yield from (path for path in files if path in names)


def _imports(text: str) -> Iterator[str]:
    """Modules that a text imports, and what it takes from them, since that may be a module too."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str() as module, names=names):
                yield from (f"{module}.{one.name}" for one in names)
                yield module


def _files_with(module: str, files: Iterable[str]) -> Iterator[str]:
    """Where a module may lie: `src/shop/cart.py` and `shop/cart/__init__.py` are `shop.cart`."""
    path = module.replace(".", "/")
    for file in files:
        stem = file.removesuffix("/__init__.py").removesuffix(".py")
        if stem == path or stem.endswith(f"/{path}"):
            yield file
