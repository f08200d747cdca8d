"""HTML entities that can hide markup → the characters they stand for, however often they were encoded."""

from __future__ import annotations

import html
import unicodedata
from html.entities import html5
from typing import Final

from memory.text import fold

_LONGEST: Final = 40  # characters between `&` and `;`, both included


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
    if ";" not in text or "&" not in text:
        return text
    first, *others = text.split(";")
    out = list(first)
    for part in others:
        _push(out, ";")
        out.extend(part)
    return "".join(out)


def _push(out: list[str], characters: str) -> None:
    waiting = list(reversed(characters))
    while waiting:
        out.append(waiting.pop())
        if out[-1] != ";":
            continue
        tail = "".join(out[-_LONGEST:])
        begin = tail.rfind("&")
        if begin >= 0 and (decoded := _decoded(tail[begin:])) is not None:
            del out[begin - len(tail) :]
            waiting.extend(reversed(decoded))


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
