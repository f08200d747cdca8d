"""The head of a note: what it says about itself between two lines of dashes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_FENCE = "---"
_LINES_AT_MOST = 100
_ENTRY = re.compile(r"\s*([A-Za-z_][\w-]{0,40})\s*:\s*(.*)")
_ITEM = re.compile(r"\s*-\s+(.*)")
_NUMBER = re.compile(r"#\d+")  # of a ticket: no comment
_RETIRED = frozenset({"retired", "invalid", "invalidated", "superseded", "obsolete", "archived"})
SCOPE_KEYS: Final = ("environment",)


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """What a note says about itself; keys that nobody reads are not kept."""

    title: str = ""
    tags: tuple[str, ...] = ()  # and components: words that find the note, as its title does
    retired: bool = False
    scope: Mapping[str, str] = field(default_factory=dict)  # several values are joined by ", "
    tickets: tuple[str, ...] = ()  # that the note came from


def split(lines: Sequence[str]) -> tuple[FrontMatter, Sequence[str]]:
    """The front matter of a note's folded lines, and the lines after it."""
    if not lines or lines[0] != _FENCE:
        return FrontMatter(), lines
    for at, line in enumerate(lines[1:_LINES_AT_MOST], 1):
        if line in (_FENCE, "..."):
            return _read(lines[1:at]), lines[at + 1 :]
    return FrontMatter(), lines


def _read(lines: Sequence[str]) -> FrontMatter:
    values: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if entry := _ENTRY.fullmatch(line):
            key = entry[1].lower().replace("-", "_")
            values[key] = _values(entry[2])
        elif key and (item := _ITEM.fullmatch(line)):
            values[key].extend(_values(item[1]))
    return FrontMatter(
        title=" ".join(values.get("title", [])),
        tags=tuple(dict.fromkeys((*values.get("tags", []), *values.get("component", [])))),
        retired=bool(values.get("superseded_by")) or any(v.lower() in _RETIRED for v in values.get("status", [])),
        tickets=tuple(dict.fromkeys(values.get("tickets", []))),
        scope={key: ", ".join(values[key]) for key in SCOPE_KEYS if values.get(key)},
    )


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
