"""What the text of a ticket or of a failure names: places, literals, identifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_PYTHON_FRAME: Final = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in (\S+))?')
_PYTEST_FRAME: Final = re.compile(r"^\s*([\w./\\-]+\.py):(\d+):", re.MULTILINE)
_GIVES_UP: Final = re.compile(r"[^\n]*(?:\n(?:E|\|)? [^\n]*){0,3}\n(?:[E|] *)?RecursionError\b| RecursionError\b")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
_TEXT: Final = re.compile(r"'[^'\\\n]{0,60}'|\"[^\"\\\n]{0,60}\"")
_HINTS_AT_MOST: Final = 20
_EXCEPTION: Final = re.compile(r"\b([A-Z]\w*(?:Error|Exception|Warning))\b")

_AT_FAULT: Final = re.compile(r"^ *>(.*)$", re.MULTILINE)
_NAMES_AT_MOST: Final = 8
_UNKNOWN_NAME: Final = re.compile(
    r"name '(\w+)' is not defined|module '[\w.]+' has no attribute '(\w+)'|cannot import name '(\w+)'"
    r"|unexpected keyword argument '(\w+)'"
)
_OPERATOR: Final = re.compile(
    r"unsupported operand type\(s\) for ([^\s\w:]+)|'([<>]=?)' not supported between|bad operand type for unary (\S):"
)
_ATTRIBUTE_OF_NONE: Final = re.compile(r"'NoneType' object has no attribute '(\w+)'")


@dataclass(frozen=True, kw_only=True)
class Clues:
    """What Python's own message says is wrong: names that it does not know, attributes that were asked of None, and
    operators that were asked of values which know none of it."""

    unknown_names: frozenset[str] = frozenset()
    attributes_of_none: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()


def clues(text: str) -> Clues:
    """The clues in the account of a failure."""
    return Clues(
        unknown_names=frozenset(name for found in _UNKNOWN_NAME.findall(text) for name in found if name),
        attributes_of_none=frozenset(_ATTRIBUTE_OF_NONE.findall(text)),
        operators=frozenset(sign for found in _OPERATOR.findall(text) for sign in found if sign),
    )


def frames(text: str) -> list[tuple[str, int]]:
    """Places that tracebacks name, in the order of the text: file and line.

    Not where Python gave up an endless recursion: that is chance, by how deep the stack was before it.
    """
    found = [*_PYTHON_FRAME.finditer(text), *_PYTEST_FRAME.finditer(text)]
    named = (match for match in found if not _GIVES_UP.match(text, match.end()))
    return [(match[1], int(match[2])) for match in sorted(named, key=lambda match: match.start())]


def traceback_lines(text: str, paths: Sequence[str]) -> list[tuple[str, int]]:
    """The places of a traceback that lie in one of these files."""
    return [(own, line) for path, line in frames(text) for own in paths if same_file(path, own)]


def same_file(written: str, path: str) -> bool:
    """True when a path as a traceback writes it may mean this file of the tree."""
    written = written.replace("\\", "/")
    return written == path or written.endswith(f"/{path}") or path.endswith(f"/{written}")


def functions(text: str) -> list[str]:
    """Functions that tracebacks name."""
    return [match[3] for match in _PYTHON_FRAME.finditer(text) if match[3] and match[3].isidentifier()]


def exceptions(text: str) -> list[str]:
    """Types of exceptions that a text names."""
    return list(dict.fromkeys(_EXCEPTION.findall(text)))


def hints(*texts: str) -> tuple[str, ...]:
    """Literals that texts name, as they are written in code: numbers and quoted texts."""
    text = "\n".join(texts)
    found = dict.fromkeys((*_NUMBER.findall(text), *_TEXT.findall(text)))
    return tuple(one for one in found if one not in ("''", '""'))[:_HINTS_AT_MOST]


def names_at_fault(text: str) -> tuple[str, ...]:
    """Names in the lines that pytest points at, the last ones first: what is called last is nearest to the failure."""
    found = [name for line in _AT_FAULT.findall(text) for name in re.findall(r"[A-Za-z_]\w{2,}", line)]
    return tuple(dict.fromkeys(reversed(found)))[:_NAMES_AT_MOST]
