"""Secrets out, before anything is written."""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from memory import secret_shapes as shapes
from memory.leak import Leak, LeakKind, joined, without
from memory.secret_hiding import hidden_tokens
from memory.secret_values import SecretValues

SECRET: Final = "[secret]"  # noqa: S105 - what stands for one
LEARNT_AT_MOST: Final = 32
_PASSES_AT_MOST: Final = 6  # a secret may hide behind the end of another one
_WIDE_GAP = re.compile(r" {9,}")
_GAP = "\x00"
_PEM_BEGIN: Final = "-----BEGIN "
_PEM_END: Final = "-----END "
_PEM_HEADER_AT_MOST: Final = 64
_PEM_BODY_AT_MOST: Final = 16_384


class Scrubber:
    """Finds secrets, and replaces them by `[secret]`: the exact `values`, and whatever has the shape of a secret.

    Both are found as they are, spaced, reversed, escaped and encoded in hex or base64; of a value parts of twelve
    characters are enough. Takes time linear in the text. Hashes of commits, digests of edits and keys of signatures
    stay.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._given, self._made = tuple(values), tuple[str, ...]()
        self._values, self._learnt = SecretValues(self._given), SecretValues()
        self._learning = threading.Lock()  # of two that learn at once each would forget what the other one learns

    def learn(self, value: str, *, for_good: bool = False) -> None:
        """Know one more secret from now on. Of those that live for an hour only, at least the newest 32 are kept.

        Other threads may read meanwhile: they see the old ones or the new, by one assignment.
        """
        with self._learning:
            if for_good:
                self._given = (*self._given, value)
                self._values = SecretValues(self._given)
                return
            self._made = (value, *(one for one in self._made if one != value))
            if len(self._made) > 2 * LEARNT_AT_MOST:
                self._made = self._made[:LEARNT_AT_MOST]
                self._learnt = SecretValues(self._made)
            else:
                self._learnt = self._learnt.and_also(value)

    @property
    def mark(self) -> str:
        """What changes when other lasting values are known; see `SecretValues.mark`."""
        return self._values.mark

    def scrub(self, text: str) -> str:
        """`text` without secrets, NUL characters and lone surrogates, which no database takes."""
        text = text.replace("\x00", "")
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        return _cleaned(text, self.leaks)

    def without_values(self, text: str) -> str:
        """`text` without the exact values, hidden ones too; what has only the shape of a secret stays as it is.

        For what a model reads of a repository: keys that stand in its tests are no secrets of ours.
        """
        return _cleaned(text, self._of_values)

    def leaks(self, text: str) -> tuple[Leak, ...]:
        """Where secrets stand in `text`, in order and without overlap; empty for whatever `scrub` gave."""
        found = [*self._of_values(text), *_private_keys(text), *_shapes(text), *_issued(text), *hidden_tokens(text)]
        return joined(leak for leak in found if text[leak.start : leak.end] != SECRET)

    def holds_value(self, text: str) -> bool:
        """True when one of the exact values stands in `text`."""
        return self._values.as_they_are(text) or self._learnt.as_they_are(text)

    def _of_values(self, text: str) -> tuple[Leak, ...]:
        return joined((*self._values.leaks(text), *self._learnt.leaks(text)))


def _cleaned(text: str, find: Callable[[str], tuple[Leak, ...]]) -> str:
    for _ in range(_PASSES_AT_MOST):
        if not (leaks := find(text)):
            break
        text = without(text, leaks, SECRET)
    return text


def _private_keys(text: str) -> Iterator[Leak]:
    """Blocks of private keys; one whose end is missing goes up to the next empty line."""
    at = 0
    while (begin := text.find(_PEM_BEGIN, at)) >= 0:
        closed = text.find("-----", begin + len(_PEM_BEGIN), begin + _PEM_HEADER_AT_MOST)
        at = begin + len(_PEM_BEGIN)
        if "PRIVATE KEY" in text[begin:closed]:
            at = _pem_end(text, begin)
            yield Leak(kind=LeakKind.PRIVATE_KEY, start=begin, end=at)


def _pem_end(text: str, begin: int) -> int:
    most = min(len(text), begin + _PEM_BODY_AT_MOST)
    end = text.find(_PEM_END, begin, most)
    if end >= 0:
        closed = text.find("-----", end + len(_PEM_END), end + _PEM_HEADER_AT_MOST)
        return closed + 5 if closed >= 0 else end + len(_PEM_END)
    empty = text.find("\n\n", begin, most)
    return empty if empty >= 0 else most


def _shapes(text: str) -> Iterator[Leak]:
    yield from (_leak(LeakKind.TOKEN, span) for span in shapes.tokens_in(text))
    for found in shapes.URL_PASSWORD.finditer(text):
        if shapes.is_url_password(found[2]):
            yield _leak(LeakKind.ASSIGNED, found.span(2))
    yield from (_leak(LeakKind.ASSIGNED, found.span()) for found in shapes.AUTH_TOKEN.finditer(text))
    for found in shapes.AUTHORIZATION.finditer(text):
        if shapes.has_mixture(found[2]):
            yield _leak(LeakKind.ASSIGNED, found.span(2))
    yield from _assigned(text)
    for found in shapes.LONG_RUN.finditer(text):
        if shapes.is_random(found[0], in_path=shapes.goes_on_in_path(text, found.start())):
            yield _leak(LeakKind.RANDOM, found.span())


def _assigned(text: str) -> Iterator[Leak]:
    for found in shapes.ASSIGNED.finditer(text):
        if found["quoted"]:
            if shapes.is_quoted_secret(found["quoted"]):
                yield _leak(LeakKind.ASSIGNED, found.span("quoted"))
        elif not found["next"] and shapes.is_bare_secret(found["bare"]):
            yield _leak(LeakKind.ASSIGNED, found.span("bare"))


def _issued(text: str) -> Iterator[Leak]:
    # Some of these patterns take quadratic time over long gaps, where no secret can be.
    gaps = _Gaps(text)
    short = _WIDE_GAP.sub(_GAP, text) if gaps.starts else text
    for pattern in shapes.issuers_in(short):
        for found in pattern.finditer(short):
            start, end = found.span()
            yield Leak(kind=LeakKind.TOKEN, start=gaps.original(start), end=gaps.original(end))


def _leak(kind: LeakKind, span: tuple[int, int]) -> Leak:
    return Leak(kind=kind, start=span[0], end=span[1])


class _Gaps:
    """Wide gaps of a text, and where places of the text with short ones lie in it."""

    def __init__(self, text: str) -> None:
        self.starts: list[int] = []
        self.missing: list[int] = [0]
        for found in _WIDE_GAP.finditer(text):
            self.starts.append(found.start() - self.missing[-1])
            self.missing.append(self.missing[-1] + len(found[0]) - 1)

    def original(self, place: int) -> int:
        return place + self.missing[bisect_left(self.starts, place)]
