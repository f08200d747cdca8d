"""Panics of Rust, in the layouts before and since 1.73, with or without a backtrace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import located
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace
from memory.signature.tails import ending_with

_OLD_TAIL = r"', (?P<file>[^\s:]{1,1000}+):\d{1,7}(?::\d{1,7})?"
_OLD = re.compile(rf"thread '[^'\n]{{0,100}}'(?: \(\d{{1,9}}\))? panicked at '(?P<message>.{{0,600}}){_OLD_TAIL}")
_OLD_END = re.compile(_OLD_TAIL)
_NEW = re.compile(
    r"thread '[^'\n]{0,100}'(?: \(\d{1,9}\))? panicked at (?P<file>[^\s:']{1,300}):\d{1,7}:\d{1,7}:?\s*"
    r"(?P<message>.{0,600})$"
)
_FRAME = re.compile(r"\s*\d{1,4}: {1,16}(?:0x[0-9a-f]{1,16} - )?(?P<function>\S.{0,400})$")
_WHERE = re.compile(r"\s*at (?P<file>\S[^\n]{0,300}?\.rs):\d{1,7}(?::\d{1,7})?\s*$")
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_CRATE_HASH = re.compile(r"\[[0-9a-f]{6,20}\]")
_CLOSURE = re.compile(r"(?:::\{\{closure\}\}|::\{closure#\d{1,4}\})+")
_AS = re.compile(r"<(?P<type>[^<>]{1,200}) as [^<>]{1,200}>")
_GENERIC = re.compile(r"::<[^<>]{0,200}>|<[^<>]{0,200}>")
_ENTRY_NAMES = frozenset(("main", "run", "handler", "invoke", "execute"))
_MESSAGE_LINES = 4  # of a comparison, before 1.73
_TRACE_WITHIN = 6


def parse(lines: Sequence[str]) -> list[Trace]:
    """A panic: its place is the first frame, the backtrace follows where there is one."""
    traces: list[Trace] = []
    for at, line in enumerate(lines):
        if "panicked at " not in line:
            continue
        found = _old(line) or _NEW.search(line)
        over = None if found else _old(" ".join(lines[at : at + _MESSAGE_LINES]))
        if found:
            traces.append(_panic(lines, at, found["file"], found["message"].strip()))
        elif over:
            traces.append(_panic(lines, at, over["file"], over["message"].strip(), over=_MESSAGE_LINES - 1))
    return traces


def _old(text: str) -> re.Match[str] | None:
    return ending_with(_OLD_END, _OLD, text) if " panicked at '" in text else None


def _panic(lines: Sequence[str], at: int, file: str, message: str, *, over: int = 0) -> Trace:
    last = min(at + over, len(lines) - 1)
    if not message and at + 1 < len(lines):
        message, last = lines[at + 1].strip(), at + 1
    frames: list[Frame] = []
    start = next(
        (up for up in range(last + 1, min(len(lines), last + _TRACE_WITHIN)) if "stack backtrace:" in lines[up]), -1
    )
    up = start + 1
    while start >= 0 and up < len(lines):
        call, where = _FRAME.match(lines[up]), _WHERE.match(lines[up])
        if call:
            frames.append(Frame(function=call["function"]))
        elif where and frames:
            frames[-1] = Frame(file=where["file"], function=frames[-1].function)
        else:
            break
        last, up = up, up + 1
    return Trace(
        language="rust",
        chain=(Thrown(type="panic", message=message, frames=(Frame(file=file), *frames)),),
        first=at,
        last=last,
    )


def place(frame: Frame, repo: RepoView) -> Place:
    """The file of the panic, then the last two segments of each symbol."""
    path = plain_path(frame.file)
    file = located(path, repo)
    if not frame.function:
        return Place(key=_two(path), origin=file.origin, home=file.name)
    symbol = _plain_symbol(frame.function)
    segments = [part for part in symbol.split("::") if part]
    key = "::".join(segments[-2:])
    if not file.ours and (of_package("rust", symbol) or (path and file.origin is Origin.LIBRARY)):
        return Place(key=key, origin=Origin.RUNTIME if of_package("rust_runtime", symbol) else Origin.LIBRARY)
    inside = "tests" in segments[:-1] or file.origin is Origin.TEST
    return Place(key=key, origin=Origin.TEST if inside else Origin.APP, home=file.name or key)


def _two(path: str) -> str:
    return "/".join(path.lower().split("/")[-2:])


def _plain_symbol(symbol: str) -> str:
    bare = _CLOSURE.sub("", _CRATE_HASH.sub("", _HASH.sub("", symbol.strip())))
    bare = _AS.sub(lambda found: found["type"], bare)
    for _ in range(3):
        bare = _GENERIC.sub("", bare)
    return bare.lstrip("<& ").strip()


FAMILY = Family(language="rust", parse=parse, place=place, hints=("panicked at ",))
