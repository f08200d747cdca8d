"""Stacks of JavaScript and TypeScript: V8 (Node, Chrome), Gecko, WebKit; bundled or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.signature.located import located
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace
from memory.signature.words import word_set

_POSITION = r"(?P<file>[^\s()]{0,400}?[^\s():]):\d{1,7}(?::\d{1,9})?"
_NAMED = re.compile(
    rf"\s*at (?:async )?(?:new )?(?P<function>[^\s(][^(\n]{{0,200}}?)(?: \[as [\w$<>.]{{1,100}}\])? \((?:{_POSITION}"
    rf"|(?P<inner>native|<anonymous>|[\w./:-]{{1,200}}))\)\s*$"
)
_TIGHT = re.compile(
    r"\s*at (?:async )?(?:new )?(?P<function>[\w$.<>]{1,200})\((?P<file>[^\s()]{1,300}):\d{1,7}:\d{1,7}\)\s*$"
)
_EVAL = re.compile(r"\s*at (?P<function>[\w$.<>]{1,200}) \(eval at ")
_PLAIN = re.compile(rf"\s*at (?:async )?{_POSITION}\s*$")
_GECKO = re.compile(rf"\s*+(?P<function>[\w$.<>/\[\]*() -]{{0,200}})@{_POSITION}\s*$")
_LAYER = re.compile(r"///\([\w-]{1,30}\)/")
_NATIVE = re.compile(r"\s*(?:[\w$.]{0,100}@)?\[native code\]\s*$")
_HEADER = re.compile(
    r"(?:.{0,80}?(?:Uncaught|UnhandledPromiseRejectionWarning:) )?"
    r"(?:\(in promise\) )?(?:Unhandled (?:Promise )?Rejection:? ?(?:\([\w ]{1,40}\))?:? ?)?"
    r"(?:\[[\w ]{1,40}\] )?"
    r"(?P<type>(?:[A-Za-z_$][\w$]{0,80}\.){0,3}[A-Z][\w$]{0,80})(?: \[(?P<code>[A-Z][A-Z_0-9]{2,60})\])?(?:: "
    r"(?P<message>.*)|:?\s*)$"
)
_IN_LINE = re.compile(
    r"(?:^|[\s:(])(?P<type>(?:[A-Z][\w$]{0,80})?(?:Error|Exception|Warning|Rejection|Violation))"
    r"(?: \[(?P<code>[A-Z][A-Z_0-9]{2,60})\])?: (?P<message>.*)$"
)
_CAUSE = re.compile(r"\s*\[cause\]: (?P<rest>.*)$")
_HEADER_WITHIN = 12
_GAP = 2
_MINIFIED_AT_MOST = 3  # characters of a name in a bundle; elsewhere two
_MINIFIED = re.compile(r"[\w$]{1,2}$")
_BUNDLE = re.compile(
    r"(?:^|/)(?:main|bundle|app|vendors?|commons?|runtime|polyfills?|index|chunk|\d{1,6})?(?:[~.-][\w~]{0,60})?"
    r"(?:[.-][0-9a-fA-F]{6,32}|[.-](?=\w{0,20}\d)\w{8,20})?"
    r"(?:\.(?:min|chunk|bundle))*\.m?js$"
)
_HASHED = re.compile(r"[.-](?:[0-9a-f]{6,32}|(?=[\w-]{0,20}\d)[A-Za-z0-9_-]{8})\.(?:chunk\.|min\.)?m?js$")
_NOISE_NAMES = frozenset(("", "<anonymous>", "anonymous", "eval", "?", "global code", "module code", "eval code"))


@dataclass
class _Reading:
    type: str
    message: str
    first: int
    last: int
    frames: list[Frame] = field(default_factory=list)
    cause: bool = False


def parse(lines: Sequence[str]) -> list[Trace]:
    """Stacks, each with the causes that Node prints in brackets."""
    readings: list[_Reading] = []
    for at, line in enumerate(lines):
        cause = _CAUSE.match(line) if "[cause]" in line else None
        if cause and readings:
            told = _named(cause["rest"])
            readings.append(_Reading(type=told[0], message=told[1], first=at, last=at, cause=True))
            continue
        frame = _frame(line)
        if frame is None:
            if readings and at - readings[-1].last <= _GAP and _NATIVE.match(line):
                readings[-1].last = at
            continue
        if not readings or at - readings[-1].last > _GAP:
            readings.append(_above(lines, at))
        readings[-1].frames.append(frame)
        readings[-1].last = at
    return _traces([read for read in readings if read.frames or read.cause])


def _traces(readings: Sequence[_Reading]) -> list[Trace]:
    chains: list[list[_Reading]] = []
    for read in readings:
        if read.cause and chains:
            chains[-1].append(read)
        elif read.frames:
            chains.append([read])
    return [
        Trace(
            language="javascript",
            chain=tuple(Thrown(type=read.type, message=read.message, frames=tuple(read.frames)) for read in chain),
            first=chain[0].first,
            last=max(read.last for read in chain),
        )
        for chain in chains
        if any(read.type for read in chain) or len(chain[0].frames) > 1
    ]


def _frame(line: str) -> Frame | None:
    if "///(" in line:
        line = _LAYER.sub("///", line)  # webpack-internal:///(rsc)/./app/page.tsx
    if ("at " in line and ":" in line) or "(<anonymous>)" in line or "(native)" in line:
        found = _NAMED.match(line)
        if found:
            return Frame(file=found["file"] or found["inner"] or "", function=found["function"])
        tight = _TIGHT.match(line)
        if tight:
            return Frame(file=tight["file"], function=tight["function"])
        plain = _PLAIN.match(line)
        if plain:
            return Frame(file=plain["file"])
        evaluated = _EVAL.match(line)
        if evaluated:
            return Frame(file="<eval>", function=evaluated["function"])
    if "@" in line:
        gecko = _GECKO.match(line)
        if gecko and ("/" in gecko["file"] or ".js" in gecko["file"]):
            return Frame(file=gecko["file"], function=gecko["function"])
    return None


def _above(lines: Sequence[str], at: int) -> _Reading:
    for up in range(at - 1, max(-1, at - 1 - _HEADER_WITHIN), -1):
        type_, message = _named(lines[up].strip())
        if type_ and (type_.endswith(("Error", "Exception", "Warning", "Rejection")) or up == at - 1):
            return _Reading(type=type_, message=message, first=up, last=at)
    return _Reading(type="", message="", first=at, last=at)


def _named(line: str) -> tuple[str, str]:
    found = _HEADER.match(line) or _IN_LINE.search(line)
    if not found:
        return "", ""
    message = (found["message"] or "").rstrip("{ ").strip()
    return found["type"], f"{message} [{found['code']}]" if found["code"] else message


def place(frame: Frame, repo: RepoView) -> Place:
    """Source file and function of a frame; nothing where a bundle kept neither."""
    if frame.file in ("native", "<anonymous>", "<eval>") or frame.file.startswith(
        ("chrome-extension:", "moz-extension:")
    ):
        return Place(key="", origin=Origin.RUNTIME)
    if frame.file.startswith(("node:", "internal/", "(internal/", "ext:")) or plain_path(frame.file) in word_set(
        "node_core"
    ):
        return Place(key="", origin=Origin.RUNTIME)
    path = plain_path(frame.file)
    name = _function(frame.function)
    file = located(path, repo)
    # a bundle's name says nothing about the source
    home = "" if not file.ours and _HASHED.search(path) and _BUNDLE.search(path) else file.name
    if not home and len(name) <= _MINIFIED_AT_MOST:
        return Place(key="", origin=file.origin)
    return Place(key=f"{home}:{name}", origin=file.origin, home=home)


def _function(name: str) -> str:
    bare = name.strip().split("/", 1)[0].removesuffix("<")
    for prefix in ("async ", "async*", "new ", "get ", "set ", "bound "):
        bare = bare.removeprefix(prefix)
    bare = bare.rsplit(".", 1)[-1].strip("<>[]*() ")
    if bare in _NOISE_NAMES or bare.isdigit() or _MINIFIED.fullmatch(bare):
        return ""
    return bare


FAMILY = Family(language="javascript", parse=parse, place=place, hints=("at ", "@"))
