"""Exceptions as Symfony's console shows them: the place, the class in brackets, the words, then the stack."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.php import place
from memory.signature.shapes import Family, Frame, Thrown, Trace

_TYPE = re.compile(r"\s{1,8}\[(?P<type>[A-Z]\w{0,80}(?:\\\w{1,80}){0,8})(?: \(\w{1,10}\))?\]\s*$")
_FRAME = re.compile(
    r"\s{0,3}(?:(?P<call>[\w\\:>{}-]{1,300})\([^()\n]{0,200}\) )?at "
    r"(?P<file>(?:[A-Za-z]:)?[^\s:]{1,300}\.php):\d{1,7}\s*$"
)
_TRACE = "Exception trace:"
_TRACE_WITHIN = 20


def parse(lines: Sequence[str]) -> list[Trace]:
    """One trace for each class in brackets that a stack follows."""
    traces: list[Trace] = []
    for at, line in enumerate(lines):
        told = _TYPE.match(line)
        start = _start(lines, at) if told else -1
        if not told or start < 0:
            continue
        frames, last = _stack(lines, start + 1)
        words = " ".join(part.strip() for part in lines[at + 1 : start] if part.strip())
        if frames:
            thrown = Thrown(type=told["type"], message=words, frames=tuple(frames))
            traces.append(Trace(language="php", chain=(thrown,), first=at, last=last))
    return traces


def _start(lines: Sequence[str], at: int) -> int:
    within = range(at + 1, min(len(lines), at + _TRACE_WITHIN))
    return next((up for up in within if lines[up].strip() == _TRACE), -1)


def _stack(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    """Each line names what was called and where the call stands: as in the interpreter's stacks, one apart."""
    places: list[str] = []
    calls: list[str] = []
    while at < len(lines) and (found := _FRAME.match(lines[at])):
        places.append(found["file"])
        calls.append(found["call"] or "")
        at += 1
    if not places:
        return [], at - 1
    names = [*calls[1:], "{main}"]
    return [Frame(file=file, function=name) for file, name in zip(places, names, strict=True)], at - 1


FAMILY = Family(language="php", parse=parse, place=place, hints=(_TRACE,))
