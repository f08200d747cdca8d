"""How much a command has put on disk: the bytes and files below its folders, counted while it works."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

_LOOK_AFTER_BYTES: Final = 64 * 2**20  # a filesystem that lost less is not counted
_LOOK_AFTER_FILES: Final = 2**14
_LOOK_SECONDS: Final = 0.02  # nobody reads what the command prints meanwhile
_LOOK_EVERY_SECONDS: Final = 0.1
_FOLDERS_DEEP_AT_MOST: Final = 100  # each takes two descriptors
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_Walk: TypeAlias = Generator[None, None, None]
_GONE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # the command is at work


@dataclass(frozen=True, kw_only=True)
class Used:
    """Bytes and files."""

    bytes: int
    files: int

    @classmethod
    def on_filesystem(cls, folder: Path) -> Used:
        """What is used where the folder lies. Filesystems that do not number files beforehand tell none."""
        seen = os.statvfs(folder)
        return cls(bytes=(seen.f_blocks - seen.f_bavail) * seen.f_frsize, files=seen.f_files - seen.f_ffree)

    def reaches(self, other: Used) -> bool:
        return self.bytes >= other.bytes or self.files >= other.files

    def since(self, before: Used) -> Used:
        return Used(bytes=self.bytes - before.bytes, files=self.files - before.files)


class Growth:
    """Tells when folders hold more than they may; counts only when their filesystems lost room, and a little at a time.

    What cannot be looked at, because the command closed it or made it too deep, counts as all that was lost.
    """

    def __init__(
        self,
        folders: tuple[Path, ...],
        at_most: Used,
        used: Callable[[Path], Used] = Used.on_filesystem,
        *,
        look_seconds: float = _LOOK_SECONDS,
    ) -> None:
        self._too_much = Used(bytes=at_most.bytes + 1, files=at_most.files + 1)
        self._worth_a_look = Used(
            bytes=min(_LOOK_AFTER_BYTES, at_most.bytes), files=min(_LOOK_AFTER_FILES, at_most.files)
        )
        self._used, self._look_seconds = used, look_seconds
        self._first = self._last = {folder: used(folder) for folder in folders}
        self._count: _Count | None = None
        self._look_at = 0.0

    def too_big(self) -> bool:
        if self._count is None:
            now = {folder: self._used(folder) for folder in self._last}
            if not self._lost(now, self._last, self._worth_a_look):
                return False
            self._last, self._count = now, _Count(tuple(now))
        elif time.monotonic() < self._look_at:
            return False
        return self._looked(self._count)

    @property
    def at_work(self) -> bool:
        """True while a count is not at its end."""
        return self._count is not None

    def close(self) -> None:
        if self._count is not None:
            self._count.close()
            self._count = None

    def _looked(self, count: _Count) -> bool:
        done = count.go_on(time.monotonic() + self._look_seconds, self._too_much)
        self._look_at = time.monotonic() + _LOOK_EVERY_SECONDS
        if done:
            self.close()
        return count.seen.reaches(self._too_much) or (
            done and count.hidden and self._lost(self._last, self._first, self._too_much)
        )

    @staticmethod
    def _lost(now: dict[Path, Used], before: dict[Path, Used], enough: Used) -> bool:
        return any(now[folder].since(before[folder]).reaches(enough) for folder in now)


class _Count:
    """One walk over folders that a command is at work in, by descriptors, so that no link leads it elsewhere."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._bytes = self._files = 0
        self.hidden = False
        self._walk = self._all(folders)

    @property
    def seen(self) -> Used:
        return Used(bytes=self._bytes, files=self._files)

    def go_on(self, until: float, enough: Used) -> bool:
        """True when everything was seen."""
        for _ in self._walk:
            if self._bytes >= enough.bytes or self._files >= enough.files or time.monotonic() > until:
                return False
        return True

    def close(self) -> None:
        self._walk.close()

    def _all(self, folders: tuple[Path, ...]) -> _Walk:
        for folder in folders:
            yield from self._folder(str(folder), None, _FOLDERS_DEEP_AT_MOST)

    def _folder(self, name: str, above: int | None, deeper: int) -> _Walk:
        try:
            folder = os.open(name, _FOLDER, dir_fd=above)
        except OSError as error:
            self._missed(error)
            return
        try:
            yield from self._entries(folder, deeper)
        finally:
            os.close(folder)

    def _entries(self, folder: int, deeper: int) -> _Walk:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield
                try:
                    seen = entry.stat(follow_symlinks=False)
                except OSError as error:
                    self._missed(error)
                    continue
                self._bytes += seen.st_blocks * 512
                self._files += 1
                if stat.S_ISDIR(seen.st_mode):
                    self.hidden = self.hidden or deeper == 0
                    yield from self._folder(entry.name, folder, deeper - 1) if deeper else ()

    def _missed(self, error: OSError) -> None:
        self.hidden = self.hidden or error.errno not in _GONE
