"""Python tracebacks, as the interpreter prints them and as people paste them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature import ipython, pytest_trace, rich_box
from memory.signature.chains import Joint, Printed, chained, joint_in
from memory.signature.inapp import inside_library
from memory.signature.located import located
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace
from memory.signature.words import words

_HEADER = "Traceback (most recent call last)"
_FRAME = re.compile(
    r"[\s|+-]{0,400}File \"(?P<file>[^\"]{1,400})\"(?:, line \d{1,9}(?:, in (?P<name>[^\s:,]{1,200})|$|[,.\s])"
    r"|,? in (?P<on_page>[^\s:,]{1,200})$)"
)
_BARE_FRAME = re.compile(r"[\s|+-]{0,400}File (?P<file>[^\s\",]{1,300}), line \d{1,9}, in (?P<name>[^\s:,]{1,200})")
_RAISED = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?P<rest>: ?.*|\s*$)")
_NO_SPACE_TYPES = re.compile(r"[A-Z]\w*|\w+(?:\.\w+)*\.[A-Z]\w*")
_GOES_ON = re.compile(r"\s*(?:[|+]|.*Traceback \(most recent|.{0,400}File \"|[A-Za-z_][\w.]{0,200}\s{2,200}Traceback)")
_SKIPPED = re.compile(
    r"\s*(?:[\^~]+[\s\^~]*$|\[Previous line repeated|\[?\.\.\. ?\d* ?(?:additional )?|\.\.\.|…|-{3,}$)"
)
_PAGE = re.compile(r"\s{0,8}Exception Type: {1,4}(?P<type>[A-Za-z_][\w.]{0,150})(?: at .{0,300})?$")
_PAGE_VALUE = "Exception Value:"
_EXPORT_FRAMES = 2
_COMPREHENSIONS = frozenset(("<listcomp>", "<dictcomp>", "<setcomp>"))  # inlined since Python 3.12
_NOWHERE = re.compile(
    r"<(?:stdin|string|console|input|unknown|doctest .{0,200}|template|decorator-gen-\d{1,6}"
    r"|attrs generated .{0,200}|__array_function__ internals)>$"
)
_CELL = re.compile(
    r"<ipython-input-\d{1,6}-?\w{0,40}>|.{0,200}/ipykernel_\d{1,8}/\d{1,14}\.py$|(?:Cell )?In ?\[\d{1,6}\]"
)


@dataclass
class _Reading:
    """One traceback while it is read; frames outermost first, as printed."""

    first: int
    last: int
    margin: int
    frames: list[Frame] = field(default_factory=list)
    type: str = ""
    message: str = ""

    def printed(self, joint: Joint) -> Printed:
        thrown = Thrown(type=self.type, message=self.message, frames=tuple(reversed(self.frames)))
        return Printed(thrown=thrown, joint=joint, first=self.first, last=self.last)


def parse(lines: Sequence[str]) -> list[Trace]:
    """Tracebacks with a header; without one, frames and a line that says what was raised."""
    printed: list[Printed] = []
    joint = Joint.NONE
    at = 0
    while at < len(lines):
        line = lines[at]
        said = joint_in(line)
        if said is not Joint.NONE:
            joint = said
        elif joint is not Joint.NONE and line.strip() and not _GOES_ON.match(line):
            joint = Joint.NONE
        read = _read(lines, at) if _HEADER in line else _read_headless(lines, at) if _FRAME.match(line) else None
        if read is None:
            at += 1
            continue
        if read.frames or read.type:
            printed.append(read.printed(joint))
        joint, at = Joint.NONE, read.last + 1
    return chained(printed)


def _read(lines: Sequence[str], at: int) -> _Reading:
    if rich_box.is_top(lines[at]):
        drawn = rich_box.read(lines, at)
        return _Reading(
            first=at, last=drawn.last, margin=0, frames=list(drawn.frames), type=drawn.type, message=drawn.message
        )
    shown = ipython.header(lines[at])
    if shown:
        told = ipython.read(lines, at, shown)
        return _Reading(
            first=at, last=told.last, margin=0, frames=list(told.frames), type=told.type, message=told.message
        )
    return _frames(lines, at + 1, _Reading(first=at, last=at, margin=_margin(lines[at])))


def _read_headless(lines: Sequence[str], at: int) -> _Reading | None:
    above = _raised(lines[at - 1].strip(), known=True) if at and "File " not in lines[at - 1] else None
    read = _Reading(first=at, last=at, margin=_margin(lines[at]))
    _frames(lines, at, read)
    if read.type and read.frames:
        return read
    if above and len(read.frames) >= _EXPORT_FRAMES:
        # a tracker's export: what was raised stands first, then frames innermost first
        read.type, read.message, read.first = *above, at - 1
        read.frames.reverse()
        return read
    return read if len(read.frames) > _EXPORT_FRAMES else None


def _frames(lines: Sequence[str], at: int, read: _Reading) -> _Reading:
    """Frames from line `at` on, until the line that says what was raised."""
    indented, code = False, 0
    while at < len(lines):
        line = lines[at]
        frame = _FRAME.match(line) or _BARE_FRAME.match(line)
        if frame:
            read.frames.append(Frame(file=frame["file"], function=_named(frame)))
            indented = indented or _margin(line) > read.margin
            code, read.last = 0, at
        elif _HEADER in line or joint_in(line) is not Joint.NONE:
            break
        elif line.strip() and not _SKIPPED.match(line):
            raised = _on_page(lines, at) or _end(line, read, indented=indented, code=code)
            if raised:
                read.type, read.message = raised
                read.last = at
                break
            code += 1
            if code > (30 if indented else 6):
                break
        elif not line.strip() and (code > 0 or not read.frames) and _ends_after_blank(lines, at):
            break
        at += 1
    return read


def _ends_after_blank(lines: Sequence[str], at: int) -> bool:
    """A blank line inside a traceback is followed by more of it, or the traceback has ended."""
    following = next((line for line in lines[at + 1 : at + 4] if line.strip()), "")
    return not (
        _FRAME.match(following)
        or _SKIPPED.match(following)
        or _PAGE.match(following)
        or following.startswith("  ")
        or _raised(following.strip(), known=True)
    )


def _named(frame: re.Match[str]) -> str:
    groups = frame.groupdict()
    return groups["name"] or groups.get("on_page") or ""


def _on_page(lines: Sequence[str], at: int) -> tuple[str, str] | None:
    """What Django's error page says below the frames."""
    found = _PAGE.match(lines[at])
    if not found:
        return None
    value = next((line for line in lines[at : at + 3] if line.lstrip().startswith(_PAGE_VALUE)), "")
    return found["type"], value.split(_PAGE_VALUE, 1)[-1].strip()


