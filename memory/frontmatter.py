"""The head of a note: what it says about itself between two lines of dashes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

_FENCE = "---"
_LINES_AT_MOST = 100
_ENTRY = re.compile(r"\s*([\"']?)(?P<key>[A-Za-z_][\w-]{0,40})\1\s*:\s*(?P<value>.*)")
_OTHER_ENTRY = re.compile(r"\s*[^\s:#-][^:]{0,80}:(?:\s.*)?")  # of a key that nobody reads, such as `last updated`
_ITEM = re.compile(r"\s*-\s+(.*)")
_NUMBER = re.compile(r"#\d+")  # of a ticket: no comment
_RETIRED = frozenset({"retired", "invalid", "invalidated", "superseded", "obsolete", "archived", "deprecated"})
_IN_USE = frozenset(
    {"active", "accepted", "adopted", "approved", "current", "done", "final", "live", "ok", "published", "reviewed"}
    | {"stable", "valid", "validated", "verified"}
)
_VALUE_SHOWN = 40
_READ_KEYS = frozenset({"title", "tags", "component", "environment", "status", "superseded_by", "tickets"})
SCOPE_KEYS: Final = ("environment",)
_DECIDING = frozenset({"status", "superseded_by", *SCOPE_KEYS})  # misspelt, a note would be used where it must not
_NEAR = 0.8  # how alike two keys are, as difflib counts it; `enviroment` is 0.95
_MEANT = frozenset({"stats"})  # words of their own that are as near as a slip


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """What of a front matter cannot be understood, and where: for people."""

    line: int  # of the note, from 1
    said: str


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """What a note says about itself; of keys that nobody reads only the names are kept.

    A note with a flaw is not used: the line that cannot be understood may be the one that retires it or says where it
    holds, and a wrong note costs each run that reads it, a missing one is named wherever notes are listed.
    """

    title: str = ""
    tags: tuple[str, ...] = ()  # and components: words that find the note, as its title does
    retired: bool = False
    scope: Mapping[str, str] = field(default_factory=dict)  # several values are joined by ", "
    tickets: tuple[str, ...] = ()  # that the note came from
    unknown: tuple[str, ...] = ()  # keys that nobody reads, each with the known one that is near
    flaw: Flaw | None = None


def split(lines: Sequence[str]) -> tuple[FrontMatter, Sequence[str]]:
    """The front matter of a note's folded lines, and the lines after it."""
    if not lines or lines[0] != _FENCE:
        return FrontMatter(), lines
    for at, line in enumerate(lines[1:_LINES_AT_MOST], 1):
        if line in (_FENCE, "..."):
            return _read(lines[1:at]), lines[at + 1 :]
    entry = _ENTRY.fullmatch(lines[1]) if len(lines) > 1 else None
    if entry and _key(entry) in _READ_KEYS:  # else it is a ruler
        return FrontMatter(flaw=Flaw(line=1, said=f"no second line of {_FENCE} ends the front matter")), lines
    return FrontMatter(), lines


def _read(lines: Sequence[str]) -> FrontMatter:
    values: dict[str, list[str]] = {}
    flaws: list[Flaw] = []
    unknown: list[str] = []
    key = ""
    for number, line in enumerate(lines, 2):
        if entry := _ENTRY.fullmatch(line):
            key = _key(entry)
            values[key] = _values(entry["value"])
            inside = line[:1].isspace()  # a part of another key's value
            near = "" if inside else _near(key)
            if near in _DECIDING:
                flaws.append(Flaw(line=number, said=f"the key {entry['key']!r} is not known; `{near}` is"))
            if key not in _READ_KEYS and not inside:
                unknown.append(f"{entry['key']} (`{near}`?)" if near else entry["key"])
        elif key and (item := _ITEM.fullmatch(line)):
            values[key].extend(_values(item[1]))
        elif not _is_passed_over(line, key):
            flaws.append(Flaw(line=number, said="it is no `key: value`"))
        if key == "status" and (odd := [v for v in values[key] if v.lower() not in _RETIRED | _IN_USE]):
            said = f"the status {odd[-1][:_VALUE_SHOWN]!r} is not known; `active` and `retired` are"
            flaws.append(Flaw(line=number, said=said))
    return FrontMatter(
        title=" ".join(values.get("title", [])),
        tags=tuple(dict.fromkeys((*values.get("tags", []), *values.get("component", [])))),
        retired=bool(values.get("superseded_by")) or any(v.lower() in _RETIRED for v in values.get("status", [])),
        tickets=tuple(dict.fromkeys(values.get("tickets", []))),
        unknown=tuple(dict.fromkeys(unknown)),
        flaw=next(iter(flaws), None),
        scope={key: ", ".join(values[key]) for key in SCOPE_KEYS if values.get(key)},
    )


def _key(entry: re.Match[str]) -> str:
    return entry["key"].lower().replace("-", "_")


def _near(key: str) -> str:
    """The known key that an unknown one was meant to be; "" where none is near, and for a known one."""
    alike = [known for known in sorted(_READ_KEYS) if abs(len(known) - len(key)) <= 1]
    return next(iter(get_close_matches(key, alike, n=1, cutoff=_NEAR)), "") if key not in _READ_KEYS | _MEANT else ""


def _is_passed_over(line: str, key: str) -> bool:
    """Whether a line is empty, a comment, a further line of a value, its end, or of a key that nobody reads."""
    bare = line.strip()
    goes_on = bool(key) and (line[:1].isspace() or bare in ("]", "}"))
    return not bare or bare.startswith("#") or goes_on or bool(_OTHER_ENTRY.fullmatch(line))


def _values(text: str) -> list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [value for part in text[1:-1].split(",") if (value := _bare(part))]
    return [value] if (value := _bare(text)) else []


def _bare(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "\"'":
        end = text.find(text[0], 1)
        return text[1:end].strip() if end > 0 else text
    if _NUMBER.fullmatch(text):
        return text
    text = text.split(" #")[0].strip()
    return "" if text.lower() in ("", "null", "~") or text.startswith("#") else text
