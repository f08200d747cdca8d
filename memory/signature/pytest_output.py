"""Output of pytest: the summary's lines, and the sections of failures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.signature.located import tracked
from memory.signature.normalise import template
from memory.signature.paths import plain_path
from memory.signature.shapes import Finding, RepoView

HINTS = ("FAILED ", "ERROR ", "\nE  ")
_SUMMARY = re.compile(
    r"(?:FAILED|ERROR) (?P<file>[^\s:]{1,300}\.py)(?:::(?P<test>[\w:.<>-]{1,300}))?(?P<param>\[.{0,600}?\])?"
    r"(?: - (?P<why>.*))?$"
)
_WHY = re.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})(?:: ?(?P<message>.*))?$")
_HEADING = re.compile(
    r"_{2,80} (?:ERROR (?:at \w{1,20} of|collecting) )?(?P<test>[\w.:/-]{1,300})(?:\[.{0,600}\])? _{2,80}$"
)
_WHERE = re.compile(r"(?P<file>[^\s:]{1,300}\.py):\d{1,7}: (?P<type>[A-Za-z_][\w.]{0,200})$")
_ENTRY = re.compile(r"(?P<file>[^\s:]{1,300}\.py):\d{1,7}: ?(?:in \S|[A-Za-z_]|$)")
_TOLD = re.compile(
    r"E\s{1,8}(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Failed|Exit|Warning|Interrupt))(?:: ?(?P<message>.*))?$"
)
_SECTION_LINES = 400


def find(lines: Sequence[str], repo: RepoView) -> list[Finding]:
    """One finding for each failed test: its file, its id without parameters, and what was raised."""
    found = [_summary(match, at, repo) for at, line in enumerate(lines) if (match := _SUMMARY.match(line.lstrip()))]
    return found or _sections(lines, repo)


def _summary(match: re.Match[str], at: int, repo: RepoView) -> Finding:
    why = _WHY.match(match["why"] or "")
    type_, message = (why["type"], why["message"] or "") if why else ("", match["why"] or "")
    if message.startswith("assert ") and not type_:
        type_ = "AssertionError"
    return _finding(match["file"], match["test"] or "", type_, message, (at, at), repo)


def _sections(lines: Sequence[str], repo: RepoView) -> list[Finding]:
    found: list[Finding] = []
    heading: tuple[int, str] | None = None
    told = ("", "")
    file = ""
    for at, line in enumerate(lines):
        title = _HEADING.match(line)
        if title:
            heading, told, file = (at, title["test"]), ("", ""), ""
            continue
        if heading is None or at - heading[0] > _SECTION_LINES:
            continue
        first = _TOLD.match(line)
        if first and told == ("", ""):
            told = (first["type"], first["message"] or "")
        where = _WHERE.match(line.lstrip())
        entry = _ENTRY.match(line.lstrip())
        if not file and entry:
            file = entry["file"]  # the test's own frame comes first
        if where:
            found.append(_finding(file, heading[1], where["type"], told[1], (heading[0], at), repo))
            heading = None
    return found


def _finding(file: str, test: str, type_: str, message: str, at: tuple[int, int], repo: RepoView) -> Finding:
    path = plain_path(file)
    words = template(message, type_)
    return Finding(
        kind="test",
        language="python",
        type=type_.rsplit(".", 1)[-1],
        template="",
        discriminators=words.discriminators if words.canonical and not words.generic else (),
        frames=("/".join((tracked(path, repo) or path).split("/")[-2:]), test.replace(".", "::")),
        first=at[0],
        last=at[1],
    )
