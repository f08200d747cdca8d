"""A patch: the diff against the base commit, the files it touches, and its edits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.types import Edit

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def edit_digest(changed: Iterable[str]) -> str:
    """First 12 hex digits of SHA-256 over removed and added lines: sign kept, trailing blanks cut, no context."""
    return hashlib.sha256("\n".join(line.rstrip() for line in changed).encode()).hexdigest()[:12]


def added(section: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines that one file's section adds: (line in the new file, text without its sign)."""
    new = removed_left = added_left = 0
    for line in section:
        if removed_left <= 0 and added_left <= 0:
            if found := _HUNK.match(line):
                new = int(found[3])
                removed_left, added_left = _count(found[2]), _count(found[4])
            continue
        if line.startswith("+"):
            yield new, line[1:]
        new += not line.startswith(("-", "\\"))
        removed_left -= not line.startswith(("+", "\\"))
        added_left -= not line.startswith(("-", "\\"))


def _count(found: str | None) -> int:
    """`@@ -5 +7 @@` stands for one line each."""
    return 1 if found is None else int(found)


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """One file of a patch, as git's raw diff names it; modes are octal strings, `000000` for none."""

    path: str
    status: str  # A | M | D | T
    old_mode: str
    new_mode: str
    added: int = 0  # lines; 0 for binary files
    removed: int = 0
    binary: bool = False

    @property
    def sections(self) -> int:
        """How many sections of the diff are its own: git writes a change of type as a deletion and a new file."""
        return 2 if self.status == "T" else 1


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A diff without renames; the sections of `diff` and `files` stand in the same order.

    A `cut` patch was too long to keep: its diff is empty, it cannot be applied and has no edits.
    """

    diff: str
    files: tuple[FileChange, ...] = ()
    cut: bool = False

    def __bool__(self) -> bool:
        return bool(self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """One edit for each unbroken run of changed lines, at its first line in the base."""
        return tuple(
            Edit(path=path, line=line, digest=edit_digest(changed))
            for path, section in self.sections
            for line, changed in changes(section)
        )

    @property
    def sections(self) -> tuple[tuple[str, list[str]], ...]:
        """Path and lines of each section of the diff, without the `diff --git` line."""
        owners = () if self.cut else [file.path for file in self.files for _ in range(file.sections)]
        return tuple(zip(owners, _sections(self.diff), strict=True))


def changes(section: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The unbroken runs of changed lines in one file's section: (first line at the base, signed lines)."""
    old = removed_left = added_left = 0
    start, run = 0, list[str]()
    for line in section:
        if removed_left <= 0 and added_left <= 0:
            if run:
                yield start, run
                run = []
            if found := _HUNK.match(line):
                old = int(found[1])
                removed_left, added_left = _count(found[2]), _count(found[4])
                old += removed_left == 0  # `-12,0` names the line before an insertion
            continue
        sign = line[:1]
        if sign in "-+" and sign:
            start = start if run else old
            run.append(line)
        elif sign != "\\" and run:
            yield start, run
            run = []
        removed_left -= sign not in ("+", "\\")
        added_left -= sign not in ("-", "\\")
        old += sign not in ("+", "\\")
    if run:
        yield start, run


def _sections(diff: str) -> list[list[str]]:
    """The lines of each file's section; a section begins with `diff --git`, which no hunk line can."""
    sections: list[list[str]] = []
    for line in diff.split("\n"):
        if line.startswith("diff --git "):
            sections.append([])
        elif sections:
            sections[-1].append(line)
    return sections
