"""HTML entities that can hide markup → the characters they stand for, however often they were encoded."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from html.entities import html5
from typing import Final

from memory.text import fold

_LONGEST: Final = 40  # characters between `&` and `;`, both included
_ENTITY: Final = re.compile(r"&(?:#\d{1,38}|#[xX][\da-fA-F]{1,37}|[A-Za-z][A-Za-z0-9]{1,37});", re.ASCII)
_AMPERSANDS: Final = re.compile(r"&(?:(?:amp|#38|#[xX]26);)+")


def _hides(text: str) -> bool:
    # `&sum;` is also C source, so that names of visible signs beyond ASCII stay as they are.
    return all(
        not character.isalnum() if character.isascii() else unicodedata.category(character)[0] in "CZ"
        for character in text
    )


_NAMED: Final = {name: text for name, text in html5.items() if name.endswith(";") and _hides(text)}


def decode(text: str) -> str:
    """Text without numeric entities and without named ones of ASCII punctuation, blanks and invisible characters.

    One pass from left to right; what was decoded may complete another entity, so that decoding twice changes nothing.
    Linear in the length of the text.
    """
    if not _ENTITY.search(text):
        return text
    first, *others = _AMPERSANDS.sub("&", text).split(";")
    out = _Out()
    out.add(first)
    for part in others:
        out.end_entity()
        out.add(part)
    return "".join(out.characters)


class _Out:
    """What was decoded so far, and where in it each `&` stands."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self._starts: list[int] = []

    def add(self, text: str) -> None:
        if "&" in text:
            begin = len(self.characters)
            self._starts.extend(begin + place for place, character in enumerate(text) if character == "&")
        self.characters.extend(text)

    def end_entity(self) -> None:
        """Add a semicolon, and decode what it ends; what comes of that may end another one."""
        waiting = [";"]
        while waiting:
            character = waiting.pop()
            self.add(character)
            if character == ";" and (decoded := self._taken()) is not None:
                waiting.extend(reversed(decoded))

    def _taken(self) -> str | None:
        """What the entity at the end stands for; it is taken away then."""
        while self._starts and self._starts[-1] >= len(self.characters):
            self._starts.pop()
        if not self._starts or len(self.characters) - self._starts[-1] > _LONGEST:
            return None
        begin = self._starts[-1]
        decoded = _decoded("".join(self.characters[begin:]))
        if decoded is not None:
            del self.characters[begin:]
        return decoded


@lru_cache(maxsize=1_024)
def _decoded(entity: str) -> str | None:
    if entity[1] != "#":
        return _NAMED.get(entity[1:])
    digits, base = (entity[3:-1], 16) if entity[2] in "xX" else (entity[2:-1], 10)
    if not (digits.isascii() and digits.isalnum()):
        return None
    try:
        int(digits, base)
    except ValueError:
        return None
    character = html.unescape(entity)
    return "\n" if character.splitlines() == [""] else "".join(fold(character))
