"""What was installed for a repository: a folder for each set of lock files, and a note that it is whole."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from stages.errors import StageError, Stopped
from stages.sandbox import give, needed_by, remove

_LOOK_EVERY_SECONDS: Final = 0.2
_UNUSED_FOR_SECONDS: Final = 30 * 24 * 3600.0
# Below a home folder; stages.toolchains opens them.
_CACHES: Final = (".cargo/registry", ".cargo/git", "go/pkg/mod/cache/download", ".m2/repository")
_NOT_NEEDED: Final = ("tmp", "home/.npm", "home/.cache")
_NOT_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH | stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, kw_only=True)
class Note:
    """What was done, and from where; written by code."""

    step: str
    reached: tuple[str, ...]
    seconds: float
    digest: str

    def __str__(self) -> str:
        came = f"from {', '.join(self.reached)}" if self.reached else "without any host"
        return f"{self.step}, {came}, in {self.seconds:.0f} s, under {self.digest[:12]}"


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What one step made: a folder that commands may read and never write. `again` when it was there already.

    Foreign code filled the folder: what is opened to a command because of it never lies elsewhere.
    """

    folder: Path
    note: Note
    again: bool = False

    @property
    def lent(self) -> Path:
        """A folder of places in the tree: what is lent to checks."""
        return self.folder / "tree"

    @property
    def home(self) -> Path | None:
        """The home folder that tools had, when they keep downloads there."""
        home = self.folder / "home"
        caches = [home / cache for cache in _CACHES if os.path.lexists(home / cache)]
        return home if caches and all(cache.is_dir() and cache.resolve() == cache for cache in caches) else None

    def python(self, base: Path) -> Path | None:
        """The interpreter of the environment that was made from `base`, when pytest is in it."""
        python = self.folder / "env/bin/python"
        beside = (self.folder / "env/lib").glob("python3*/site-packages/pytest/__init__.py")
        with contextlib.suppress(OSError, StageError):
            if any(path.is_file() for path in beside) and self._leads_to(python, base):
                return python
        return None

    def _leads_to(self, python: Path, base: Path) -> bool:
        needed = needed_by(python)  # first, because it refuses a link that leads to itself
        known = {path.resolve() for path in (base, *needed_by(base))}

        def ours(path: Path) -> bool:
            end = path.resolve()
            return any(end.is_relative_to(one) for one in (self.folder.resolve(), *known))

        return python.resolve() == base.resolve() and all(map(ours, needed))


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What was installed for a run; `left_out` holds one sentence for each step that was not taken."""

    kept: tuple[Kept, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def lent(self) -> tuple[Path, ...]:
        return tuple(one.lent for one in self.kept)

    @property
    def home(self) -> Path | None:
        return next((home for one in self.kept if (home := one.home)), None)

    def python(self, base: Path) -> Path | None:
        return next((python for one in self.kept if (python := one.python(base))), None)


class Shelf:
    """The folders of one repository, below `folder`. Another repository has another folder, whatever its files say."""

    def __init__(self, folder: Path, repository: str) -> None:
        self._folder = folder.resolve() / hashlib.sha256(repository.encode("utf-8", "surrogatepass")).hexdigest()[:24]

    def place(self, digest: str) -> Path:
        return self._folder / digest

    def note(self, digest: str) -> Note | None:
        """The note of a whole folder, which counts as used now; None when there is none."""
        try:
            said = json.loads(self._note(digest).read_text("utf-8"))
            note = Note(**{**said, "reached": tuple(said["reached"])})
            os.utime(self._note(digest))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return note if self.place(digest).is_dir() and note.digest == digest else None

    def begin(self, digest: str) -> Path:
        """An empty folder, whose note is gone."""
        self._note(digest).unlink(missing_ok=True)
        remove(self.place(digest))
        for name in ("home", "tmp"):
            (self.place(digest) / name).mkdir(parents=True)
        return self.place(digest)

    def finish(self, note: Note) -> None:
        """Take the folder from those who filled it, and only then say that it is whole."""
        place = self.place(note.digest)
        for name in _NOT_NEEDED:
            if (place / name).is_dir() and (place / name).resolve() == place / name:  # else a link leads elsewhere
                remove(place / name)
        take(place)
        aside = self._note(note.digest).with_suffix(".new")
        aside.write_text(json.dumps(asdict(note)), "utf-8")
        aside.replace(self._note(note.digest))

    def give_up(self, digest: str) -> None:
        remove(self.place(digest))

    def tidy(self) -> None:
        """Take away what nobody used for long."""
        before = time.time() - _UNUSED_FOR_SECONDS
        for note in self._folder.glob("*.json"):
            if note.stat().st_mtime < before:
                note.unlink()
                remove(self._folder / note.stem)

    @contextlib.contextmanager
    def alone(self, digest: str, stopped: Callable[[], bool]) -> Iterator[None]:
        """Held by one process at a time. Raises Stopped while it waits."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._folder / f"{digest}.lock").open("w") as file:
            while not _locked(file.fileno()):
                if stopped():
                    raise Stopped
                time.sleep(_LOOK_EVERY_SECONDS)
            yield

    def _note(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"


def take(folder: Path) -> None:
    """Make everything in a folder ours, and writable for nobody else; no link is followed."""
    if os.geteuid() == 0:
        give(folder, 0)
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(above, name)
            mode = os.lstat(path).st_mode
            if not stat.S_ISLNK(mode) and mode & _NOT_OTHERS:
                os.chmod(path, stat.S_IMODE(mode) & ~_NOT_OTHERS)


def digest_of(facts: Mapping[str, object]) -> str:
    """The same for the same facts, and for no others."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
