"""Secrets out, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from memory import secret_shapes as shapes

SECRET: Final = "[secret]"  # noqa: S105 - what stands for one
_VALUE_AT_LEAST: Final = 6  # characters; a shorter value would shred ordinary words
_PASSES_AT_MOST: Final = 3  # a secret may hide behind the end of another one
_WIDE_GAP = re.compile(r" {9,}")
_GAP = "\x00"
_PEM_BEGIN: Final = "-----BEGIN "
_PEM_END: Final = "-----END "
_PEM_HEADER_AT_MOST: Final = 64
_PEM_BODY_AT_MOST: Final = 16_384


class Scrubber:
    """Replaces secrets by `[secret]`: the exact `values`, and whatever has the shape of a secret.

    Takes time linear in the text. Hashes of commits, digests of edits and keys of
    signatures stay.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = sorted((value for value in {*values} if len(value) >= _VALUE_AT_LEAST), key=len, reverse=True)

    def scrub(self, text: str) -> str:
        """`text` without secrets, NUL characters and lone surrogates, which no database takes."""
        text = text.replace("\x00", "")
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        for _ in range(_PASSES_AT_MOST):
            before, text = text, self._once(text)
            if text == before:
                break
        return text

    def holds_value(self, text: str) -> bool:
        """True when one of the exact values stands in `text`."""
        return any(value in text for value in self._values)

    def _once(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, SECRET)
        text = _without_pem(text)
        text = shapes.URL_PASSWORD.sub(rf"\1:{SECRET}", text)
        text = shapes.TOKENS.sub(SECRET, text)
        text = shapes.JWT.sub(SECRET, text)
        text = shapes.MODEL_KEY.sub(lambda found: SECRET if shapes.has_mixture(found[0]) else found[0], text)
        text = shapes.AUTH_TOKEN.sub(SECRET, text)
        text = shapes.AUTHORIZATION.sub(_authorization, text)
        text = shapes.ASSIGNED.sub(_assigned, text)
        text = _without_issued(text)
        return shapes.LONG_RUN.sub(lambda found: SECRET if shapes.is_random(found[0]) else found[0], text)


def _without_pem(text: str) -> str:
    """Without blocks of private keys; one whose end is missing goes up to the next empty line."""
    kept: list[str] = []
    at = 0
    while (begin := text.find(_PEM_BEGIN, at)) >= 0:
        closed = text.find("-----", begin + len(_PEM_BEGIN), begin + _PEM_HEADER_AT_MOST)
        if "PRIVATE KEY" not in text[begin:closed]:
            kept.append(text[at : begin + len(_PEM_BEGIN)])
            at = begin + len(_PEM_BEGIN)
            continue
        kept.extend((text[at:begin], SECRET))
        at = _pem_end(text, begin)
    return "".join((*kept, text[at:]))


def _pem_end(text: str, begin: int) -> int:
    most = min(len(text), begin + _PEM_BODY_AT_MOST)
    end = text.find(_PEM_END, begin, most)
    if end >= 0:
        closed = text.find("-----", end + len(_PEM_END), end + _PEM_HEADER_AT_MOST)
        return closed + 5 if closed >= 0 else end + len(_PEM_END)
    empty = text.find("\n\n", begin, most)
    return empty if empty >= 0 else most


def _without_issued(text: str) -> str:
    # Some of these patterns take quadratic time over long gaps, where no secret can be.
    gaps = iter(_WIDE_GAP.findall(text))
    text = _WIDE_GAP.sub(_GAP, text)
    for pattern in shapes.issuers():
        text = pattern.sub(lambda found: SECRET + _GAP * found[0].count(_GAP), text)
    return re.sub(_GAP, lambda _: next(gaps), text)


def _authorization(found: re.Match[str]) -> str:
    return f"{found[1]} {SECRET}" if shapes.has_mixture(found[2]) else found[0]


def _assigned(found: re.Match[str]) -> str:
    group = "quoted" if found["quoted"] else "bare"
    if group == "quoted":
        secret = shapes.is_quoted_secret(found[group])
    else:
        secret = not found["next"] and shapes.is_bare_secret(found[group])
    start, stop = (at - found.start() for at in found.span(group))
    return found[0][:start] + SECRET + found[0][stop:] if secret else found[0]
