"""Who wrote a lesson: each one carries a code that only the holder of a key, kept apart from the database, can make."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import bindparam, text, update
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from memory.tables import LessonRow

KEY_BYTES: Final = 32
NOT_OURS: Final = "not written by this program"
_AT_ONCE: Final = 500  # rows: SQLite takes a bounded number of values in a statement
# All that a row says, as the file holds it: a value of another type or of no readable form is another one too. `mac` is
# made from it, and `id` is only where it lies.
_COLUMNS: Final = tuple(name for name in LessonRow.model_fields if name not in ("id", "mac"))
_SAID: Final = text(
    "SELECT id, hex(mac), "  # noqa: S608 - names of our own columns
    + " || ' ' || ".join(f'typeof("{name}") || \':\' || hex("{name}")' for name in sorted(_COLUMNS))
    + " FROM lesson WHERE id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_PURPOSE: Final = b"ticketsmith lesson 1\n"  # of another one the same key makes another code

Ids: TypeAlias = SelectOfScalar[int] | SelectOfScalar[None]
"""A statement that finds the numbers of rows; whoever reads more of a row that is not ours reads anything."""


class Authorship:
    """Signs lessons as they are written, and tells those that it signed from all others."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        self._key = key

    def sign(self, session: Session, ids: Iterable[int]) -> None:
        """Take these rows, as they stand, for written by us."""
        session.flush()
        for row, _, said in _said(session, list(ids)):
            session.exec(update(LessonRow).where(col(LessonRow.id) == row).values(mac=self._mac(said)))

    def ours(self, session: Session, ids: Sequence[int]) -> set[int]:
        """Those of these rows that say what they said when they were signed."""
        session.flush()
        return {row for row, mac, said in _said(session, ids) if hmac.compare_digest(mac, _hex(self._mac(said)))}

    def rows(self, session: Session, ids: Ids) -> Mapping[int, LessonRow | None]:
        """The rows that a statement finds, in its order; None for one that is not ours, which is not even read."""
        found = listed(session, ids)
        ours = self.ours(session, found)
        wanted = [row for row in found if row in ours]
        read: dict[int | None, LessonRow] = {}
        for part in _parts(wanted):
            read |= {row.id: row for row in session.exec(select(LessonRow).where(col(LessonRow.id).in_(part)))}
        return {row: read.get(row) for row in found}

    def close(self, session: Session, ids: Sequence[int], number: int) -> None:
        """Let these states of lessons hold until version `number`. One that is not ours does not become so by that."""
        ours = self.ours(session, ids)
        for part in _parts(ids):
            session.exec(update(LessonRow).where(col(LessonRow.id).in_(part)).values(live_until=number))
        self.sign(session, ours)

    def _mac(self, said: str) -> str:
        return hmac.new(self._key, _PURPOSE + said.encode(), hashlib.sha256).hexdigest()


def listed(session: Session, ids: Ids) -> list[int]:
    """The numbers that a statement finds, in its order."""
    return [row for row in session.exec(ids) if row is not None]


def _said(session: Session, ids: Sequence[int]) -> list[tuple[int, str, str]]:
    connection = session.connection()
    return [tuple(row) for part in _parts(ids) for row in connection.execute(_SAID, {"ids": part})]


def _hex(code: str) -> str:
    return code.encode().hex().upper()


def _parts(ids: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (ids[first : first + _AT_ONCE] for first in range(0, len(ids), _AT_ONCE))
