"""Errors that Valgrind saw: a sentence, the stack below it, then where the memory came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.native import place
from memory.signature.shapes import Family, Frame, Thrown, Trace

_HEADER = re.compile(
    r"\s{0,2}(?P<kind>Invalid (?:read|write|free)|Conditional jump|Use of uninitialised value|Mismatched free"
    r"|Syscall param|Jump to the invalid address|[\d,]{1,15} (?:\([^)\n]{1,80}\) )?bytes in [\d,]{1,9} blocks are)"
)
_FRAME = re.compile(
    r"\s{0,12}(?:at|by) 0x[0-9A-Fa-f]{1,16}: (?P<function>\S.{0,300}?) "
    r"\((?:in )?(?P<file>[^()\s:]{1,300})(?::\d{1,7})?\)\s*$"
)


def parse(lines: Sequence[str]) -> list[Trace]:
    """One trace for each error, with the stack of the error itself."""
    traces: list[Trace] = []
    for at, line in enumerate(lines):
        told = _HEADER.match(line)
        frames = _stack(lines, at + 1) if told else []
        if told and frames:
            kind = "leak" if "bytes in" in told["kind"] else told["kind"].lower()
            thrown = Thrown(type=kind, message="", frames=tuple(frames))
            traces.append(Trace(language="native", chain=(thrown,), first=at, last=at + len(frames)))
    return traces


def _stack(lines: Sequence[str], at: int) -> list[Frame]:
    frames: list[Frame] = []
    while at < len(lines) and (found := _FRAME.match(lines[at])):
        frames.append(Frame(file=found["file"], function=found["function"]))
        at += 1
    return frames


FAMILY = Family(language="native", parse=parse, place=place, hints=("at 0x",))