def _end(line: str, read: _Reading, *, indented: bool, code: int) -> tuple[str, str] | None:
    bare = line.strip(" \t|")
    if indented and _margin(line) <= read.margin:
        return _raised(bare, known=False)
    if code == 0 and read.frames and not indented and not bare.endswith(":"):
        # indentation was lost: what stands below a frame is its line of code, unless it reads like nothing else
        return _raised(bare, known=True) if ": " in bare or _RAISED.fullmatch(bare) else None
    return _raised(bare, known=True)


def _raised(line: str, *, known: bool) -> tuple[str, str] | None:
    found = _RAISED.fullmatch(line)
    if not found:
        return None
    type_ = found["type"]
    if known and not (
        type_.endswith(words("exception_suffixes"))
        or (":" in found["rest"] and "." in type_ and _NO_SPACE_TYPES.fullmatch(type_))
    ):
        return None
    return type_, found["rest"].removeprefix(":").strip()


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" \t|+"))


def place(frame: Frame, repo: RepoView) -> Place:
    """File and function of a Python frame, as they are compared."""
    if frame.function in _COMPREHENSIONS or _NOWHERE.match(frame.file):
        return Place(key="", origin=Origin.RUNTIME)
    if _CELL.match(frame.file):
        return Place(key=f"<cell>:{_function(frame.function)}", origin=Origin.APP)
    path = plain_path(frame.file)
    file = located(path, repo)
    origin = file.origin
    if origin is Origin.LIBRARY and (frame.file.startswith("<") or of_package("python_runtime", inside_library(path))):
        origin = Origin.RUNTIME
    return Place(key=f"{file.name}:{_function(frame.function)}", origin=origin, home=file.name)


def _function(name: str) -> str:
    return "<comp>" if name == "<genexpr>" else name.rsplit(".", 1)[-1]


PYTEST = Family(language="python", parse=pytest_trace.parse, place=place, hints=(pytest_trace.HINT,))
FAMILY = Family(language="python", parse=parse, place=place, hints=(_HEADER, 'File "', ", line "))
