"""Configured secrets in a text: as they are, cut, spaced, reversed, escaped, or encoded in hex or base64.

A text is compared by its letters and digits alone, in one case, so that neither blanks, line breaks nor invisible
characters between them hide a value. Not found are values that were compressed, encrypted, shifted letter by letter,
spelt out or encoded in another way: what must not leave must not be reachable at all; this is the net below that wall.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from memory.escapes import unescaped
from memory.leak import Leak, LeakKind

VALUE_AT_LEAST: Final = 6  # characters; a shorter value would shred ordinary words
PART_AT_LEAST: Final = 12  # letters and digits of a value that were cut out of it
_PLAIN_PART_AT_LEAST: Final = 20  # of a value without digits: what is cut out of words is words
_WHOLE_AT_LEAST: Final = 8  # letters and digits of a value that was hidden whole

_GRAM: Final = 5  # characters of a part: where none of these stands in a text, no part does
_STRIDE: Final = PART_AT_LEAST - _GRAM + 1  # of every so many places one lies at the beginning of a gram of each part
_OTHER: Final = re.compile(r"[^A-Za-z0-9]+")
_ARMOUR: Final = re.compile(r"-----(?:BEGIN|END) [^\n-]{1,64}-----")
_DER_HEAD: Final = 24  # characters with which every key of one length begins
# What issuers put in front of every token says nothing.
_PREFIX: Final = re.compile(r"(?:github_pat_|gh[a-z]_|sk-ant-[a-z0-9]+-|sk-proj-|sk-or-v\d-|sk-|xox[a-z]-|glpat-|eyJ)")


class SecretValues:
    """The secrets of one configuration. Finding takes time linear in the text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = sorted((value for value in {*values} if len(value) >= VALUE_AT_LEAST), key=len, reverse=True)
        self._parts: dict[str, tuple[str, ...]] = {}  # the first PART_AT_LEAST characters → what may follow them
        self._short: set[str] = set()  # forms that are shorter than a part
        for value in self._values:
            for form in _forms(value):
                self._keep(form)

    def and_also(self, value: str) -> SecretValues:
        """These values and one more, which takes no longer than that one alone; these stay as they are."""
        both = SecretValues()
        both._values, both._parts, both._short = [*self._values], {**self._parts}, {*self._short}
        if len(value) >= VALUE_AT_LEAST and value not in both._values:
            both._values = sorted((*both._values, value), key=len, reverse=True)
            for form in _forms(value):
                both._keep(form)
        return both

    def __bool__(self) -> bool:
        return bool(self._values)

    @property
    def mark(self) -> str:
        """Four hex digits that change when there are other values: too few to tell anything of one."""
        told = "\0".join(sorted(self._values)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(told).hexdigest()[:4]

    def as_they_are(self, text: str) -> bool:
        """True when one of the values stands in `text` unhidden."""
        return any(value in text for value in self._values)

    def leaks(self, text: str) -> Iterator[Leak]:
        """Where values stand, whole or in part."""
        if not self._values:
            return
        for value in self._values:
            at = text.find(value)
            while at >= 0:
                yield Leak(kind=LeakKind.VALUE, start=at, end=at + len(value))
                at = text.find(value, at + len(value))
        yield from self._hidden(text, None)
        if (decoded := unescaped(text)) is not None:
            yield from self._hidden(decoded.text, decoded.places)

    def _keep(self, form: str) -> None:
        if len(form) < PART_AT_LEAST:
            self._short.add(form)
            return
        head, tail = form[:PART_AT_LEAST], form[PART_AT_LEAST:]
        tails = self._parts.get(head, ())
        if tail not in tails:
            self._parts[head] = (*tails, tail)

    def _hidden(self, text: str, places: list[int] | None) -> Iterator[Leak]:
        squeezed = _squeezed(text)
        found = list(self._found(squeezed))
        if not found:
            return
        origin = [at for at, character in enumerate(text) if character.isascii() and character.isalnum()]
        ends = [at + 1 for at in origin]
        if places is not None:
            ends = [places[end] for end in ends]
            origin = [places[at] for at in origin]
        for start, end in _runs(found):
            yield Leak(kind=LeakKind.HIDDEN_VALUE, start=origin[start], end=ends[end - 1])

    def _found(self, squeezed: str) -> Iterator[tuple[int, int]]:
        for form in self._short:
            at = squeezed.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = squeezed.find(form, at + 1)
        grams = self._grams
        for place in range(0, len(squeezed), _STRIDE):
            if squeezed[place : place + _GRAM] in grams:
                for at in range(max(0, place - _STRIDE + 1), place + 1):
                    yield from self._parts_at(squeezed, at)

    def _parts_at(self, squeezed: str, at: int) -> Iterator[tuple[int, int]]:
        begin = at + PART_AT_LEAST
        for tail in self._parts.get(squeezed[at:begin], ()):
            if squeezed.startswith(tail, begin):
                yield at, begin + len(tail)

    @cached_property
    def _grams(self) -> frozenset[str]:
        """What stands at the places of a part that a scan in strides may come upon."""
        return frozenset(head[at : at + _GRAM] for head in self._parts for at in range(_STRIDE))


def _runs(found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that overlap or touch, as one."""
    start, end = -1, -1
    for begin, stop in sorted(found):
        if begin >= end:
            if end > 0:
                yield start, end
            start = begin
        end = max(end, stop)
    yield start, end


def _squeezed(text: str) -> str:
    return _OTHER.sub("", text).lower()


def _forms(value: str) -> Iterator[str]:
    """Squeezed texts of which each one gives the value, or a good part of it, away."""
    for body in _bodies(value):
        plain = _squeezed(body)
        mixed = any(map(str.isdigit, plain)) and any(map(str.isalpha, plain))
        least = PART_AT_LEAST if mixed else _PLAIN_PART_AT_LEAST
        yield from _windows(plain, least)
        data = body.encode("utf-8", "replace")
        for coded in (data, data[::-1]):
            yield from _windows(coded.hex(), 2 * least)
            for offset in range(3):
                yield from _windows(_squeezed(_base64(coded, offset)), least * 4 // 3)


def _bodies(value: str) -> Iterator[str]:
    """What of a value is secret: of a key its lines without the armour, of a token the part behind its prefix."""
    if _ARMOUR.search(value):
        body = "".join(_ARMOUR.sub("", value).replace("\\n", "").split())
        yield body[_DER_HEAD:]
        return
    prefix = _PREFIX.match(value)
    yield value[prefix.end() :] if prefix else value


def _base64(data: bytes, offset: int) -> str:
    """The digits that stand for `data` wherever it begins at this offset of a longer text, and depend on it alone."""
    encoded = base64.b64encode(b"\0" * offset + data).decode().rstrip("=")
    whole = (offset + len(data)) // 3 * 4
    return encoded[(0, 2, 3)[offset] : whole]


def _windows(form: str, length: int) -> Iterator[str]:
    """`form` in parts of this length, forwards and backwards; whole when it is not longer."""
    parts = [form[at : at + length] for at in range(len(form) - length + 1)]
    if _WHOLE_AT_LEAST <= len(form) <= length:
        parts.append(form)
    for part in parts:
        yield from (part, part[::-1])
