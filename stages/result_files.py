"""The files that a check writes its results to: found by a pattern, never older than the run, and put away after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import translate
from pathlib import Path
from typing import Final

from memory.text import one_line
from stages.errors import Refused, TooLarge
from stages.jail import Jail
from stages.readers.told import Unreadable

FILE_AT_MOST_BYTES: Final = 32 * 2**20
_ALL_AT_MOST_BYTES: Final = 64 * 2**20
_FILES_AT_MOST: Final = 5_000
_SMALLER: Final = "have the check write smaller ones, without what the tests print"


class ResultFiles:
    """The files below `folder` of a tree whose paths fit a pattern: `*` and `?` within a name, `**/` over folders."""

    def __init__(self, tree: Path, folder: str, pattern: str) -> None:
        self._jail = Jail(tree, at_most=FILE_AT_MOST_BYTES)
        whole = pattern if folder == "." else f"{folder}/{pattern}"
        self._parts = [None if part == "**" else re.compile(translate(part)) for part in whole.split("/")]

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """While this lasts, only what the check writes is there; then the tree is as it was.

        Raises Unreadable when an older file cannot be taken away.
        """
        try:
            before = {path: self._jail.read(path) for path in self._paths()}
            self._clear()
        except Refused as refused:
            raise Unreadable(f"an older file of results stands in the way: {refused}") from refused
        try:
            yield
        finally:
            with suppress(Refused, OSError):  # of what the check closed to us: the next run says so
                self._clear()
                for path, data in before.items():
                    self._jail.write(path, data)

    def read(self) -> dict[str, bytes]:
        """Path → content. Raises Unreadable when there is none, or more than anybody needs."""
        try:
            paths = self._paths()
            if not paths:
                raise Unreadable("the check wrote no file of results")
            if len(paths) > _FILES_AT_MOST:
                raise Unreadable(f"the check wrote more than {_FILES_AT_MOST} files of results")
            found: dict[str, bytes] = {}
            size = 0
            for path in paths:
                found[path] = self._content(path)
                size += len(found[path])
                if size > _ALL_AT_MOST_BYTES:
                    raise Unreadable(f"the check wrote more than {_ALL_AT_MOST_BYTES >> 20} MiB of results: {_SMALLER}")
        except Refused as refused:
            raise Unreadable(str(refused)) from refused
        return found

    def _content(self, path: str) -> bytes:
        try:
            return self._jail.read(path)
        except TooLarge as error:
            shown = one_line(path)
            raise Unreadable(f"{shown} is larger than {FILE_AT_MOST_BYTES >> 20} MiB: {_SMALLER}") from error

    def _paths(self) -> list[str]:
        return [path for path in self._jail.list() if self._fits(path)]

    def _clear(self) -> None:
        for path in self._paths():
            self._jail.remove(path)

    def _fits(self, path: str) -> bool:
        # Part by part: one expression for a whole path could take for ever on a path made for it.
        names = path.split("/")
        ways = {0}  # how many names are used up after each part of the pattern
        for part in self._parts:
            if part is None:
                ways = set(range(min(ways, default=len(names)), len(names)))
            else:
                ways = {used + 1 for used in ways if used < len(names) and part.match(names[used])}
        return len(names) in ways
