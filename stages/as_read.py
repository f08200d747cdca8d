"""Source text as tools show it to a model, and the way back: nothing that was made visible gets into a file."""

from __future__ import annotations

from dataclasses import dataclass

from stages.quoting import shown
from stages.roles import MARK, marked, marks_in_code


def as_meant(text: str) -> str:
    """What a model wrote, without the marks that `as_read` had put in front of it."""
    if MARK not in text:
        return text
    return "\n".join(map(_unmarked, text.split("\n")))


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in a source a text stands that a model has read there."""

    start: int
    end: int


def places(source: str, wanted: str) -> list[Place]:
    """Where `wanted` stands in what a model has read of `source`; two at most."""
    text, origin = _shown(source)
    found: list[Place] = []
    at = text.find(wanted)
    while at >= 0 and len(found) < 2:
        end = at + len(wanted)
        if _is_border(text, origin, at) and _is_border(text, origin, end):
            found.append(Place(start=origin[at], end=origin[end]))
        at = text.find(wanted, at + 1)
    return found


def restored(new: str, was: str, source: str) -> str:
    """`new` with each line that a model copied from `was` as it stands in `source`."""
    lines = dict(zip(was.split("\n"), source.split("\n"), strict=False))
    return "\n".join(lines.get(line, _unmarked(line)) for line in new.split("\n"))


def _shown(source: str) -> tuple[str, list[int]]:
    """`source` as it is read, and for each border between its characters where it lies in the source."""
    out: list[str] = []
    origin: list[int] = []
    begin = 0
    for line in source.split("\n"):
        marks = set(marks_in_code(line))
        for at, character in enumerate(line):
            if character == "\r" and at == len(line) - 1:
                continue
            seen = shown(f"{character}.")[:-1]  # alone, a carriage return would be taken for the end of a line
            piece = MARK + seen if at in marks else seen
            out.append(piece)
            origin.extend([begin + at] * len(piece))
        out.append("\n")
        origin.append(begin + len(line))
        begin += len(line) + 1
    return "".join(out)[:-1], origin


def _is_border(text: str, origin: list[int], at: int) -> bool:
    return at in (0, len(text)) or origin[at - 1] != origin[at]


def _unmarked(line: str) -> str:
    bare = line.replace(MARK, "")
    return bare if marked(bare) == line else line
