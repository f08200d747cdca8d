"""Dependencies that lie beside the sources in people's checkout and in no commit: lent to checks, never copied."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from stages.report import Check


class Lending:
    """Lends folders of a checkout, such as `node_modules`, at the same places in other trees; what was installed for
    the run goes before what lies in the checkout."""

    def __init__(self, checkout: Path, *installed: Path) -> None:
        self._sources = (*installed, checkout)

    def has(self, place: str) -> bool:
        """True when there is such a folder in one of them, and not by a link out of it."""
        return self._source(place) is not None

    def settled(self, check: Check) -> Check:
        """The check with those folders of dependencies that there are, where nobody asked for them all."""
        there = tuple(folder for folder in check.installed if self.has(place_of(check, folder)))
        return replace(check, installed=there) if check.detected and there else check

    def _source(self, place: str) -> Path | None:
        return next((folder / place for folder in self._sources if _holds(folder, place)), None)

    def to(self, check: Check, tree: Path) -> tuple[tuple[str, Path], ...]:
        """What a check is lent in a tree: places in it, and the folders that are to be seen there."""
        places = ((place, self._source(place)) for place in self._free(check, tree))
        return tuple((place, source.resolve()) for place, source in places if source is not None)

    def _free(self, check: Check, tree: Path) -> Iterator[str]:
        for folder in check.installed:
            place = place_of(check, folder)
            if self.has(place) and _is_free(tree / place):
                yield place


def place_of(check: Check, folder: str) -> str:
    """Where in a tree a folder lies that a check names by the way to it from its own."""
    return posixpath.normpath(f"{check.folder}/{folder}")


def _holds(top: Path, place: str) -> bool:
    folder = top / place
    try:
        inside = folder.resolve(strict=True).is_relative_to(top.resolve())
    except (OSError, RuntimeError):  # a loop of links among them
        return False
    return inside and folder.is_dir() and ".git" not in PurePosixPath(place).parts


def _is_free(place: Path) -> bool:
    """True where the tree has nothing of its own."""
    if place.is_symlink() or place.is_file():
        return False
    if not place.is_dir():
        return place.parent.is_dir()
    with os.scandir(place) as entries:
        return next(entries, None) is None
