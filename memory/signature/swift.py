"""Traps of Swift and crash reports of Apple's systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.signature.located import located
from memory.signature.native import plain_symbol
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace
from memory.signature.tails import ending_with

_TRAP = r"(?:[Ff]atal error|Precondition failed|Assertion failed)"
_OLD_TAIL = r": file (?P<file>[^\n,]{1,1000}+), line \d{1,7}"
_OLD = re.compile(rf"{_TRAP}: (?P<message>.{{1,1000}}?){_OLD_TAIL}")
_OLD_END = re.compile(_OLD_TAIL)
_NEW = re.compile(rf"(?<![\w/. +-])(?P<file>[\w/. +-]{{1,1000}}\.swift):\d{{1,7}}: {_TRAP}: (?P<message>.{{1,400}})$")
_BARE = re.compile(r"(?:Thread \d{1,4}: |^|[\s:])(?P<head>Fatal error): (?P<message>.{1,400})$")
_CRASHED = re.compile(
    r"(?:Crashed: |Thread \d{1,4}(?: name:.{0,80})? [Cc]rashed(?: with.{0,80})?:?|Thread \d{1,4} Crashed"
    r"|First throw call stack|Current stack trace:)"
)
_TYPE = re.compile(r"(?:Exception Type:\s{1,20}|Fatal Exception: |uncaught exception ')(?P<type>[\w.]{1,80})")
_REASON_TAIL = r"'(?:$| terminating)"
_REASON = re.compile(rf"reason: '(?P<message>.{{1,1000}}?){_REASON_TAIL}")
_REASON_END = re.compile(_REASON_TAIL)
_FRAME = re.compile(
    r"\s*(?P<number>\d{1,4}) {1,4}(?P<module>[\w.?-]{1,80})\s{1,60}(?:0x[0-9a-fA-F]{1,16} )?(?P<symbol>\S.{0,400}?)"
    r"(?: \+ \d{1,10})?(?: \((?P<file>[^()\s:]{1,200}):\d{1,7}\))?\s*$"
)
_CLOSURE = re.compile(
    r"(?:(?:partial apply for |specialized |thunk for |reabstraction thunk helper |closure #\d{1,4} "
    r"(?:\([^)]{0,200}\) )?(?:\S{1,80} )??in |implicit closure #\d{1,4} in |@objc |static |merged ){1,6})"
)
_SYSTEM = re.compile(
    r"^(?:lib\w{1,60}(?:\.dylib|\.so)?|libsystem_\w{1,40}|UIKit(?:Core)?|CoreFoundation|Foundation|SwiftUI|AppKit"
    r"|QuartzCore|GraphicsServices|dyld(?:_sim)?|libdispatch\S{0,20}|CFNetwork|CoreData|WebKit|AVFoundation"
    r"|Combine)$"
)
_RAISED = "Error raised at top level: "
_STANDARD = ("Swift/", "/AppleInternal/")
_FRAMES_WITHIN = 12
_TOLD_WITHIN = 60


@dataclass
class _Told:
    """What was said of a crash before its stack, and where that began."""

    type: str = ""
    message: str = ""
    first: int = -1

    def hear(self, at: int, type_: str | None, message: str | None) -> None:
        """Take what line `at` says, if it says anything."""
        if type_ or message:
            self.type, self.message = type_ or self.type, message or self.message
            self.first = at if self.first < 0 or at - self.first > _TOLD_WITHIN else self.first


def parse(lines: Sequence[str]) -> list[Trace]:
    """A trap with its place, or the crashed thread of a report."""
    traces: list[Trace] = []
    told = _Told()
    read = -1  # the last line of a stack: what stands in one begins no other
    for at, line in enumerate(lines):
        kind = _TYPE.search(line)
        reason = ending_with(_REASON_END, _REASON, line) if "reason: '" in line else None
        told.hear(at, kind and kind["type"], reason and reason["message"])
        found = ending_with(_OLD_END, _OLD, line) if ", line " in line else None
        found = found or (_NEW.search(line) if ".swift:" in line else None)
        if found and found["file"].startswith(_STANDARD):
            # the trap is the library's: a stack may stand below
            told.hear(at, None, found["message"])
            traces += _thrown(found["message"], at)
        elif found:
            traces.append(_trace("fatal error", found["message"], [Frame(file=found["file"])], at, at))
        elif at > read and _CRASHED.search(line):
            crash = _crash(lines, at, told)
            traces += crash
            read = crash[0].last if crash else read
        elif "atal error" in line and (bare := _BARE.search(line)):
            told.hear(at, None, bare["message"])
    return traces


def _thrown(message: str, at: int) -> list[Trace]:
    """An error that nobody caught: its name and case are the type."""
    if not message.startswith(_RAISED):
        return []
    return [_trace(message.removeprefix(_RAISED).split(": ", 1)[0].split("(", 1)[0], message, [], at, at)]


def _crash(lines: Sequence[str], at: int, told: _Told) -> list[Trace]:
    bare = _BARE.search(lines[at]) if "atal error" in lines[at] else None
    told.hear(at, None, bare and bare["message"])
    frames, last = _stack(lines, at)
    type_ = told.type or ("fatal error" if told.message else "crash")
    return [_trace(type_, told.message, frames, told.first if told.first >= 0 else at, last)] if frames else []


def _trace(type_: str, message: str, frames: list[Frame], first: int, last: int) -> Trace:
    thrown = Thrown(type=type_, message=message, frames=tuple(frames))
    return Trace(language="swift", chain=(thrown,), first=first, last=last)


def _stack(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    frames: list[Frame] = []
    last = at
    for up in range(at + 1, len(lines)):
        found = _frame(lines[up])
        if not found:
            if up - last > _FRAMES_WITHIN or frames:
                break
            continue
        if int(found["number"]) == 0 and frames:
            break
        last = up
        system = _SYSTEM.match(found["module"])
        frames.append(Frame(file=found["file"] or ("<system>" if system else ""), function=found["symbol"]))
    return frames, last


@lru_cache(maxsize=_FRAMES_WITHIN * 2)
def _frame(line: str) -> re.Match[str] | None:
    """A line may stand below many that speak of a crash: it is read for the first of them."""
    return _FRAME.match(line)


def place(frame: Frame, repo: RepoView) -> Place:
    """File of a trap; the last two segments of a symbol."""
    path = plain_path(frame.file)
    file = located(path, repo)
    if not frame.function:
        return Place(key=file.name, origin=Origin.TEST if file.origin is Origin.TEST else Origin.APP, home=file.name)
    symbol = plain_symbol(_CLOSURE.sub("", frame.function)).replace("-[", "").replace("+[", "").strip("[]")
    key = ".".join([part for part in symbol.replace("::", ".").split(".") if part][-2:])
    if frame.file == "<system>" or symbol.startswith("0x") or of_package("swift", symbol):
        return Place(key="", origin=Origin.RUNTIME)
    return Place(key=key, origin=Origin.TEST if file.origin is Origin.TEST else Origin.APP, home=file.name or key)


FAMILY = Family(
    language="swift",
    parse=parse,
    place=place,
    hints=("atal error", "rashed", "Exception Type", "Fatal Exception", "recondition failed", "First throw call stack"),
)
