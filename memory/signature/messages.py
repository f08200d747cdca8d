"""A message that stands alone: a type and its words in a sentence or a title, without frames."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.normalise import is_specific, template
from memory.signature.shapes import Finding

LINE_AT_MOST = 400
_SUFFIXES = (
    "Error",
    "Exception",
    "Warning",
    "Fault",
    "Failure",
    "Violation",
    "Timeout",
    "Interrupt",
    "DoesNotExist",
    "NotFound",
    "UniqueViolation",
)
_TYPE = re.compile(r"[\w.$:\\]{1,200}")
_TYPE_AHEAD = re.compile(r"(?:^|[\s`'\"(\[>*|=])([A-Za-z_][\w.$\\]{2,200}(?:::[A-Z]\w{1,80}){0,5})\)?[`'\"]?$")
_END = re.compile(r"[`](?:\W|$)|\s{2,}at [\w.]")
_COLONS_AT_MOST = 12


def find(lines: Sequence[str]) -> list[Finding]:
    """The first line that names an exception and says something specific."""
    for at, line in enumerate(lines):
        found = _of_line(line[:LINE_AT_MOST], at)
        if found:
            return [found]
    return []


def _of_line(line: str, at: int) -> Finding | None:
    colon = line.find(": ")
    for _ in range(_COLONS_AT_MOST):
        if colon < 0:
            return None
        ahead = _TYPE_AHEAD.search(line[max(0, colon - 200) : colon])
        if ahead and ahead[1].endswith(_SUFFIXES):
            return _finding(ahead[1], line[colon + 2 :], at)
        colon = line.find(": ", colon + 2)
    return None


def _finding(type_: str, message: str, at: int) -> Finding | None:
    ticked = _END.search(message)
    words = template(message[: ticked.start()] if ticked else message, type_)
    if not is_specific(words, type_):
        return None
    return Finding(
        kind="message",
        language="",
        type=type_,
        template=words.text,
        discriminators=words.discriminators,
        strong=False,
        first=at,
        last=at,
    )
