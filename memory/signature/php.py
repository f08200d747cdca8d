"""Uncaught exceptions of PHP, with the numbered stack below them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import located
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace
from memory.signature.tails import ending_with

_CLASS = r"(?P<type>\\?[A-Z_a-z]\w{0,80}(?:\\\w{1,80}){0,10})"
_UNCAUGHT = re.compile(
    rf"(?:Uncaught|Unhandled) (?:PHP Exception )?(?:exception ')?{_CLASS}'?(?:: \"?| with message ')"
    rf"(?P<message>.{{0,700}})$"
)
_FILE = r"(?P<file>(?:[A-Za-z]:)?[^\s:]{1,1000}+)"
_TEXT = r"(?P<message>.{0,1000}?)"  # a line has no more: each beginning reaches the end
_QUOTED_TAIL = rf"' in {_FILE}:\d{{1,7}}"
_QUOTED = re.compile(rf"(?:[Ee]xception|Next) '?{_CLASS}'? with message '{_TEXT}{_QUOTED_TAIL}")
_LOCATED_TAIL = r" in (?P<file>(?:[A-Za-z]:)?[^\s:]{1,1000}\.php):\d{1,7}"
_LOCATED = re.compile(rf"(?:^|\s){_CLASS}: {_TEXT}{_LOCATED_TAIL}")
_LARAVEL_TAIL = rf" at {_FILE}:\d{{1,7}}\)"
_LARAVEL = re.compile(rf"\[object\] \({_CLASS}\(code: -?\w{{1,10}}\): {_TEXT}{_LARAVEL_TAIL}")
_FATAL_TAIL = rf" in {_FILE} on line \d{{1,7}}"
_FATAL = re.compile(
    r"(?:PHP )?(?P<type>Fatal error|Parse error|Warning|Notice|Deprecated|Recoverable fatal error): {1,2}"
    rf"(?P<message>.{{1,1000}}?){_FATAL_TAIL}"
)
_PLACED = (
    (" with message '", re.compile(_QUOTED_TAIL), _QUOTED),
    ("[object] (", re.compile(_LARAVEL_TAIL), _LARAVEL),
    (".php:", re.compile(_LOCATED_TAIL), _LOCATED),
    (" on line ", re.compile(_FATAL_TAIL), _FATAL),
)
_TAIL = re.compile(
    r"['\"]?,? (?:in|at) (?P<file>(?:[A-Za-z]:|/)?[^\s:]{1,300}?\.(?:php|phtml|inc|module|tpl))(?::\d{1,7}"
    r"| line \d{1,7}"
    r"|\(\d{1,7}\))?.{0,200}$"
)
_DEFINED = re.compile(
    r",? (?:and )?(?:called in \S{1,300} on line \d{1,7})?(?: and)? defined(?: in (?P<file>\S{1,300}):\d{1,7})?$"
)
_FRAME = re.compile(
    r"\s*#(?P<number>\d{1,4}) (?:(?P<file>\S[^\n(]{0,300}?)\(\d{1,7}\)|(?P<internal>\[internal function\])): "
    r"(?P<call>[^\n]{1,500})$"
)
_END = re.compile(r"\s*#\d{1,4} \{main\}")
_CALL = re.compile(r"(?P<name>[\w\\:>{}@$-]{1,300})\(")
_NAMED = re.compile(
    r"(?P<type>\\?(?:[A-Z]\w{0,80}\\){0,8}(?:[A-Z]\w{0,80})?(?:Error|Exception))\**: \**(?P<message>.{1,600})$"
)
_ESCAPED = "\\\\"
_NAMED_WITHIN = 12
_TRACE_WITHIN = 6


def parse(lines: Sequence[str]) -> list[Trace]:
    """Exceptions with their stacks; an error with a place but no stack has one frame."""
    traces: list[Trace] = []
    if any(_ESCAPED in line for line in lines):
        lines = [line.replace("\\\\", "\\") for line in lines]  # as a log of JSON writes namespaces
    at = 0
    while at < len(lines):
        told = _told(lines[at]) or _above(lines, at)
        if not told:
            at += 1
            continue
        type_, message, file = told
        frames, last = _stack(lines, at - 1 if _FRAME.match(lines[at]) else at)
        if file or frames:
            traces.append(
                Trace(
                    language="php",
                    chain=(Thrown(type=type_, message=message, frames=tuple(_shifted(file, frames))),),
                    first=at,
                    last=last,
                )
            )
        at = max(last, at) + 1
    return traces


def _above(lines: Sequence[str], at: int) -> tuple[str, str, str] | None:
    """For a stack without the runtime's words: the nearest line above that names an exception."""
    first = _FRAME.match(lines[at]) if "#0 " in lines[at] else None
    if not first:
        return None
    for line in reversed(lines[max(0, at - _NAMED_WITHIN) : at]):
        found = _NAMED.search(line) if "Error" in line or "Exception" in line else None
        if found:
            return found["type"], _split(found["message"])[0], ""
    return None


def _told(line: str) -> tuple[str, str, str] | None:
    if "ncaught" in line or "nhandled" in line:
        found = _UNCAUGHT.search(line)
        if found:
            return (found["type"], *_split(found["message"]))
    for mark, tail, pattern in _PLACED:
        found = ending_with(tail, pattern, line) if mark in line else None
        if found:
            return found["type"], _split(found["message"])[0], found["file"]
    return None


def _split(message: str) -> tuple[str, str]:
    """Message and file of `m in f:n`, whatever stands around them."""
    defined = _DEFINED.search(message)
    if defined and defined["file"]:
        return message[: defined.start()], defined["file"]
    tail = _TAIL.search(message)
    return (message[: tail.start()], tail["file"]) if tail else (message, "")


def _stack(lines: Sequence[str], at: int) -> tuple[list[tuple[str, str]], int]:
    frames: list[tuple[str, str]] = []
    last = at
    for up in range(at + 1, len(lines)):
        found = _FRAME.match(lines[up])
        if found:
            if int(found["number"]) == 0 and frames:
                break
            call = _CALL.match(found["call"])
            frames.append((found["file"] or "", call["name"] if call else ""))
            last = up
        elif _END.match(lines[up]):
            return frames, up
        elif up - last > _TRACE_WITHIN or (frames and up - last > 1):
            break
    return frames, last


def _shifted(file: str, frames: Sequence[tuple[str, str]]) -> list[Frame]:
    """Frame i names the call that was made in its file: what was called runs in the file of the frame before."""
    files = [file, *(place for place, _ in frames)]
    names = [*(call for _, call in frames), "{main}"]
    return [Frame(file=where, function=name) for where, name in zip(files, names, strict=True)]


def place(frame: Frame, repo: RepoView) -> Place:
    """File and function, without namespaces, arguments and closures' places."""
    if not frame.file:
        return Place(key="", origin=Origin.RUNTIME)
    file = located(plain_path(frame.file), repo)
    return Place(key=f"{file.name}:{_function(frame.function)}", origin=file.origin, home=file.name, area=file.name)


def _function(name: str) -> str:
    if "{closure" in name:
        return "{closure}"
    bare = name.replace("@anonymous", "").replace("->", ".").replace("::", ".")
    return ".".join(part.rsplit("\\", 1)[-1] for part in bare.split(".")[-2:])


FAMILY = Family(
    language="php",
    parse=parse,
    place=place,
    hints=("PHP ", "ncaught ", "nhandled ", "#0 ", "with message", ".php", "[object]"),
)
