"""Errors of what runs compilers: CMake's, with the command that failed and its words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import located
from memory.signature.normalise import template
from memory.signature.paths import plain_path
from memory.signature.shapes import Finding, RepoView

HINTS = ("CMake Error",)
_CMAKE = re.compile(
    r"CMake Error (?:at|in) (?P<file>[^\s:]{1,300})(?::\d{1,7})?(?: \((?P<command>\w{1,60})\))?:(?P<message>.{0,400})$"
)
_WORDS_LINES = 6
_ERRORS_AT_MOST = 3


def find(lines: Sequence[str], repo: RepoView) -> list[Finding]:
    """The first three errors, each with the paragraph below it."""
    found: list[Finding] = []
    for at, line in enumerate(lines):
        told = _CMAKE.match(line)
        if told:
            words, last = _words(lines, at, told["message"])
            name = located(plain_path(told["file"]), repo).name
            found.append(
                Finding(
                    kind="compiler",
                    language="cmake",
                    type=told["command"] or "",
                    template=template(words).text,
                    frames=(name,),
                    first=at,
                    last=last,
                )
            )
            if len(found) == _ERRORS_AT_MOST:
                break
    return found


def _words(lines: Sequence[str], at: int, told: str) -> tuple[str, int]:
    kept = [told.strip()]
    last = at
    for up in range(at + 1, min(len(lines), at + 1 + _WORDS_LINES)):
        if not lines[up].strip():
            break
        kept.append(lines[up].strip())
        last = up
        if lines[up].rstrip().endswith("."):
            break
    return " ".join(part for part in kept if part), last
