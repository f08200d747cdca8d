"""Lines that are made from the parsers' own patterns to make them slow: a new pattern or form is covered by itself."""

from __future__ import annotations

import importlib
import pkgutil
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import Any

import memory.signature
from memory.signature.canon import forms
from memory.signature.cleaning import LINE_AT_MOST

# The standard library's own reading of a pattern; its types are not told.
_parse: Any = importlib.import_module("re._parser").parse
_WAYS = 3  # to choose a character where there are many, a branch, and a length
_RUN = 300  # characters: where the parsers end most runs
_POOL = f"a1A./ :-_$@,;('\"<[{{\\=|#{string.ascii_letters}{string.digits}{string.punctuation} \t~\u9519"
_CATEGORIES: Mapping[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda char: not char.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
    "CATEGORY_NOT_WORD": lambda char: not (char.isalnum() or char == "_"),
}


def patterns() -> dict[str, tuple[re.Pattern[str], str]]:
    """Every pattern of the parsers and forms by its place, with the words that its parser asks for before it reads."""
    found: dict[str, tuple[re.Pattern[str], str]] = {}
    for module in pkgutil.iter_modules(memory.signature.__path__):
        loaded = importlib.import_module(f"memory.signature.{module.name}")
        hints = " ".join((*getattr(loaded, "HINTS", ()), *getattr(getattr(loaded, "FAMILY", None), "hints", ())))
        for name, value in vars(loaded).items():
            for at, pattern in enumerate(_patterns_in(value)):
                found[f"{module.name}.{name}[{at}]"] = pattern, hints
    for form in forms():
        for at, pattern in enumerate(form.patterns):
            found[f"canon.toml {form.name}[{at}]"] = pattern, " ".join(form.needs)
    return found


def texts(pattern: re.Pattern[str], hints: str, size: int) -> Iterator[str]:
    """Two texts of `size` characters, of different lines that the pattern nearly matches."""
    lines = [*dict.fromkeys(_lines(pattern, hints))]
    for half in (lines[::2], lines[1::2]):
        step = max(1, len(half) // (size // LINE_AT_MOST))
        yield "\n".join(islice(cycle(half[::step]), size // LINE_AT_MOST + 1))[:size]


def _lines(pattern: re.Pattern[str], hints: str) -> Iterator[str]:
    """Lines of full length: a run that goes on, a beginning that comes again and again, all but one part."""
    for way in range(_WAYS):
        pieces = _joined(_pieces(_parse(pattern.pattern, pattern.flags & ~re.UNICODE), way))
        words = "".join(piece for piece in pieces if len(set(piece)) > 1) or hints
        for at, piece in enumerate(pieces):
            run, head, rest = piece[-1] * LINE_AT_MOST, "".join(pieces[: at + 1]), "".join(pieces[at + 1 :])
            for line in (
                run[len(rest) :] + rest,
                run[len(words) :] + words,
                words + run,
                head[-1:] * 200 + head * LINE_AT_MOST,
                _short(head) * LINE_AT_MOST,
                head + _short(rest) * LINE_AT_MOST,
            ):
                yield f"{line[: LINE_AT_MOST - len(hints) - 1]} {hints}"[:LINE_AT_MOST]


def _patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _patterns_in(part)
    elif isinstance(value, Mapping):
        yield from _patterns_in(tuple(value.values()))


def _joined(pieces: Iterable[str]) -> list[str]:
    """The same pieces, with letters that follow each other as one."""
    joined: list[str] = []
    for piece in pieces:
        if len(piece) == 1 and joined and not (len(joined[-1]) > 2 and len(set(joined[-1])) == 1):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return joined


def _short(text: str) -> str:
    """A text with its runs cut."""
    return re.sub(r"(.)\1{3,}", r"\1\1", text)


def _pieces(tree: Sequence[Any], way: int) -> Iterator[str]:
    """A text that each part of a pattern takes; `way` chooses among characters, branches and lengths."""
    for kind, given in tree:
        match str(kind):
            case "LITERAL":
                yield chr(given)
            case "NOT_LITERAL":
                yield "a" if given != ord("a") else "b"
            case "ANY":
                yield "a1 "[way]
            case "IN":
                yield _one(given, way)
            case "BRANCH":
                yield from _pieces(given[1][way % len(given[1])], way)
            case "SUBPATTERN":
                yield from _pieces(given[3], way)
            case "ATOMIC_GROUP":
                yield from _pieces(given, way)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield _repeated(given, way)
            case _:  # places and assertions take nothing
                pass


def _repeated(given: tuple[int, Any, Sequence[Any]], way: int) -> str:
    least, most, inside = given
    text = "".join(_pieces(inside, way))
    return text * (least if way == 1 and least else max(least, min(int(most), _RUN // max(1, len(text)))))


def _one(given: Sequence[tuple[Any, Any]], way: int) -> str:
    able = [char for char in _POOL if _takes(given, char)]
    return able[way * 7 % len(able)] if able else ""


def _takes(given: Sequence[tuple[Any, Any]], char: str) -> bool:
    found, negated = False, False
    for kind, value in given:
        match str(kind):
            case "NEGATE":
                negated = True
            case "LITERAL":
                found = found or ord(char) == value
            case "RANGE":
                found = found or value[0] <= ord(char) <= value[1]
            case "CATEGORY":
                found = found or _CATEGORIES[str(value)](char)
    return found is not negated
