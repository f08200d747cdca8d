"""Tokens that nobody configured and somebody hid: spaced, reversed, escaped, laced with invisible signs, encoded.

Not found are tokens that were compressed, encrypted, shifted, encoded twice or in another way, or broken over lines.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from memory.escapes import unescaped
from memory.leak import Leak, LeakKind
from memory.secret_shapes import has_mixture, tokens_in
from memory.text import vanishes

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-]{27,}")
_STANDARD: Final = str.maketrans("-_", "+/")
_HEX: Final = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9a-f]{2}){20,}|(?<![0-9A-Fa-f])(?:[0-9A-F]{2}){20,}")
_SPACED: Final = re.compile(r"(?<![^\s,|])(?:[A-Za-z0-9_.\-][ \t\n,|]{1,2}){15,}[A-Za-z0-9_.\-](?![^\s,|])")
_SEPARATORS: Final = re.compile(r"[ \t\n,|]+")
_KEY: Final = "PRIVATE KEY-----"


def hidden_tokens(text: str) -> Iterator[Leak]:
    """Where tokens stand that are readable only after one step. Linear in the text."""
    yield from _encoded(text)
    yield from _spaced(text)
    yield from _reversed(text)
    if (decoded := unescaped(text)) is not None:
        yield from (_hidden(decoded.places[start], decoded.places[end]) for start, end in tokens_in(decoded.text))
    if not text.isascii():
        yield from _with_invisible(text)


def _encoded(text: str) -> Iterator[Leak]:
    for run in _BASE64.finditer(text):
        digits = run[0].translate(_STANDARD)
        if any(_tells(_decoded(digits[shift:])) for shift in range(4)):
            yield _hidden(*run.span())
    for run in _HEX.finditer(text):
        if _tells(bytes.fromhex(run[0])):
            yield _hidden(*run.span())


def _decoded(digits: str) -> bytes:
    whole = digits[: len(digits) - (len(digits) % 4 == 1)]
    return base64.b64decode(whole + "=" * (-len(whole) % 4))


def _tells(data: bytes) -> bool:
    text = data.decode("latin-1")
    return _KEY in text or any(True for _ in tokens_in(text))


def _spaced(text: str) -> Iterator[Leak]:
    for run in _SPACED.finditer(text):
        if any(True for _ in tokens_in(_SEPARATORS.sub("", run[0]))):
            yield _hidden(*run.span())


def _reversed(text: str) -> Iterator[Leak]:
    backwards, size = text[::-1], len(text)
    for start, end in tokens_in(backwards):
        if has_mixture(backwards[start:end]):  # a long name may end as a token begins
            yield _hidden(size - end, size - start)


def _with_invisible(text: str) -> Iterator[Leak]:
    unseen = {character for character in set(text) if not character.isascii() and _is_unseen(character)}
    if not unseen:
        return
    kept = [at for at, character in enumerate(text) if character not in unseen]
    for start, end in tokens_in("".join(text[at] for at in kept)):
        yield _hidden(kept[start], kept[end - 1] + 1)


def _is_unseen(character: str) -> bool:
    return vanishes(character) or unicodedata.category(character) == "Cf"  # those that turn the direction too


def _hidden(start: int, end: int) -> Leak:
    return Leak(kind=LeakKind.HIDDEN_TOKEN, start=start, end=end)
