"""Markdown from code's own words and from quoted ones, such that no word of a stranger becomes markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.text import fold, one_line
from stages.quoting import sanitise

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&$])")
_LINE: Final = re.compile(r"^(\s*(?:\d{1,9}(?=\.))?)([-=.])")  # lists, and what makes a heading of the line above
_QUOTED_LINES: Final = 40


def plain(text: str) -> str:
    """One line of text in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", one_line(sanitise(text).text))


def code(text: str) -> str:
    """One line as code."""
    line = one_line(text).replace("`", "'")
    return f"`{line}`" if line else ""


def quoted(text: str, at_most: int = _QUOTED_LINES) -> list[str]:
    """Lines as a block quote; of a long text the first ones, and how many are missing."""
    lines = [_LINE.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", line)) for line in fold(sanitise(text).text.strip())]
    more = [f"> (+{len(lines) - at_most} lines)"] if len(lines) > at_most else []
    return [f"> {line}".rstrip() for line in lines[:at_most]] + more


def fenced(text: str, kind: str = "") -> list[str]:
    """Lines as a block of code, whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return [fence + kind, *text.rstrip("\n").split("\n"), fence]


def folded(head: str, lines: Iterable[str]) -> list[str]:
    """Lines that are shown when the head is clicked."""
    return ["<details>", f"<summary>{head}</summary>", "", *lines, "", "</details>"]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; cells are made by `plain` or `code`."""
    return [
        "| " + " | ".join(head) + " |",
        "| " + " | ".join("---" for _ in head) + " |",
        *("| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows),
    ]
