"""Backtraces of Ruby: the interpreter's, Rails logs', and those of notifiers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature.located import located
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Place, RepoView, Thrown, Trace

_FILE = (
    r"(?P<file>(?:[A-Za-z]:)?[^\s:'\"()]{0,300}?"
    r"(?:\.(?:rb|erb|rake|ru|haml|slim|jbuilder|thor|gemspec)|/bin/[\w.-]{1,60}|Rakefile|<internal:[\w/.-]{1,160}>))"
)
_FRAME = re.compile(
    rf"(?:\s|\d{{1,4}}: |from |# |\[\w{{1,20}}\](?:\.\.\.)?|#\d{{1,4}} ){{0,12}}{_FILE}:\d{{1,7}}(?::in [`']"
    rf"(?P<function>[^\n]{{1,200}}?)')?\s*$"
)
_ARROW = re.compile(
    rf"\s{{0,12}}(?:\[\w{{1,20}}\](?:\.\.\.)?)?{_FILE}:\d{{1,7}} ?(?:→|->|in) ?(?P<function>[^\n]{{1,120}})$"
)
_LINE_OF = re.compile(
    rf"\s{{0,12}}line \d{{1,7}} of (?:\[\w{{1,20}}\](?:\.\.\.)?/?)?{_FILE}: (?P<function>[^\n]{{1,120}})$"
)
_INLINE = re.compile(
    rf"\s{{0,8}}{_FILE}:\d{{1,7}}:in [`'](?P<function>[^'\n]{{1,200}})': "
    rf"(?P<message>.{{0,600}}?) \((?P<type>[A-Z][\w:]{{1,150}})\)\s*$"
)
_CLASS = r"(?P<type>[A-Z]\w{0,80}(?:::[A-Z]\w{0,80}){0,8})"
_HEADERS = (
    re.compile(rf"\s{{0,8}}{_CLASS} \((?P<message>.{{0,600}})\):?\s*$"),
    re.compile(rf"\s{{0,8}}{_CLASS}: (?P<message>.{{0,600}})$"),
    re.compile(rf"\s{{0,8}}{_CLASS} - (?P<message>.{{0,600}})$"),
    re.compile(rf"\s{{0,8}}An? {_CLASS} occurred\b"),
    re.compile(rf"\s{{0,8}}{_CLASS} in [A-Z][\w:]{{1,100}}#\w{{1,80}}\s*$"),
    # RSpec: the class, the words in the line below
    re.compile(r"\s{0,12}(?P<type>(?:[A-Z]\w{0,80}::){1,8}[A-Z]\w{0,80}|[A-Z]\w{0,80}(?:Error|Exception)):\s*$"),
)
_IN_LINE = re.compile(
    r"(?:^|[\s:(])(?P<type>(?:[A-Z]\w{0,80}::){0,8}[A-Z]\w{0,80}(?:Error|Exception|NotFound|Invalid|Timeout)): "
    r"(?P<message>.{0,600})$"
)
_BLOCK = re.compile(r"^(?:block (?:\(\d{1,3} levels\) )?in |rescue in |ensure in )+")
_ERB = re.compile(r"_{2,3}-?\d{1,25}_\d{1,25}$")
_HEADER_WITHIN = 8
_GAP = 2
_CAUSE = re.compile(r"\s*(?:Caused by|Cause|cause):")


@dataclass
class _Reading:
    type: str
    message: str
    first: int
    last: int
    frames: list[Frame] = field(default_factory=list)
    cause: bool = False


def parse(lines: Sequence[str]) -> list[Trace]:
    """Backtraces, innermost frame first."""
    readings: list[_Reading] = []
    for at, line in enumerate(lines):
        if ":" not in line and " of " not in line:
            continue
        told = _INLINE.match(line)
        if told:
            read = _Reading(type=told["type"], message=told["message"], first=at, last=at)
            read.frames.append(Frame(file=told["file"], function=told["function"]))
            readings.append(read)
            continue
        frame = _frame(line)
        if frame:
            if not readings or at - readings[-1].last > _GAP:
                readings.append(_above(lines, at))
            readings[-1].frames.append(frame)
            readings[-1].last = at
    return _traces([read for read in readings if read.type])


def _traces(readings: Sequence[_Reading]) -> list[Trace]:
    chains: list[list[_Reading]] = []
    for read in readings:
        if read.cause and chains:
            chains[-1].append(read)
        else:
            chains.append([read])
    return [
        Trace(
            language="ruby",
            chain=tuple(Thrown(type=read.type, message=read.message, frames=tuple(read.frames)) for read in chain),
            first=chain[0].first,
            last=chain[-1].last,
        )
        for chain in chains
    ]


def _frame(line: str) -> Frame | None:
    found = _FRAME.match(line) or _ARROW.match(line) or _LINE_OF.match(line)
    if not found:
        return None
    return Frame(file=found["file"], function=found["function"] or "")


def _above(lines: Sequence[str], at: int) -> _Reading:
    for up in range(at - 1, max(-1, at - 1 - _HEADER_WITHIN), -1):
        for header in (*_HEADERS, _IN_LINE):
            found = header.match(lines[up]) if header is not _IN_LINE else header.search(lines[up])
            if found:
                message = found.groupdict().get("message") or next(
                    (line.strip() for line in lines[up + 1 : at] if line.strip()), ""
                )
                cause = up > 0 and bool(_CAUSE.match(lines[up - 1]) or _CAUSE.match(lines[up]))
                return _Reading(type=found["type"], message=message, first=up, last=at, cause=cause)
    return _Reading(type="", message="", first=at, last=at)


def place(frame: Frame, repo: RepoView) -> Place:
    """File and method, without blocks and classes."""
    file = located(plain_path(frame.file), repo)
    return Place(key=f"{file.name}:{_function(frame.function)}", origin=file.origin, home=file.name)


def _function(name: str) -> str:
    bare = _ERB.sub("", _BLOCK.sub("", name.strip().strip("`'")))
    for mark in ("#", "."):
        bare = bare.rsplit(mark, 1)[-1] if not bare.startswith("<") else bare
    return bare


FAMILY = Family(language="ruby", parse=parse, place=place, hints=(".rb:", ".erb:", ".rake:", ".ru:", ".rb "))
