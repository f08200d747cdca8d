"""The one way to the files of a tree: walked folder by folder, so that no link, name or swap leads out of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stages.errors import ParkCause, Parked, TooLarge
from stages.paths import FOLDERS_DEEP_AT_MOST, plain, refuse, usable

FILE_AT_MOST_BYTES: Final = 4 * 2**20
FILES_AT_MOST: Final = 200_000

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE_MODE, _NEW_FOLDER_MODE = 0o644, 0o755
_PROBLEMS: Final = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "goes through a file or a link",
    errno.ELOOP: "is a link",
    errno.EACCES: "is closed",
    errno.EXDEV: "lies on another filesystem",
}
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_OUT_OF_REACH: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EXDEV)


class Jail:
    """Reads and writes regular files below `root`, that have one name, on its filesystem. Links are never followed.

    Paths are relative and are spelled as `stages.paths.plain` says; every method raises Refused for others, for what is
    no such file, and for files above `at_most` bytes.
    """

    def __init__(self, root: Path, *, at_most: int = FILE_AT_MOST_BYTES) -> None:
        self._root, self._at_most = root, at_most

    def read(self, path: str) -> bytes:
        """The whole file."""
        with self._folder_of(path) as (folder, name), _told(path):
            _must_be_a_file(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            file = os.open(name, _FILE, dir_fd=folder)
            try:
                _must_be_a_file(path, os.fstat(file))  # again: it may be another one by now
                return self._content(path, file)
            finally:
                os.close(file)

    def write(self, path: str, data: bytes) -> None:
        """Replace the file, or make it and the folders above it; the old content stays until the new one is whole.

        Raises Parked when the disk is full.
        """
        if len(data) > self._at_most:
            refuse(path, f"would be larger than {self._at_most} bytes")
        with self._folder_of(path, make=True) as (folder, name), _told(path):
            mode = _mode_to_keep(path, folder, name)
            aside = f".ticketsmith-{secrets.token_hex(8)}"
            try:
                _write_new(aside, data, mode, folder)
                os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(aside, dir_fd=folder)
                raise

    def remove(self, path: str) -> None:
        """Take the file away; its folder stays."""
        with self._folder_of(path) as (folder, name), _told(path):
            _must_be_a_file(path, os.stat(name, dir_fd=folder, follow_symlinks=False))
            os.unlink(name, dir_fd=folder)

    def list(self, folder: str = "") -> tuple[str, ...]:
        """Paths of all files below a folder that `read` would open by their names, sorted.

        What is closed, lies on another filesystem or goes while we look is left out.
        """
        start = plain(folder)
        with self._walk(start, folder) as top, _told(folder):
            found = []
            for path in self._files(top, start, FOLDERS_DEEP_AT_MOST):
                found.append(path)
                if len(found) > FILES_AT_MOST:
                    refuse(folder, f"holds more than {FILES_AT_MOST} files")
            return tuple(sorted(found))

    @contextlib.contextmanager
    def _folder_of(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        above, _, name = plain(path).rpartition("/")
        if not name:
            refuse(path, "is no file")
        with self._walk(above, path, make=make) as folder:
            yield folder, name

    @contextlib.contextmanager
    def _walk(self, above: str, path: str, *, make: bool = False) -> Iterator[int]:
        """The folder `above`, reached by opening each part from the one before it."""
        folder = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with _told(path):
                for name in filter(None, above.split("/")):
                    if make:
                        _make_folder(name, folder)
                    inner = _step(folder, name)
                    os.close(folder)
                    folder = inner
            yield folder
        finally:
            os.close(folder)

    def _files(self, folder: int, path: str, deeper: int) -> Iterator[str]:
        with os.scandir(folder) as entries:
            for entry in filter(lambda each: usable(each.name), entries):
                inner = f"{path}/{entry.name}" if path else entry.name
                with _skipped():
                    seen = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(seen.st_mode) and seen.st_nlink == 1:
                        yield inner
                    elif stat.S_ISDIR(seen.st_mode) and deeper > 1:
                        yield from self._folder(folder, entry.name, inner, deeper - 1)

    def _folder(self, above: int, name: str, path: str, deeper: int) -> Iterator[str]:
        opened = _step(above, name)
        try:
            yield from self._files(opened, path, deeper)
        finally:
            os.close(opened)

    def _content(self, path: str, file: int) -> bytes:
        parts: list[bytes] = []
        left = self._at_most + 1
        while left > 0 and (part := os.read(file, left)):
            parts.append(part)
            left -= len(part)
        if left <= 0:
            refuse(path, f"is larger than {self._at_most} bytes", TooLarge)
        return b"".join(parts)


def _step(folder: int, name: str) -> int:
    inner = os.open(name, _FOLDER, dir_fd=folder)
    if os.fstat(inner).st_dev != os.fstat(folder).st_dev:
        os.close(inner)
        raise OSError(errno.EXDEV, "it lies on another filesystem")
    return inner


def _make_folder(name: str, folder: int) -> None:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, _NEW_FOLDER_MODE, dir_fd=folder)
        if os.geteuid() == 0:
            owner = os.fstat(folder)
            os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)


def _write_new(name: str, data: bytes, mode: int, folder: int) -> None:
    file = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        if os.geteuid() == 0:  # the commands of the tree run as its owner, and may write it too
            owner = os.fstat(folder)
            os.fchown(file, owner.st_uid, owner.st_gid)
        os.fchmod(file, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)


def _mode_to_keep(path: str, folder: int, name: str) -> int:
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return _NEW_FILE_MODE
    _must_be_a_file(path, now)
    return now.st_mode & 0o777


def _must_be_a_file(path: str, seen: os.stat_result) -> None:
    if stat.S_ISLNK(seen.st_mode):
        refuse(path, "is a link")
    if not stat.S_ISREG(seen.st_mode):
        refuse(path, "is no regular file")
    if seen.st_nlink != 1:
        refuse(path, "has a second name, which may lie outside the tree")


@contextlib.contextmanager
def _skipped() -> Iterator[None]:
    """Goes on behind an entry that cannot be looked at: one that a command closed must not hide all others."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OUT_OF_REACH:
            raise


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise Parked(cause=ParkCause.DISK, reason=f"no room to write {path}") from error
        refuse(path, _PROBLEMS.get(error.errno or 0, f"cannot be used: {error.strerror}"))
