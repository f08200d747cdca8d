"""Stack traces of .NET, in the languages that its runtime speaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature.located import tracked
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace

_AT = r"(?:at|bei|à|en|em|в|w|場所|在|konum:|vid|in)"
_FRAME = re.compile(
    rf"\s*{_AT} (?P<function>"
    rf"(?:[\w.+`<>|,\[\]$-]{{1,300}}\.)?[\w`<>|,\[\]$.-]{{1,200}} ?\((?P<args>[^()\n]{{0,400}})\))"
    r"(?: \[0x[0-9a-f]{1,8}\])?(?: (?:in|dans|en|em|w|v|в|場所|位置) (?P<file>.{1,300}?):?(?:line|Zeile|ligne|línea"
    r"|linha|строка|行号|行|wiersz)? ?\d{1,7})?\.?\s*$"
)
# App Center: no `at`, the class once more behind a semicolon, the type below.
_LISTED = re.compile(
    r"\s*(?:at |在 )?(?P<function>(?:[\w`<>|+-]{1,80}\.){1,12}\.?[\w`<>|.]{1,100}) ?\((?P<args>[^()\n]{0,400})\)"
    r"(?: \[0x[0-9a-f]{1,8}\])?(?: in (?P<file>.{1,300}?):(?:line )?\d{1,7})?;[\w.+`<>]{1,200}$"
)
# Unity: the place in brackets of its own.
_UNITY = re.compile(
    r"\s*(?:at )?(?P<function>[\w.+`<>|/:]{1,300}\.[\w`<>|$.]{1,200}) ?\((?P<args>[^()\n]{0,400})\) "
    r"\(at (?P<file>[^()\n]{1,300}):\d{1,7}\)\s*$"
)
_REASON = re.compile(r"#{0,4} ?Reason(?: #{1,4})?$")
_REASON_WITHIN = 60
_SCRIPT_POSITION = re.compile(
    r":\d{1,7}:\d{1,7}$|\.\w{1,6}:\d{1,7}$|^(?:native|Native Method|Unknown Source|<\w{1,20}>$)"
)
_HEADER = re.compile(
    r"(?:.{0,100}?(?:Unhandled exception\. |Unhandled Exception: |Unbehandelte Ausnahme: |exception: ))?\s*(?:---> ?"
    r"|\(Inner Exception #\d{1,3}\) )?"
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,12}(?:[A-Z]\w{0,100})?(?:Exception|Error|Fault)\w{0,20}(?:`\d)?)"
    r"(?: \(0x[0-9A-Fa-f]{1,8}\))?(?:: (?P<message>.*)|:?\s*)$"
)
_IN_LINE = re.compile(
    r"(?:^|[\s:(])(?P<type>(?:[A-Za-z_]\w{0,80}\.){1,12}[A-Z]\w{0,100}(?:Exception|Error|Fault)\w{0,20})"
    r"(?:: (?P<message>.*)|:?\s*)$"
)
# What xUnit, NUnit and MSTest say instead of an exception's name.
_ASSERTED = re.compile(r"\s*(?:Assert\.\w{1,40}\(\) Failure|Expected: |Error Message:|Assert\.\w{1,40} failed)")
_INNER = re.compile(r" ---> ")
_END = re.compile(r"\s*--- .{1,80} ---\s*$")
_STATE_MACHINE = re.compile(r"<(?P<name>\w{1,120})>d__\d{1,4}(?:`\d{1,2})?(?:\[[^\]]{0,80}\])?\.MoveNext$")
_LOCAL = re.compile(r"<(?P<name>\.?\w{1,120})>(?:b__|g__)[\w|]{1,120}$")
_CLOSURE = re.compile(r"\.?<>c(?:__DisplayClass[\w`]{1,20})?(?=\.)")
_ARITY = re.compile(r"`\d{1,2}|\[[^\]]{0,200}\]")
_TEST_CLASS = re.compile(r"^\w{0,150}(?:Tests?|TestCase|Spec|Specs|Fixture)$")
_HEADER_WITHIN = 8
_ASSERTED_WITHIN = 12


@dataclass
class _Reading:
    type: str
    message: str
    first: int
    last: int
    frames: list[Frame] = field(default_factory=list)


def parse(lines: Sequence[str]) -> list[Trace]:
    """Chains of exceptions; what is thrown again on another stack stays one trace."""
    traces: list[Trace] = []
    headers: list[_Reading] = []
    pending: list[Frame] = []
    last = -1
    for at, line in enumerate(lines):
        frame = _frame(line)
        if frame:
            if last >= 0 and at - last > _HEADER_WITHIN:
                traces += _ended(headers, pending, last)
                headers, pending = [], []
            if not pending and not (headers and at - headers[-1].last <= _HEADER_WITHIN):
                headers = _above(lines, at)
            pending.append(frame)
            last = at
        elif _END.match(line):
            # the frames before it belong to the innermost exception still open
            if pending and len([read for read in headers if not read.frames]) > 1:
                open_ = [read for read in headers if not read.frames]
                open_[-1].frames, pending = pending, []
            last = at if last >= 0 else last
        elif " ---> " in line or line.lstrip().startswith("--->"):
            if pending:
                traces += _ended(headers, pending, last)
                headers, pending = [], []
            near = headers if headers and at - headers[-1].last <= 1 else _headers(lines[at - 1], at - 1) if at else []
            headers = near + _headers(line, at)
        elif pending and _HEADER.match(line) and at - last > 0:
            traces += _ended(headers, pending, last)
            headers, pending, last = [], [], -1
    return traces + _ended(headers, pending, last)


def _frame(line: str) -> Frame | None:
    if "(" not in line:
        return None
    found = _UNITY.match(line) if "(at " in line else _LISTED.match(line) if ";" in line else _FRAME.match(line)
    if not found or _SCRIPT_POSITION.search(found["args"]) or "." not in found["function"].split("(", 1)[0]:
        return None
    return Frame(file=found["file"] or "", function=found["function"].split("(", 1)[0].strip())


def _above(lines: Sequence[str], at: int) -> list[_Reading]:
    for up in range(at - 1, max(-1, at - 1 - _HEADER_WITHIN), -1):
        if _frame(lines[up]):
            break
        found = _headers(lines[up], up)
        if found:
            return _with_parameter(found, lines, up)
    return _below(lines, at) or _asserted(lines, at)


def _asserted(lines: Sequence[str], at: int) -> list[_Reading]:
    """A test's own complaint: the runner prints its words, and no type."""
    above = next((up for up in range(at - 1, max(-1, at - 1 - _ASSERTED_WITHIN), -1) if _ASSERTED.match(lines[up])), -1)
    return [_Reading(type="assert", message="", first=above, last=at)] if above >= 0 else []


