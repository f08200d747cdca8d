"""The tree that a command may write: whose it is, and how it is taken away."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FIRST_USER: Final = 1_900_000_000
"""From here on 2^16 user ids that no distribution gives away (systemd's UIDS-GIDS page ends at 1,879,048,191)."""
_USERS: Final = 2**16
_NOBODY: Final = 65_534
_PATH_AT_MOST: Final = 3_500  # characters: well below the kernel's 4,096


def user_for(tree: Path) -> int | None:
    """The id that commands in this tree run under, as user and as group, when we are root; else None: under ours.

    Each tree has its own, so that limits count apart and one command's files are closed to the next one's. None also
    for a root who has no other id: then only a level with a user namespace of its own can run a command.
    """
    if os.geteuid() != 0:
        return None
    wanted = FIRST_USER + tree.stat().st_ino % _USERS
    return next((user for user in (wanted, _NOBODY) if _mapped(user)), None)


def own(tree: Path) -> None:
    """Make everything in the tree writable for its commands. Does nothing when they run under our own id.

    Files with a second link are left alone: the other one may lie outside.
    """
    user = user_for(tree)
    if user is not None:
        give(tree, user)


def give(tree: Path, user: int) -> None:
    """Make everything in the tree this user's."""
    _give(tree, tree.stat(), user)
    for entry in _entries(tree):
        _give(entry.path, entry.stat(follow_symlinks=False), user)


def remove(tree: Path) -> None:
    """Take a tree away, however deep it is and whatever modes it left. No process may be at work in it.

    Raises OSError when that cannot be done; nothing to take away is no error.
    """
    if tree.is_symlink():
        raise NotADirectoryError(tree)
    if not tree.exists():
        return
    _open_up(tree)
    top = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        while names := os.listdir(top):
            for name in names:
                _take_away(top, name)
    finally:
        os.close(top)
    tree.rmdir()


def _mapped(user: int) -> bool:
    with open("/proc/self/uid_map", encoding="ascii") as file:
        lines = file.read().splitlines()
    spans = [[int(number) for number in line.split()] for line in lines]
    return any(first <= user < first + count for first, _, count in spans)


def _give(path: str | Path, now: os.stat_result, user: int) -> None:
    linked = stat.S_ISREG(now.st_mode) and now.st_nlink > 1
    if now.st_uid != user and not linked:
        os.chown(path, user, user, follow_symlinks=False)


def _entries(tree: Path) -> Iterator[os.DirEntry[str]]:
    # Deeper than a path can say only a command can have made it, and what it made is its own.
    folders = [str(tree)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                yield entry
                if entry.is_dir(follow_symlinks=False) and len(entry.path) < _PATH_AT_MOST:
                    folders.append(entry.path)


def _take_away(top: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=top)
    except IsADirectoryError:
        _open_up(name, top)
        inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
        try:
            for child in os.listdir(inner):
                _lift(inner, child, top)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)


def _lift(inner: int, name: str, top: int) -> None:
    # Folders are moved up instead of walked down: a tree may be deeper than descriptors, paths or the stack allow.
    try:
        os.unlink(name, dir_fd=inner)
    except IsADirectoryError:
        _open_up(name, inner)
        os.rename(name, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)


def _open_up(folder: str | Path, within: int | None = None) -> None:
    # Root may have no right to change another user's modes, and then needs none to come in.
    with contextlib.suppress(PermissionError):
        os.chmod(folder, 0o700, dir_fd=within)
