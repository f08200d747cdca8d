"""Folders lent to a command: a writable folder in its tree that shows, read-only, all that is in one outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stages.errors import Refused
from stages.sandbox.command import Command
from stages.sandbox.tree import give, remove

_ENTRIES_AT_MOST: Final = 2_500  # each is a mount, and bubblewrap takes 9,000 words


@contextmanager
def shown(command: Command, user: int | None, *, by_links: bool) -> Iterator[tuple[tuple[Path, str], ...]]:
    """Make the folders in the tree, and take them away again; gives what is to be mounted: from where, and where.

    The folder itself is the command's, because tools keep caches beside what is installed. Links stay what they are:
    those between the packages of one repository lead into the tree. `by_links` is for levels without mounts.
    """
    mounts: list[tuple[Path, str]] = []
    made: list[Path] = []
    try:
        for place, folder in command.lent:
            here = command.tree / place
            if here.is_dir():  # an empty one
                here.rmdir()
            here.mkdir()
            made.append(here)
            for entry in _entries(folder):
                if entry.is_symlink():
                    (here / entry.name).symlink_to(os.readlink(entry.path))
                elif by_links:
                    (here / entry.name).symlink_to(entry.path)
                else:
                    mounts.append((Path(entry.path), f"{place}/{entry.name}"))
            if user is not None:
                give(here, user)
        yield tuple(mounts)
    finally:
        for here in made:
            if not here.is_symlink() and here.is_dir():  # a command may have put something else there
                remove(here)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    if len(found) > _ENTRIES_AT_MOST:
        raise Refused(reason=f"{folder} holds more than {_ENTRIES_AT_MOST} entries, which is too much to lend")
    return found
