"""Tracebacks that rich draws in a box: places with a little source, the exception below the box."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.signature.shapes import Frame

_TOP = re.compile(r"\s{0,8}(?:[╭┌]|\+[-─]{3}).{0,200}Traceback \(most recent call last\)")
_BOTTOM = re.compile(r"\s{0,8}[╰└+][─-]{3,400}")
_PLACE = re.compile(r"\s{0,8}[│|] (?P<file>\S[^│\n]{0,300}?):\d{1,7} in (?P<name>[\w<>.]{1,200})\s*[│|]?\s*$")
_RAISED = re.compile(r"\s{0,8}(?P<type>[A-Za-z_][\w.]{0,200})(?:: ?(?P<message>.*))?$")
_LINES_AT_MOST = 600


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One box and what stands below it; frames outermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    last: int


def is_top(line: str) -> bool:
    """Whether a line is the upper edge of such a box."""
    return bool(_TOP.match(line))


def read(lines: Sequence[str], at: int) -> Drawn:
    """The box whose upper edge stands at line `at`."""
    frames: list[Frame] = []
    last = at
    for up in range(at + 1, min(len(lines), at + _LINES_AT_MOST)):
        last = up
        place = _PLACE.match(lines[up])
        if place:
            frames.append(Frame(file=place["file"], function=place["name"]))
        elif _BOTTOM.match(lines[up]):
            break
    raised = _RAISED.match(lines[last + 1]) if last + 1 < len(lines) else None
    if not raised:
        return Drawn(type="", message="", frames=tuple(frames), last=last)
    return Drawn(type=raised["type"], message=(raised["message"] or "").strip(), frames=tuple(frames), last=last + 1)
