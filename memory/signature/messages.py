"""Words that stand alone: a type and its message in a sentence, a database's complaint, a line of a log.

They make weak keys: they can meet a trace, and admit nothing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory.signature.canon import Form, forms
from memory.signature.normalise import is_specific, template
from memory.signature.shapes import Finding

LINE_AT_MOST = 400
LOGGED_AT_MOST = 100  # messages of a log that say nothing specific: the next ones will not either
NAMED_AT_MOST = 300  # errors with a name of which none says anything specific: as above
CHARACTERS_AT_MOST = 10_000  # of either: 100 lines of a common length
_COLONS_AT_MOST = 12
_TYPE_WITHIN = 200
_SUFFIXES = ("Error", "Exception", "Warning", "Fault", "Failure", "Violation", "Timeout", "Interrupt", "NotFound")
_TYPE_AHEAD = re.compile(r"(?:^|[\s`'\"(\[>*|=])([A-Za-z_][\w.$\\]{2,200}(?:::[A-Z]\w{1,80}){0,5})\)?[`'\"]?$")
_THROWN = re.compile(r"terminate called after throwing an instance of '(?P<type>[\w:]{1,200})'")
_UNCAUGHT = re.compile(r"uncaught exception of type (?P<type>[\w:]{1,200}): (?P<message>.{1,390})$")
_WHAT = "what():"
_END = re.compile(r"[`](?:\W|$)|(?<!\s)\s{2,}+at [\w.]")
_LOG = re.compile(
    r"(?:^|[\s\[|.])(?P<level>error(?=\])|crit(?=\])|ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT)\b[\]|:]?\s{0,8}"
    r"(?:(?:\[[^\]\n]{1,60}\]|\w{1,40}(?:::\w{1,40}){1,6}:|[\w.$/-]{2,80}+(?:\[\d{1,7}\])?:"
    r"|[\w:]{1,60}\{[^}\n]{0,120}\}:|failed to solve:|[\w.$*-]{2,80}+\s{0,40} [-:] "
    r"|[a-z]\w{0,40}+(?:\.[\w$]{1,60}+){1,8}+ (?=\S)|--- |: |- )\s{0,4}){0,3}(?P<message>\S.{8,390})$"
)
_LEVEL = re.compile(r"error\]|crit\]|ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT")  # cheap, and every one has it
_KEYED = re.compile(
    r"(?i)\blevel=[\"']?(?:error|fatal|critical|panic)\b.{0,200}?\bmsg=(?:\"(?P<quoted>"
    r"(?:[^\"\\]|\\.){4,300})\"|(?P<bare>\S{4,100}))"
)


def find(lines: Sequence[str]) -> list[Finding]:
    """The first thing that says something specific: a named exception, a known form, a line of a log."""
    kept = [(at, line[:LINE_AT_MOST]) for at, line in enumerate(lines) if ":" in line or " " in line]
    low = "\n".join(line for _, line in kept).lower()
    likely = tuple(
        form for form in forms() if not form.generic and not form.only and any(word in low for word in form.needs)
    )
    named = (
        (at, *told)
        for at, line in kept
        if (told := _named(line) if ": " in line else _terminated(lines, line, at)) is not None
    )
    for at, type_, message in _new(named, NAMED_AT_MOST):
        found = _finding(type_, message, "message", at)
        if found:
            return [found]
    for at, line in kept if likely else ():
        found = _known(line, at, likely)
        if found:
            return [found]
    logged = ((at, "", message) for at, line in kept if (message := _logged(line)))
    for at, type_, message in _new(logged, LOGGED_AT_MOST):
        found = _finding(type_, message, "log", at)
        if found:
            return [found]
    return []


def _new(told: Iterable[tuple[int, str, str]], at_most: int) -> Iterator[tuple[int, str, str]]:
    """Line, type and message of what was not said before, until there was enough of it."""
    said: set[tuple[str, str]] = set()
    characters = 0
    for at, type_, message in told:
        if (type_, message) in said:
            continue
        said.add((type_, message))
        characters += len(message)
        yield at, type_, message
        if len(said) >= at_most or characters >= CHARACTERS_AT_MOST:
            return


def _named(line: str) -> tuple[str, str] | None:
    """The type and the message that a line names."""
    uncaught = _UNCAUGHT.search(line) if "uncaught exception of type" in line else None
    if uncaught:
        return uncaught["type"], uncaught["message"]
    colon = line.find(": ")
    for _ in range(_COLONS_AT_MOST):
        if colon < 0:
            return None
        before = line[max(0, colon - _TYPE_WITHIN) : colon]
        ahead = _TYPE_AHEAD.search(before) if _may_end_in_a_type(before) else None
        if ahead and ahead[1].endswith(_SUFFIXES):
            message = line[colon + 2 :]
            ticked = _END.search(message)
            return ahead[1], message[: ticked.start()] if ticked else message
        colon = line.find(": ", colon + 2)
    return None


def _may_end_in_a_type(before: str) -> bool:
    """Cheap, and true wherever the pattern finds a type whose name ends as types of errors do."""
    return before.rstrip("`'\")").endswith(_SUFFIXES)


def _terminated(lines: Sequence[str], line: str, at: int) -> tuple[str, str] | None:
    """What the library of C++ says of an exception that nobody caught."""
    thrown = _THROWN.search(line) if "terminate called" in line else None
    what = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if not thrown or not what.startswith(_WHAT):
        return None
    return thrown["type"], what.removeprefix(_WHAT).strip()


def _known(line: str, at: int, likely: Sequence[Form]) -> Finding | None:
    low = line.lower()
    for form in likely:
        if form.match(line, low, ""):
            kind = "sql" if form.name.startswith("sql-") else "message"
            return _finding("", line, kind, at)
    return None


def _logged(line: str) -> str:
    """What a line of a log says, if it says that something is wrong."""
    keyed = _KEYED.search(line) if "level=" in line else None
    if keyed:
        return keyed["quoted"] or keyed["bare"] or ""
    found = _LOG.search(line) if _LEVEL.search(line) else None
    return found["message"] if found else ""


def _finding(type_: str, message: str, kind: str, at: int) -> Finding | None:
    words = template(message, type_)
    if not is_specific(words, type_):
        return None
    return Finding(
        kind=kind,
        language="",
        type=type_,
        template=words.text,
        discriminators=words.discriminators,
        strong=False,
        first=at,
        last=at,
    )
