"""Characters that are written as escapes → the characters: percent, JSON, Python, HTML, octal and full-width forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ROUNDS: Final = 3  # an escape may stand for the beginning of another one
_ESCAPE: Final = re.compile(
    r"%(?P<percent>[0-9A-Fa-f]{2})"
    r"|\\{1,4}(?:u\{?(?P<u>[0-9A-Fa-f]{4,6})\}?|U(?P<long>[0-9A-Fa-f]{8})|x(?P<x>[0-9A-Fa-f]{2})|0?(?P<octal>[0-7]{3}))"
    r"|&#(?:(?P<decimal>[0-9]{1,7})|[xX](?P<hex>[0-9A-Fa-f]{1,6}));"
)
_BASES: Final = {"percent": 16, "u": 16, "long": 16, "x": 16, "octal": 8, "decimal": 10, "hex": 16}
_LAST: Final = 0x10FFFF
_WIDE: Final = {point: point - 0xFEE0 for point in range(0xFF01, 0xFF5F)}  # U+FF01 to U+FF5E: ASCII in full width


@dataclass(frozen=True, kw_only=True)
class Unescaped:
    """A text without escapes. `places` says for each border between its characters where it lies in the original."""

    text: str
    places: list[int]


def unescaped(text: str) -> Unescaped | None:
    """None when no escape stands in `text`. Linear in its length."""
    narrow = text if text.isascii() else text.translate(_WIDE)
    places = None if narrow == text else list(range(len(text) + 1))
    text = narrow
    for _ in range(_ROUNDS):
        if ("%" not in text and "\\" not in text and "&#" not in text) or not _ESCAPE.search(text):
            break
        text, places = _once(text, places or list(range(len(text) + 1)))
    return None if places is None else Unescaped(text=text, places=places)


def _once(text: str, places: list[int]) -> tuple[str, list[int]]:
    out: list[str] = []
    at: list[int] = []
    done = 0
    for found in _ESCAPE.finditer(text):
        kind = found.lastgroup or ""
        point = int(found[kind], _BASES[kind])
        out.append(text[done : found.start()])
        at.extend(places[done : found.start() + 1])
        out.append(chr(point) if point <= _LAST else "?")
        done = found.end()
    out.append(text[done:])
    at.extend(places[done:])
    return "".join(out), at
