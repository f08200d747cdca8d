"""The model's work as a generator: it yields tool calls, and is sent what the tools answered."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import libcst as cst

from stages.agents.embedded import Call, call
from stages.offline.paths import is_test_file
from stages.offline.results import Seen, lines, refused, seen
from stages.offline.scope import Program
from stages.offline.source import Focus

Given = TypeVar("Given")
Steps: TypeAlias = Generator[tuple[Call, ...], tuple[str, ...], Given]
"""Each yield is one message of the model; what is sent back are the results, in the order of the calls."""

READ_LINES: Final = 400
"""Lines that one `read` gives at most."""
_READS_AT_MOST: Final = 40


def run(
    check: str,
    tests: Sequence[str] = (),
    *,
    with_files: bool = False,
    coverage: bool = False,
    stop_at_first: bool = False,
    seconds: float = 0,
) -> Call:
    """A run of a check, or of some of its tests; a test that takes more than these seconds hangs, 0 is the usual."""
    more: dict[str, object] = {"tests": list(tests)} if tests else {}
    flags = {"with_files": with_files, "coverage": coverage, "stop_at_first": stop_at_first}
    more |= {name: True for name, wanted in flags.items() if wanted}
    return call("run", check=check, **more, **({"seconds": seconds} if seconds else {}))


def runs(*calls: Call) -> Steps[list[Seen | None]]:
    """Several runs in one message."""
    return [seen(result) for result in (yield calls)]


def read_files(paths: Sequence[str]) -> Steps[dict[str, str]]:
    """The texts of files, all in as few messages as can be; those that cannot be read are left out."""
    texts = {path: dict[int, str]() for path in paths}
    missing: dict[str, int] = dict.fromkeys(paths, 1)
    for _ in range(_READS_AT_MOST):
        if not missing:
            break
        asked = list(missing.items())
        results = yield tuple(
            call("read", path=path, **({"start": start} if start > 1 else {})) for path, start in asked
        )
        missing = {}
        for (path, _start), result in zip(asked, results, strict=True):
            found = lines(result)
            texts[path].update(found.numbered)
            reached = max(texts[path], default=0)
            if found.numbered and found.total > reached:
                missing[path] = reached + 1
            if refused(result):
                texts[path].clear()
    whole = {path: found for path, found in texts.items() if found and list(found) == list(range(1, len(found) + 1))}
    return {path: "\n".join(found.values()) for path, found in whole.items()}


def files_that_define(names: Sequence[str]) -> Steps[list[str]]:
    """Python files, those of tests left out, with a function or a class of one of these names."""
    if not names:
        return []
    results = yield tuple(call("search", text=f"{word} {name}") for name in names for word in ("def", "class"))
    paths = [path for result in results for path in re.findall(r"^\| ([^\n:]+\.py):\d+:", result, re.MULTILINE)]
    return [path for path in dict.fromkeys(paths) if not is_test_file(path)]


def programs(
    texts: Mapping[str, str], hints: tuple[str, ...], focus: Mapping[str, Focus] | None = None
) -> list[Program]:
    """The texts that are Python, as programs; `focus` is what matters of each, None is everything of all."""
    made = (_program(path, text, hints, focus.get(path) if focus else None) for path, text in texts.items())
    return [program for program in made if program is not None]


def focused(texts: Mapping[str, str], lines: Mapping[str, frozenset[int]]) -> dict[str, Focus]:
    """What these lines and the words in them touch."""
    words = {
        word
        for path, text in texts.items()
        for number, line in enumerate(text.split("\n"), 1)
        if number in lines.get(path, ())
        for word in re.findall(r"\w+", line)
    }
    return {path: Focus(lines=lines[path], words=frozenset(words)) for path in texts if lines.get(path)}


def _program(path: str, text: str, hints: tuple[str, ...], focus: Focus | None) -> Program | None:
    try:
        return Program(path, text, hints, focus)
    except (cst.ParserSyntaxError, SyntaxError, ValueError, RecursionError):
        return None
