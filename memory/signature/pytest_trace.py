"""Tracebacks as pytest prints them: source, a mark at the failing line, places below, `E` in front of the message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature.chains import Joint, Printed, chained, joint_in
from memory.signature.shapes import Frame, Thrown, Trace

HINT = "E  "
_PLACE = re.compile(
    r"\s{0,4}(?P<file>[^\s:]{1,300}\.py):\d{1,7}:(?: in (?P<name>[\w<>.]{1,200})| (?P<type>[A-Za-z_][\w.]{0,200}))?\s*$"
)
_DEF = re.compile(r"\s{0,80}(?:async )?def (?P<name>\w{1,200})\(")
_TOLD = re.compile(r"\s{0,4}E\s{1,12}(?P<type>[A-Za-z_][\w.]{0,200})(?:: ?(?P<message>.*))?$")
_ASSERT = re.compile(r"\s{0,4}E\s{1,12}(?P<message>assert .*)$")
_DIVIDER = re.compile(r"\s{0,4}(?:_ ){4,60}_?\s*$|_{3,80} .{1,300} _{3,80}$|={3,80} .{1,200} ={3,80}$")
_LINES_AT_MOST = 400


@dataclass
class _Reading:
    first: int
    joint: Joint = Joint.NONE
    last: int = 0
    frames: list[Frame] = field(default_factory=list)
    name: str = ""  # of the function whose source is being shown
    loop: bool = False  # the failing line is a comprehension's: its source has no name
    told: tuple[str, str] = ("", "")

    def printed(self, type_: str = "") -> list[Printed]:
        """The exception, if enough of it was read."""
        kind = self.told[0] or type_
        if not self.frames or not kind:
            return []
        thrown = Thrown(type=kind, message=self.told[1], frames=tuple(reversed(self.frames)))
        return [Printed(thrown=thrown, joint=self.joint, first=self.first, last=self.last)]


def parse(lines: Sequence[str]) -> list[Trace]:
    """Traces in pytest's own styles, long and short."""
    printed: list[Printed] = []
    read = _Reading(first=0)
    for at, line in enumerate(lines):
        joint = joint_in(line)
        if joint is not Joint.NONE:
            printed += read.printed()
            read = _Reading(first=at, joint=joint)
        elif _DIVIDER.match(line):
            if not line.lstrip().startswith("_ ") or read.told != ("", ""):
                printed += read.printed()
                read = _Reading(first=at)
            read.name, read.loop = "", False
        else:
            read = _take(read, line, at, printed)
    return chained(printed + read.printed())


def _take(read: _Reading, line: str, at: int, printed: list[Printed]) -> _Reading:
    place = _PLACE.match(line) if ".py:" in line else None
    if place:
        if place["name"] and read.told != ("", ""):
            printed += read.printed()
            read = _Reading(first=at)
        name = place["name"] or read.name or ("<genexpr>" if read.loop else "<module>")
        read.frames.append(Frame(file=place["file"], function=name))
        read.name, read.loop, read.last = "", False, at
        if place["type"]:
            printed += read.printed(place["type"])
            return _Reading(first=at + 1)
    elif "def " in line and not read.name:
        found = _DEF.match(line)
        read.name = found["name"] if found else ""
    elif line.lstrip().startswith("E "):
        if read.told == ("", ""):
            read.told, read.last = _told(line), at
    elif " for " in line and not read.name:
        read.loop = True
    elif at - read.first > _LINES_AT_MOST and not read.frames:
        return _Reading(first=at)
    return read


def _told(line: str) -> tuple[str, str]:
    bare = _ASSERT.match(line)
    if bare:
        return "AssertionError", bare["message"]
    found = _TOLD.match(line)
    return (found["type"], found["message"] or "") if found else ("", "")
