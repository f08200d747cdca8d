"""The key that lessons are signed with: a file beside the database, made once, that only its owner can read."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session, col, select

from memory.authorship import KEY_BYTES, Authorship, listed
from memory.database import DatabaseFault, writing
from memory.tables import LessonRow


class AuthorKeyUnusable(DatabaseFault):
    """The key of lessons {path} cannot be used: {reason}."""


def authorship(engine: Engine, path: Path) -> Authorship:
    """Who writes lessons here, with the key in `path`, which is made where there is none.

    Then lessons from before there were keys are signed as they stand, where no lesson has been signed with any: that a
    key is there already is what shows that this was done. Raises AuthorKeyUnusable and the errors of `memory.database`.
    """
    try:
        return Authorship(_read(path)) if path.exists() else _begin(engine, path)
    except OSError as error:
        raise AuthorKeyUnusable(path=path, reason=error.strerror or str(error)) from error


def _begin(engine: Engine, path: Path) -> Authorship:
    """Sign first and keep the key last: a process that is killed between the two leaves it to the next, under the same
    lock, with the same key.
    """
    waiting = path.with_name(f"{path.name}.new")
    with writing(engine) as session:
        if path.exists():
            return Authorship(_read(path))
        author = Authorship(_waiting(waiting))
        author.sign(session, _never_signed(session))
    with suppress(FileNotFoundError):  # another process was faster, with the same key
        waiting.rename(path)
    return Authorship(_read(path))


def _never_signed(session: Session) -> list[int]:
    if session.exec(select(LessonRow.id).where(col(LessonRow.mac) != "").limit(1)).first() is not None:
        return []
    return listed(session, select(LessonRow.id))


def _waiting(path: Path) -> bytes:
    """The key that was to be kept when a process was killed, or a new one, on the disk."""
    if path.exists():
        with suppress(AuthorKeyUnusable):  # half-written: nothing was signed with it
            return _read(path)
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key := secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    return key


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise AuthorKeyUnusable(path=path, reason="it is no file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise AuthorKeyUnusable(path=path, reason=f"others may read it; `chmod 600 {path}` takes that from them")
        key = os.read(handle, KEY_BYTES + 1)
    finally:
        os.close(handle)
    if len(key) != KEY_BYTES:
        reason = f"it has not the {KEY_BYTES} bytes it was made with; put it back, or move it away for a new one"
        raise AuthorKeyUnusable(path=path, reason=reason)
    return key
