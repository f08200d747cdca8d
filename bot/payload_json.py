"""The bytes of a delivery → its object, refused when they are not exactly one: code sees one meaning, or none."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from memory.errors import Told

DEPTH_AT_MOST: Final = 64

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_OPENING: Final = b"[{"
_SIGNS: Final = b'[]{}"'
_REST: Final = bytes(byte for byte in range(256) if byte not in _SIGNS)


class NoPayload(Told):
    """The body is no payload: {reason}."""


def payload_of(body: bytes | bytearray) -> dict[str, object]:
    """The object. Raises NoPayload: no JSON, nested deeper than 64, a key twice, a number that is none, no object."""
    if too_deep(body):
        raise NoPayload(reason=f"it is nested deeper than {DEPTH_AT_MOST}")
    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=_each_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NoPayload(reason="it is no JSON that can be read in one way only") from error
    if not isinstance(found, dict):
        raise NoPayload(reason="it is no object")
    return found


def too_deep(body: bytes | bytearray) -> bool:
    """Whether JSON is nested deeper than allowed; found out without a parser, in time linear in the body."""
    if sum(body.count(bracket) for bracket in (b"[", b"{")) <= DEPTH_AT_MOST:
        return False
    signs = (_ESCAPE.sub(b"", body) if b"\\" in body else body).translate(None, _REST)
    depth = 0
    for bracket in b"".join(signs.split(b'"')[::2]):  # every second piece stands between two texts
        depth += 1 if bracket in _OPENING else -1
        if depth > DEPTH_AT_MOST:
            return True
    return False


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