def _below(lines: Sequence[str], at: int) -> list[_Reading]:
    """The type that a crash service gives below the frames, under its heading."""
    for down in range(at + 1, min(len(lines) - 1, at + _REASON_WITHIN)):
        if _REASON.match(lines[down].strip()):
            told = next(((up, line) for up, line in enumerate(lines[down + 1 :], down + 1) if line.strip()), (down, ""))
            return [
                _Reading(type=read.type, message=read.message, first=at, last=at) for read in _headers(told[1], told[0])
            ]
    return []


def _headers(line: str, at: int) -> list[_Reading]:
    """All exceptions named in one line: `A: m ---> B: n`, outermost first."""
    found: list[_Reading] = []
    for part in _INNER.split(line.strip().removesuffix("--->")):
        match = _HEADER.match(part.strip().removeprefix("---> ").removeprefix("--->")) or _IN_LINE.search(part)
        if match:
            found.append(
                _Reading(type=match["type"].split("`")[0], message=(match["message"] or "").strip(), first=at, last=at)
            )
    return found


def _with_parameter(found: list[_Reading], lines: Sequence[str], at: int) -> list[_Reading]:
    # older runtimes name the parameter in a line of its own
    following = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if found and following.startswith("Parameter name: "):
        found[-1].message = f"{found[-1].message} (Parameter '{following.split(': ', 1)[1]}')"
    return found


def _ended(headers: list[_Reading], pending: list[Frame], last: int) -> list[Trace]:
    if not headers or not (pending or any(read.frames for read in headers)):
        return []
    if pending:
        open_ = [read for read in headers if not read.frames] or headers
        open_[0 if any(read.frames for read in headers) else -1].frames += pending
    return [
        Trace(
            language="dotnet",
            chain=tuple(Thrown(type=read.type, message=read.message, frames=tuple(read.frames)) for read in headers),
            first=headers[0].first,
            last=max(last, headers[-1].last),
        )
    ]


def place(frame: Frame, repo: RepoView) -> Place:
    """Class and method, without what the compiler added."""
    symbol = _CLOSURE.sub("", frame.function)
    machine = _STATE_MACHINE.search(symbol)
    if machine:
        symbol = symbol[: machine.start()].rstrip(".+") + "." + machine["name"]
    local = _LOCAL.search(symbol)
    if local:
        symbol = symbol[: local.start()].rstrip(".+") + "." + local["name"]
    symbol = _ARITY.sub("", symbol).replace("+", ".")
    owner, _, method = symbol.replace("..", ".<").rpartition(".")
    class_ = owner.rsplit(".", 1)[-1]
    key = f"{class_}.{method.lstrip('<')}"
    return Place(key=key, origin=_origin(frame, symbol, class_, repo), home=class_, area=class_)


def _origin(frame: Frame, symbol: str, class_: str, repo: RepoView) -> Origin:
    own = any(symbol.startswith(f"{name}.") for name in repo.own_packages if name)
    known = frame.file and tracked(plain_path(frame.file), repo)
    if not own and not known and of_package("dotnet", symbol):
        return Origin.LIBRARY
    return Origin.TEST if _TEST_CLASS.match(class_) else Origin.APP


FAMILY = Family(
    language="dotnet",
    parse=parse,
    place=place,
    hints=("Exception", "   at ", "  at ", "\nat ", "(at ", "   bei ", "   à ", "   en ", "   em "),
)
