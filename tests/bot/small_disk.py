"""A disk of a few megabytes in a folder, for one process and what it begins: a full one is really full."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bot.children import in_child

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000  # of unshare(2)
_PRIVATE: Final = 0x40000 | 0x4000  # MS_PRIVATE, MS_REC of mount(2)
_FILLER: Final = "filler"


class NoRoom(io.StringIO):
    """A stream of which nothing more can be written; `tried` is how often that was asked."""

    tried = 0

    def write(self, text: str) -> int:
        self.tried += 1
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class NoDisk(Exception):
    """This process may mount nothing."""


def why_none(folder: Path) -> str:
    """Why nothing can be mounted on this machine; empty where it can. `folder` is for the trial."""
    reason = folder / "reason"

    def mount() -> None:
        (folder / "disk").mkdir()
        try:
            _mount(folder / "disk", 1)
        except (NoDisk, OSError) as error:
            reason.write_text(f"no disk can be mounted here: {error}")

    in_child(mount)
    return reason.read_text() if reason.exists() else ""


@contextmanager
def small_disk(folder: Path, kept: Path, megabytes: int) -> Iterator[None]:
    """A disk at `folder` with what `kept` holds, and what it holds at the end kept there. Raises NoDisk.

    For a process with one thread only, which sees the disk until it ends.
    """
    _mount(folder, megabytes)
    shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)
    yield
    (folder / _FILLER).unlink(missing_ok=True)
    shutil.rmtree(kept)
    shutil.copytree(folder, kept, symlinks=True)


def fill(folder: Path) -> None:
    """Leave no room on the disk."""
    file = os.open(folder / _FILLER, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError:
        os.close(file)
    assert os.statvfs(folder).f_bavail == 0


def _mount(folder: Path, megabytes: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_MOUNTS):
        if libc.unshare(_NEW_MOUNTS | _NEW_USER):
            raise NoDisk(os.strerror(ctypes.get_errno()))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    size = f"size={megabytes}m,mode=755".encode()
    if libc.mount(b"none", b"/", None, _PRIVATE, None) or libc.mount(b"disk", bytes(folder), b"tmpfs", 0, size):
        raise NoDisk(os.strerror(ctypes.get_errno()))
