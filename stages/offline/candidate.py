"""One candidate: a small edit of one file, as lines, as the arguments of `edit`, and as digests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from stages.offline.source import Source, Splice, program
from stages.patch import edit_digest


@dataclass(frozen=True, kw_only=True)
class Change:
    """An exact replacement in a file, as the tool `edit` takes it."""

    path: str
    old: str
    new: str

    @property
    def undone(self) -> Change:
        """The replacement that takes this one back."""
        return Change(path=self.path, old=self.new, new=self.old)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A splice of a template, with its rank: the higher, the earlier it is tried."""

    source: Source
    splice: Splice
    template: str
    rank: float

    @cached_property
    def block(self) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        """First line (from 0), the old lines, the new lines; lines that stay the same at either end are left out."""
        (first, left), (last, right) = self.splice.start, self.splice.end
        lines = self.source.lines
        tail = lines[last - 1][right:] if last <= len(lines) else ""
        new = (lines[first - 1][:left] + self.splice.text + tail).split("\n")
        old = lines[first - 1 : last]
        same = 0
        while same < min(len(old), len(new)) and old[same] == new[same]:
            same += 1
        old, new = old[same:], new[same:]
        end = 0
        while end < min(len(old), len(new)) and old[-1 - end] == new[-1 - end]:
            end += 1
        return first - 1 + same, tuple(old[: len(old) - end]), tuple(new[: len(new) - end])

    @property
    def key(self) -> tuple[str, int, tuple[str, ...], tuple[str, ...]]:
        """Equal for candidates that make the same text."""
        return (self.source.path, *self.block)

    @property
    def line(self) -> int:
        """The first changed line, from 1."""
        return self.block[0] + 1

    @cached_property
    def digests(self) -> tuple[frozenset[str], ...]:
        """The digests of its edits, as the patch will have them.

        More than one set where a statement moved: a diff can show it as gone above and new below, or as its neighbour.
        """
        _, old, new = self.block
        backwards = [run[::-1] for run in _runs(old[::-1], new[::-1])]
        ways = (list(_runs(old, new)), [sorted(run, key=lambda line: line[0] == "+") for run in backwards])
        return tuple(dict.fromkeys(frozenset(map(edit_digest, way)) for way in ways))

    @property
    def text(self) -> str:
        """The whole file after the edit."""
        start, old, new = self.block
        lines = self.source.lines
        return "\n".join((*lines[:start], *new, *lines[start + len(old) :]))

    @property
    def works_as_python(self) -> bool:
        """False when nothing changes, or what comes out is no Python or the same program."""
        if self.block[1] == self.block[2]:
            return False
        start, old, new = self.block
        first, last = self.source.unit(self.splice.at)
        if not first <= start < start + len(old) <= last:
            first, last = 0, len(self.source.lines)
        lines = self.source.lines
        try:
            after = program((*lines[first:start], *new, *lines[start + len(old) : last]))
        except (SyntaxError, ValueError, RecursionError):
            return False
        return after != self.source.once(("program", first, last), lambda: program(lines[first:last]))

    @property
    def touches_tests(self) -> bool:
        """True when it changes an assertion, or a test that stands beside the code: these say what is right."""
        start, old, _ = self.block
        says = self.source.once("says what is right", lambda: frozenset(_says_what_is_right(self.source.text)))
        return not says.isdisjoint(range(start + 1, start + len(old) + 1))

    @cached_property
    def change(self) -> Change | None:
        """The edit with as many neighbouring lines as make it unique, before and after; None when none do."""
        start, old, new = self.block
        lines = self.source.lines
        above, below = start, start + len(old)
        while True:
            before = "\n".join((*lines[above:start], *old, *lines[start + len(old) : below]))
            after = "\n".join((*lines[above:start], *new, *lines[start + len(old) : below]))
            if before and after and _once(before, self.source.text) and _once(after, self.text):
                return Change(path=self.source.path, old=before, new=after)
            if above == 0 and below >= len(lines):
                return None
            above, below = max(0, above - 1), min(len(lines), below + 1)


def _says_what_is_right(text: str) -> Iterator[int]:
    """The lines of assertions, and of functions that are tests by name and assert something."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):  # as a later Python may read it
        return
    for node in ast.walk(tree):
        match node:
            case ast.Assert():
                yield from _lines_of(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                if any(isinstance(one, ast.Assert) for one in ast.walk(node)):
                    yield from _lines_of(node)


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _once(part: str, text: str) -> bool:
    place = text.find(part)
    return place >= 0 and text.find(part, place + 1) < 0


def _runs(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[list[str]]:
    """The unbroken runs of changed lines, each with its sign."""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield [*(f"-{line}" for line in old[i1:i2]), *(f"+{line}" for line in new[j1:j2])]
