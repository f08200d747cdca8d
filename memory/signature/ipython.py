"""Tracebacks of IPython and notebooks: the type first, code around each frame, the message last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.signature.shapes import Frame

_HEADER = re.compile(
    r"[\s>]{0,12}(?:(?P<type>[A-Za-z_][\w.]{0,200})\s{2,200}|"
    r"(?P<tight>[A-Za-z_]\w{0,80}(?:Error|Exception|Interrupt)) |"
    r"(?P<glued>[A-Za-z_]\w{0,80}?(?:Error|Exception"
    r"|Interrupt)))"
    r"Traceback \(most recent call last\)"
)
_CELL = re.compile(
    r"\s{0,4}(?:(?P<file><ipython-input-[\w-]{1,60}>) in (?P<name>[^\n]{1,200})"
    r"|(?:Cell |Input )?In ?\[\d{1,6}\](?:, in (?P<in>[^\n]{1,200}?)|, line \d{1,7}|:\d{1,7},? ?(?:in "
    r"(?P<then>[^\n]{1,200}?))?)?)$"
)
_NEW = re.compile(r"\s{0,4}File (?P<file>[^\n]{1,300}?):\d{1,7}, in (?P<name>[^\n(]{1,200})(?:\(|$)")
_OLD = re.compile(
    r"\s{0,4}(?P<file>(?:~?/|[A-Za-z]:[\\/]|\.{1,2}/|…/)[^\n]{1,300}?\.(?:pyc?|pyx|ipynb|so)) in "
    r"(?P<name>[^\n(]{1,200})(?:\(|$)"
)
_CODE = re.compile(r"\s{0,8}(?:-{1,8}> ?)?\d{1,7}(?:\s|$)|\s{0,8}-{3,}|\s{4,}|\s{0,8}\.\.\.")
_STOP = ("During handling of the above", "The above exception was the direct")
_LINES_AT_MOST = 600


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One traceback as IPython shows it; frames outermost first."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    last: int


def header(line: str) -> str:
    """The type that stands before the words of the header, "" for the interpreter's own header."""
    found = _HEADER.match(line)
    return (found["type"] or found["tight"] or found["glued"]) if found else ""


def read(lines: Sequence[str], at: int, type_: str) -> Shown:
    """The traceback whose header stands at line `at`."""
    frames: list[Frame] = []
    last, short = at, type_.rsplit(".", 1)[-1]
    for up in range(at + 1, min(len(lines), at + _LINES_AT_MOST)):
        line = lines[up]
        if line.startswith(_STOP) or _HEADER.match(line):
            break
        frame = _frame(line)
        if frame:
            frames.append(frame)
            last = up
        elif _raised(line, short):
            return Shown(type=_full(line, type_), message=_message(lines, up), frames=tuple(frames), last=up)
        elif line.strip() and not _CODE.match(line) and up - last > 60:
            break
    return Shown(type=type_, message="", frames=tuple(frames), last=last)


def _frame(line: str) -> Frame | None:
    cell = _CELL.match(line)
    if cell:
        return Frame(
            file=cell["file"] or "In [1]", function=_plain(cell["name"] or cell["in"] or cell["then"] or "<module>")
        )
    found = _NEW.match(line) or _OLD.match(line)
    return Frame(file=found["file"], function=_plain(found["name"])) if found else None


def _plain(name: str) -> str:
    bare = name.split("(", 1)[0].strip()
    return "<module>" if bare.startswith("<cell line") or not bare else bare


def _raised(line: str, short: str) -> bool:
    head = line.split(":", 1)[0].strip()
    return bool(head) and head.rsplit(".", 1)[-1] == short and not line.startswith("    ")


def _full(line: str, type_: str) -> str:
    return line.split(":", 1)[0].strip() or type_


def _message(lines: Sequence[str], at: int) -> str:
    told = lines[at].split(":", 1)[1].strip() if ":" in lines[at] else ""
    return told or ""
