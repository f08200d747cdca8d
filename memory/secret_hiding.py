"""Tokens that nobody configured and somebody hid: spaced, reversed, escaped, laced with invisible signs, encoded.

Not found are tokens that were compressed, encrypted, shifted, encoded twice or broken over lines.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import Final

from memory.escapes import unescaped
from memory.leak import Leak, LeakKind
from memory.secret_shapes import TOKENS

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-]{28,}")
_STANDARD: Final = str.maketrans("-_", "+/")
_HEX: Final = re.compile(r"(?<![0-9A-Fa-f])(?:[0-9a-f]{2}){20,}|(?<![0-9A-Fa-f])(?:[0-9A-F]{2}){20,}")
_SPACED: Final = re.compile(r"(?<![^\s,|])(?:[A-Za-z0-9_.\-][ \t\n,|]{1,2}){15,}[A-Za-z0-9_.\-](?![^\s,|])")
_SEPARATORS: Final = re.compile(r"[ \t\n,|]+")
_INVISIBLE: Final = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufeff]+")
_BACKWARDS: Final = re.compile(r"_(?:[pousr]hg|tap_buhtig|mpn|fh|evil_ks|8r)|-(?:talp|ks|[a-z]xox)|AIKA|AISA|azIA")
_KEY: Final = b"PRIVATE KEY-----"
_INSIDE: Final = re.compile(rb"gh[a-z]_|github_pat_|glpat-|npm_|pypi-|sk-|sk_live|xox|AKIA|ASIA|AIza|hf_|hvs\.")


def hidden_tokens(text: str) -> Iterator[Leak]:
    """Where tokens stand that are readable only after one step. Linear in the text."""
    yield from _encoded(text)
    yield from _spaced(text)
    if _BACKWARDS.search(text):
        size = len(text)
        yield from (_hidden(size - found.end(), size - found.start()) for found in TOKENS.finditer(text[::-1]))
    if (decoded := unescaped(text)) is not None:
        for found in TOKENS.finditer(decoded.text):
            yield _hidden(decoded.places[found.start()], decoded.places[found.end()])
    if not text.isascii() and _INVISIBLE.search(text):
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
    return base64.b64decode(digits[: len(digits) // 4 * 4])


def _tells(data: bytes) -> bool:
    if _KEY in data:
        return True
    return _INSIDE.search(data) is not None and TOKENS.search(data.decode("latin-1")) is not None


def _spaced(text: str) -> Iterator[Leak]:
    for run in _SPACED.finditer(text):
        if TOKENS.search(_SEPARATORS.sub("", run[0])):
            yield _hidden(*run.span())


def _with_invisible(text: str) -> Iterator[Leak]:
    kept = [at for at, character in enumerate(text) if not _INVISIBLE.match(character)]
    for found in TOKENS.finditer("".join(text[at] for at in kept)):
        yield _hidden(kept[found.start()], kept[found.end() - 1] + 1)


def _hidden(start: int, end: int) -> Leak:
    return Leak(kind=LeakKind.HIDDEN_TOKEN, start=start, end=end)
