"""Dependencies that lie beside the sources in people's checkout and in no commit: lent to checks, never copied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from stages.report import Check


class Lending:
    """Lends folders of one checkout, such as `node_modules`, at the same places in other trees."""

    def __init__(self, checkout: Path) -> None:
        self._checkout = checkout

    def has(self, place: str) -> bool:
        """True when there is such a folder in the checkout, and not by a link out of it."""
        folder = self._checkout / place
        try:
            inside = folder.resolve(strict=True).is_relative_to(self._checkout.resolve())
        except (OSError, RuntimeError):  # a loop of links among them
            return False
        return inside and folder.is_dir() and ".git" not in PurePosixPath(place).parts

    def to(self, check: Check, tree: Path) -> tuple[tuple[str, Path], ...]:
        """What a check is lent in a tree: places in it, and the folders that are to be seen there."""
        return tuple((place, (self._checkout / place).resolve()) for place in self._free(check, tree))

    def _free(self, check: Check, tree: Path) -> Iterator[str]:
        for folder in check.installed:
            place = str(PurePosixPath(check.folder) / folder)
            if self.has(place) and _is_free(tree / place):
                yield place


def _is_free(place: Path) -> bool:
    """True where the tree has nothing of its own."""
    if place.is_symlink() or place.is_file():
        return False
    if not place.is_dir():
        return place.parent.is_dir()
    with os.scandir(place) as entries:
        return next(entries, None) is None
