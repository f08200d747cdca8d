"""Panics of Go: the first goroutine's stack."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import Located, located
from memory.signature.packages import of_package
from memory.signature.paths import plain_path
from memory.signature.shapes import Family, Frame, Origin, Place, RepoView, Thrown, Trace

_PANIC = re.compile(
    r"(?:.{0,120}?\b)?(?P<type>panic|fatal error)(?: serving \S{1,80})?: ?(?P<message>.+)$|^"
    r"(?:\[[^\]\n]{1,40}\] )?(?P<bare>runtime error: .+)$"
)
_GOROUTINE = re.compile(r"goroutine \d{1,9}(?: gp=\S{1,20} m=\S{1,20}(?: mp=\S{1,20})?)? \[[^\]\n]{1,100}\]:")
_CALL = re.compile(r"\s{0,8}(?P<function>[\w./~@%*()\[\]{},·-]{1,300})\((?P<args>[^()\n]{0,400})\)\s*$")
_WHERE = re.compile(r"\s{0,16}(?P<file>\S[^\n]{0,300}?\.(?:go|s|c)):\d{1,7}(?: \+0x[0-9a-f]{1,12})?\s*$")
_CREATED = re.compile(r"\s*created by ")
_RECOVERED = re.compile(r" ?\[recovered[^\]]{0,40}\]")
_ENTRY_NAMES = frozenset(("main.main", "main.run", "main.init", "main.handler", "main.execute", "main.invoke"))
_CLOSURES = re.compile(r"(?:\.func\d{1,4}(?:\.\d{1,4})*|\.gowrap\d{1,4}|-fm|\.deferwrap\d{1,4}|-range\d{1,4})+$")
_GENERIC = re.compile(r"\[[^\]\n]{0,100}\]")
_RACE = "WARNING: DATA RACE"
_RACE_LINES = 60
_LOOK_BACK = 12


def parse(lines: Sequence[str]) -> list[Trace]:
    """A panic and the stack of the first goroutine below it."""
    traces: list[Trace] = []
    at, told = 0, -1
    while at < len(lines):
        line = lines[at]
        if _RACE in line:
            traces += _race(lines, at)
        if _GOROUTINE.match(line.strip()) and told >= 0:
            trace, at = _stack(lines, told, at)
            traces += [trace] if trace.chain[0].frames else []
            told = -1
            continue
        if (
            ("panic" in line or "fatal error: " in line or "runtime error: " in line)
            and _PANIC.match(line.strip())
            and told < 0
        ):
            told = at
        elif told >= 0 and at - told > _LOOK_BACK:
            told = -1
        at += 1
    return traces


def _stack(lines: Sequence[str], told: int, at: int) -> tuple[Trace, int]:
    found = _PANIC.match(lines[told].strip())
    assert found
    frames: list[Frame] = []
    first, name = at, ""
    at += 1
    while at < len(lines):
        line = lines[at]
        if (not line.strip() and (frames or name)) or _CREATED.match(line) or _GOROUTINE.match(line.strip()):
            break
        where = _WHERE.match(line)
        following = lines[at + 1] if at + 1 < len(lines) else ""
        call = None if where else _CALL.match(line + following if following.startswith("(") else line)
        if where and name:
            frames.append(Frame(file=where["file"], function=name))
            name = ""
        elif call:
            name = call["function"]
        at += 1
    message = _RECOVERED.sub("", found["message"] or found["bare"]).strip()
    trace = Trace(
        language="go",
        chain=(Thrown(type=found["type"] or "panic", message=message, frames=tuple(_after_panic(frames))),),
        first=told,
        last=max(first, at - 1),
    )
    return trace, at


def _race(lines: Sequence[str], told: int) -> list[Trace]:
    """The two accesses of a race that the detector saw: either may stand first."""
    stacks: list[list[Frame]] = []
    name, last = "", told
    for at in range(told + 1, min(len(lines), told + _RACE_LINES)):
        line = lines[at]
        if line.startswith("=====") or _RACE in line or "created at:" in line:
            break
        where, call = _WHERE.match(line), _CALL.match(line)
        if where and name and stacks:
            stacks[-1].append(Frame(file=where["file"], function=name))
            name, last = "", at
        elif call:
            name = call["function"]
        elif " by goroutine " in line or " by main goroutine" in line:
            stacks.append([])
    frames = min((stack for stack in stacks if stack), key=lambda stack: stack[0].function, default=[])
    thrown = Thrown(type="data race", message="", frames=tuple(frames))
    return [Trace(language="go", chain=(thrown,), first=told, last=last)] if frames else []


def _after_panic(frames: Sequence[Frame]) -> Sequence[Frame]:
    # above the call of panic stand deferred functions
    for at in range(len(frames) - 1, -1, -1):
        if frames[at].function in ("panic", "runtime.gopanic", "runtime.panicmem", "runtime.sigpanic"):
            return frames[at + 1 :]
    return frames


def place(frame: Frame, repo: RepoView) -> Place:
    """The last two segments of the symbol, and the file when the symbol says little."""
    path = plain_path(frame.file)
    file = located(path, repo)
    symbol = frame.function
    package = symbol[: symbol.rfind("/") + 1]
    short = _GENERIC.sub("", _CLOSURES.sub("", symbol[len(package) :]))
    key = f"{short}@{path.rsplit('/', 1)[-1]}" if short in _ENTRY_NAMES else short
    return Place(key=key, origin=_origin(symbol, file, repo), home=file.name)


def _origin(symbol: str, file: Located, repo: RepoView) -> Origin:
    own = file.ours or any(name and symbol.startswith(name) for name in repo.own_packages)
    first = symbol.split("(", 1)[0]
    standard = "." not in first.split("/", 1)[0] and "/" in first
    if not own and (
        file.origin is Origin.LIBRARY or of_package("go", symbol) or (standard and not first.startswith("main"))
    ):
        return Origin.LIBRARY if not symbol.startswith(("runtime.", "panic")) else Origin.RUNTIME
    return Origin.TEST if file.origin is Origin.TEST else Origin.APP


FAMILY = Family(language="go", parse=parse, place=place, hints=("goroutine ", _RACE))
