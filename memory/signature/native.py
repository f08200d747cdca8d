"""Crashes of C and C++: sanitizers, gdb and lldb."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import located
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace

_SANITIZER = re.compile(
    r"(?:ERROR|WARNING): (?P<tool>\w{1,10}Sanitizer): (?P<kind>[\w-]{1,60}(?: [\w-]{1,20}){0,3}?)(?= on | in | \(|: "
    r"|\s*$| of size)"
)
_UNDEFINED = re.compile(
    r"(?P<file>[^\s:](?<![^\s:].)[^\s:]{0,999}+):\d{1,7}:\d{1,7}: runtime error: (?P<message>.{1,300}+)$"
)
_SIGNAL = re.compile(
    r"(?:received|terminated with|stopped with|stop reason =|[Cc]aught|signal) ?(?:signal )?(?:\d{1,2},? )?\(?"
    r"(?P<kind>SIG[A-Z]{2,8}"
    r"|EXC_\w{3,30})|(?P<text>Segmentation fault|Aborted) \(core dumped\)"
)
_ASSERT = re.compile(
    r"(?<![^\s:])(?P<file>[^\s:]{1,1000}+):\d{1,7}: (?P<function>[^\n]{1,300}?): Assertion [`'](?P<message>.{1,300}?)'"
    r" failed"
)
_FRAME = re.compile(
    r"\s*+(?:\* )?(?:frame )?#(?P<number>\d{1,4}):? {1,8}(?:0x[0-9a-fA-F]{1,16} (?:in |<)?)?(?P<rest>\S.{0,600})$"
)
_AT = re.compile(
    r"^(?P<function>.{1,400}?)(?: ?\([^\n]{0,400}\))?(?: \+ \d{1,8})? (?:at|from) (?P<file>\S{1,300}?)"
    r"(?::\d{1,7}){0,2}$"
)
_SPACE_FILE = re.compile(
    r"^(?P<function>.{1,400}?) (?P<file>/?[\w.+-]{0,100}(?:/[\w.+ -]{1,100}){0,30}\.\w{1,4}):\d{1,7}(?::\d{1,7})?$"
)
_MODULE = re.compile(
    r"^(?P<function>.{0,400}?) ?\((?P<file>/?[^\s()]{1,300})\+0x[0-9a-f]{1,12}\)(?: \(BuildId: \w{1,60}\))?$"
)
_TAIL = re.compile(r" \([^\s()]{1,300}\+0x[0-9a-f]{1,12}\)(?: \(BuildId: \w{1,60}\))?$")
_LLDB = re.compile(
    r"^(?P<module>[\w.+-]{1,80})`(?P<function>.{1,400}?)(?: \+ \d{1,8})?(?: at (?P<file>[^\s:]{1,300}):\d{1,7}"
    r"(?::\d{1,7})?)?$"
)
_STOP = re.compile(r"is located |allocated by |freed by |previously allocated|SUMMARY:|Shadow bytes|Thread \d{1,4} \(")
_HANDLER = "<signal handler called>"
_SUFFIX = re.compile(
    r"(?: \[clone [^\]]{1,60}\])+$|(?:\.(?:cold|part|isra|constprop|lto_priv)(?:\.\d{1,4})?)+$|@@?\w[\w.]{0,40}$"
    r"|\+0x[0-9a-f]{1,12}$"
)
_SYMBOLS = re.compile(r"^\S{0,300}?\((?P<symbol>[\w.$]{1,300})?\+0x[0-9a-f]{1,12}\)(?: \[0x[0-9a-f]{1,16}\])?$")
# Android: the counter, the library, the symbol.
_TOMBSTONE = re.compile(
    r"^pc [0-9a-f]{4,16}\s{1,4}(?P<file>\S{1,300})(?: \((?P<function>[^\n]{1,300}?)\+\d{1,9}\))?"
    r"(?: \(BuildId: \w{1,60}\))?$"
)
_MANGLED = re.compile(r"^_{1,3}Z(?:N[KVrRO]{0,3}(?P<nested>[\d\w]{1,300})|(?P<plain>\d[\d\w]{1,300}))")
_NUMBER = re.compile(r"\d{1,3}")
_MACOS = re.compile(
    r"Assertion failed: \((?P<message>.{1,300}?)\), function (?P<function>[\w:~]{1,200}), file (?P<file>[^\s,]{1,300})"
)
_GLIB = re.compile(
    r"ERROR:(?P<file>[^\s:]{1,300}):\d{1,7}:(?P<function>\w{1,200}): assertion failed(?: \(|: \(|: )"
    r"(?P<message>.{1,300}?)\)?$"
)
_ASSERTIONS = ((": Assertion ", _ASSERT), ("Assertion failed: (", _MACOS), ("ERROR:", _GLIB))
_TEMPLATE = re.compile(r"<[^<>]{0,300}>")
_FRAMES_WITHIN = 40
_SYSTEM = re.compile(
    r"(?:dyld|lib(?:system|dyld|objc|c\+\+|c|pthread)[\w.+-]{0,40}(?::\w{1,12})?|ntdll[\w.]{0,8}|kernel32[\w.]{0,8})$"
)
_RUNTIME = (
    "__",
    "_start",
    "raise",
    "abort",
    "std::",
    "operator new",
    "operator delete",
    "malloc",
    "free",
    "calloc",
    "realloc",
)


def parse(lines: Sequence[str]) -> list[Trace]:
    """The first rising run of numbered frames below a header that names the crash."""
    traces: list[Trace] = []
    at = 0
    while at < len(lines):
        told = _told(lines[at])
        if told:
            type_, message, frames = told
            more, last = _stack(lines, at)
            if frames or more:
                thrown = Thrown(type=type_, message=message, frames=(*frames, *more))
                traces.append(Trace(language="native", chain=(thrown,), first=at, last=last))
            at = last
        at += 1
    return traces


def _told(line: str) -> tuple[str, str, tuple[Frame, ...]] | None:
    found = _SANITIZER.search(line) if "Sanitizer" in line else None
    if found:
        return found["kind"].strip(), "", ()
    found = _UNDEFINED.search(line) if "runtime error: " in line else None
    if found:
        return "undefined-behaviour", found["message"], (Frame(file=found["file"]),)
    found = next((hit for mark, pattern in _ASSERTIONS if mark in line and (hit := pattern.search(line))), None)
    if found:
        return "assert", found["message"], (Frame(file=found["file"], function=found["function"]),)
    found = _SIGNAL.search(line) if "SIG" in line or "EXC_" in line or "dumped" in line else None
    if found:
        kinds = {"Segmentation fault": "SIGSEGV", "Aborted": "SIGABRT"}
        return found["kind"] or kinds[found["text"]], "", ()
    return None


def _stack(lines: Sequence[str], at: int) -> tuple[list[Frame], int]:
    frames: list[Frame] = []
    number, last = -1, at
    for up in range(at + 1, len(lines)):
        line = lines[up]
        if up - last > _FRAMES_WITHIN or (frames and _STOP.search(line)):
            break
        found = _FRAME.match(line)
        if not found:
            continue
        if int(found["number"]) <= number:
            break
        number, last = int(found["number"]), up
        if _HANDLER in found["rest"]:
            frames = []
        else:
            frames.append(_frame(found["rest"]))
    return frames, last


def _frame(rest: str) -> Frame:
    symbols = _SYMBOLS.match(rest)
    if symbols:
        return Frame(function=_demangled(symbols["symbol"] or "??"))
    tombstone = _TOMBSTONE.match(rest)
    if tombstone:
        system = tombstone["file"].startswith(("/system/", "/apex/", "/vendor/"))
        return Frame(file=tombstone["file"] if system else "", function=tombstone["function"] or "??")
    bare = _TAIL.sub("", rest)
    for pattern, text in ((_LLDB, rest), (_SPACE_FILE, bare), (_MODULE, rest), (_AT, bare)):
        found = pattern.match(text)
        if found:
            return Frame(file=found["file"] or found.groupdict().get("module", ""), function=found["function"] or "")
    return Frame(function=rest)


def _demangled(symbol: str) -> str:
    """The names in a mangled symbol, without arguments; any other symbol as it is."""
    found = _MANGLED.match(symbol)
    if not found:
        return symbol
    rest = found["nested"] or found["plain"]
    names: list[str] = []
    while (digits := _NUMBER.match(rest)) and (found["nested"] or not names):
        end = digits.end() + int(digits[0])
        names.append(rest[digits.end() : end])
        rest = rest[end:]
    return "::".join(names) or symbol


def place(frame: Frame, repo: RepoView) -> Place:
    """The last two segments of the symbol, without arguments."""
    path = plain_path(frame.file)
    file = located(path, repo)
    symbol = plain_symbol(frame.function)
    if not symbol or symbol.startswith(("0x", "??")):
        return Place(
            key=file.name, origin=Origin.APP if "." in path and file.origin is not Origin.LIBRARY else Origin.RUNTIME
        )
    key = "::".join([part for part in symbol.split("::") if part][-2:])
    if not file.ours and (
        symbol == "main" or _SYSTEM.match(path) or symbol.startswith(_RUNTIME) or of_package("native", symbol)
    ):
        return Place(key=key, origin=Origin.RUNTIME)
    if not file.ours and file.origin is Origin.LIBRARY:
        return Place(key=key, origin=Origin.LIBRARY)
    return Place(key=key, origin=Origin.TEST if file.origin is Origin.TEST else Origin.APP, home=file.name)


def plain_symbol(symbol: str) -> str:
    """A symbol of C, C++ or Swift without arguments, templates and what the compiler added."""
    bare = symbol.strip().replace("(anonymous namespace)::", "").replace("`anonymous namespace'::", "")
    bare = _SUFFIX.sub("", bare.split(" (", 1)[0] if not bare.startswith("operator") else bare)
    depth = bare.find("(")
    bare = bare[:depth] if depth > 0 else bare
    for _ in range(4):
        bare = _TEMPLATE.sub("", bare)
    return bare.removesuffix(" const").strip().rsplit(" ", 1)[-1] if bare else ""


FAMILY = Family(
    language="native",
    parse=parse,
    place=place,
    hints=("Sanitizer", "SIG", "EXC_", "ssertion", "runtime error:", "core dumped"),
)
