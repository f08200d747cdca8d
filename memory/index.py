"""The FTS5 index of notes: a cache, named by the digest of what it holds, built aside and renamed."""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.index_build import INDEX_FORMAT, NOTE_BITS, build, chunk_of, profile_of
from memory.search import Hit, IndexUnusable, Profile, Totals
from memory.types import Chunk

_OPEN_AT_MOST: Final = 32  # a file that is closed is opened again, not built again
_BYTES_KEPT: Final = 1 << 30
_ABANDONED_AFTER: Final = 3600  # seconds; a build takes minutes at most
_AT_ONCE: Final = 500  # words in one look-up: SQLite takes 999 parameters everywhere


class FtsIndex:
    """One open index file; may be used from several threads."""

    def __init__(self, path: Path, digest: str, connection: sqlite3.Connection, totals: Totals) -> None:
        self.path, self.digest, self.totals = path, digest, totals
        self._connection = connection
        self._lock = threading.Lock()

    def chunks_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return self._counts("chunks", words)

    def notes_with(self, words: Sequence[str]) -> Mapping[str, int]:
        return self._counts("notes", words)

    def best(self, words: Sequence[str], at_most: int) -> tuple[Hit, ...]:
        if not words:
            return ()
        rows = self._rows(
            "SELECT rowid, -rank FROM fts WHERE fts MATCH ? ORDER BY rank, rowid LIMIT ?", _any_of(words), at_most
        )
        return tuple(Hit(row=row, note=row >> NOTE_BITS, bm25=score) for row, score in rows)

    def rows_of(self, word: str) -> frozenset[int]:
        return frozenset(row for (row,) in self._rows("SELECT rowid FROM fts WHERE fts MATCH ?", _any_of([word])))

    def note_of(self, row: int) -> int:
        return row >> NOTE_BITS

    def chunk(self, row: int) -> Chunk:
        return chunk_of(*self._rows("SELECT data FROM chunk WHERE id = ?", row)[0])

    def chunks_of(self, note: int) -> tuple[Chunk, ...]:
        first, last = note << NOTE_BITS, ((note + 1) << NOTE_BITS) - 1
        rows = self._rows("SELECT data FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id", first, last)
        return tuple(chunk_of(*row) for row in rows)

    def profiles(self, notes: Sequence[int]) -> Mapping[int, Profile]:
        marks = ",".join("?" * len(notes))
        rows = self._rows(f"SELECT id, title, text, length FROM note WHERE id IN ({marks})", *notes)  # noqa: S608
        return {note: profile_of(note, *rest) for note, *rest in rows}

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _counts(self, column: str, words: Sequence[str]) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for at in range(0, len(words), _AT_ONCE):
            some = words[at : at + _AT_ONCE]
            marks = ",".join("?" * len(some))
            counts.update(self._rows(f"SELECT word, {column} FROM word WHERE word IN ({marks})", *some))  # noqa: S608
        return counts

    def _rows(self, sql: str, *values: object) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as fault:
            raise _unusable(self.path.parent, fault) from fault


class FtsSearch:
    """Indexes in the files of one folder, those used last up to `bytes_kept`. Two processes may build one at once."""

    def __init__(self, folder: Path, *, bytes_kept: int = _BYTES_KEPT) -> None:
        self.folder, self._bytes_kept = folder, bytes_kept
        self._open: dict[tuple[int, str], FtsIndex] = {}  # by process: a connection does not survive a fork
        self._lock = threading.Lock()

    def open(self, digest: str, chunks: Callable[[], Sequence[Chunk]]) -> FtsIndex:
        """See `Search.open`."""
        key = (os.getpid(), digest)
        with self._lock:
            index = self._open.pop(key, None) or self._read(digest) or self._build(digest, chunks)
            while len(self._open) >= _OPEN_AT_MOST:
                self._open.pop(next(iter(self._open)))  # the one that was asked for the longest time ago
            self._open[key] = index
        return index

    def discard(self, digest: str) -> None:
        """See `Search.discard`."""
        with self._lock, _told(self.folder):
            index = self._open.pop((os.getpid(), digest), None)
            if index:
                index.close()
            self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{re.sub('[^A-Za-z0-9_-]', '-', digest)[:100]}.{INDEX_FORMAT}.sqlite"

    def _read(self, digest: str) -> FtsIndex | None:
        """The index in its file, or None when there is none that is whole and of this digest."""
        path = self._path(digest)
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        except (sqlite3.Error, OSError):
            return None  # building it anew tells what is wrong with the folder
        try:
            totals = _totals(connection, digest)
        except (sqlite3.Error, KeyError, ValueError):
            totals = None
        if totals is None:
            connection.close()
            return None
        with suppress(OSError):  # the file of another user may be read, not touched
            os.utime(path)
        return FtsIndex(path, digest, connection, totals)

    def _build(self, digest: str, chunks: Callable[[], Sequence[Chunk]]) -> FtsIndex:
        held = chunks()
        path = self._path(digest)
        with _told(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, aside = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=self.folder)
            try:
                build(Path(aside), digest, held)
                os.fsync(handle)
                Path(aside).replace(path)
            finally:
                os.close(handle)
                Path(aside).unlink(missing_ok=True)
            self._tidy(path)
        index = self._read(digest)
        if index is None:
            raise IndexUnusable(folder=self.folder, reason="it could not be read back")
        return index

    def _tidy(self, new: Path) -> None:
        """Leave the files that were opened last, and nothing of a build that was killed."""
        files = {path: _state(path) for path in self.folder.glob("*.sqlite") if path != new}
        kept = _state(new).bytes
        for path in sorted(files, key=lambda path: files[path].opened, reverse=True):
            kept += files[path].bytes
            if kept > self._bytes_kept:
                path.unlink(missing_ok=True)
        abandoned = time.time() - _ABANDONED_AFTER
        for path in self.folder.glob(".*.tmp"):
            if _state(path).opened < abandoned:
                path.unlink(missing_ok=True)


@dataclass(frozen=True, kw_only=True)
class _State:
    opened: float = 0.0  # seconds since 1970
    bytes: int = 0


def _state(path: Path) -> _State:
    with suppress(FileNotFoundError):  # another worker tidies too
        found = path.stat()
        return _State(opened=found.st_mtime, bytes=found.st_size)
    return _State()


def _totals(connection: sqlite3.Connection, digest: str) -> Totals | None:
    held = dict(connection.execute("SELECT key, value FROM meta"))
    if held.get("digest") != digest or connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        return None
    return Totals(
        notes=int(held["notes"]),
        chunks=int(held["chunks"]),
        title_words=int(held["title_words"]),
        text_words=int(held["text_words"]),
    )


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError, IndexError) as fault:
        raise _unusable(folder, fault) from fault


def _unusable(folder: Path, fault: Exception) -> IndexUnusable:
    return IndexUnusable(folder=folder, reason=fault)
