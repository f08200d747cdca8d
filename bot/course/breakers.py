"""The store of breakers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, true
from sqlmodel import Session, col, select

from bot.book import Book
from bot.course.breaker import Breaker, said
from bot.course.tables import BreakerRow
from bot.forge.types import RepositoryRef
from bot.job_tables import GithubRepositoryRow


@dataclass(frozen=True, kw_only=True)
class Paused:
    """A repository whose work is paused; `name` is its newest one."""

    name: str
    breaker: Breaker

    def said(self) -> str:
        """One line for the operator."""
        one = self.breaker
        count = len(one.tickets)
        next_try = (
            "one is tried just now" if one.probe is not None else f"one is tried at {one.until:%Y-%m-%d %H:%M} UTC"
        )
        return (
            f"{self.name}, since {one.since:%Y-%m-%d %H:%M} UTC: {count} tickets in a row failed alike "
            f"({said(one.cause)}). Others wait; {next_try}, and `ticketsmith runs retry` of one of them tries at once."
        )


class BreakerStore:
    """All SQL of breakers. One that was never needed has no row."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def of(self, ref: RepositoryRef) -> Breaker:
        with self._book.reading() as session:
            return _breaker(_row(session, ref))

    def change(self, ref: RepositoryRef, change: Callable[[Breaker], Breaker]) -> Breaker:
        """The breaker after a change, in one transaction."""
        with self._book.writing() as session:
            row = _row(session, ref)
            before = _breaker(row)
            if (after := change(before)) == before:
                return after
            row = row or BreakerRow(installation=ref.installation, repository=ref.id)
            row.cause, row.tickets = self._book.clean(after.cause), json.dumps(after.tickets)
            row.since, row.until, row.tries, row.by = after.since, after.until, after.tries, after.by
            row.probe, row.told = after.probe, after.told
            session.add(row)
            return after

    def forget(self, installation: int, repositories: Sequence[int] = ()) -> None:
        """Those of these repositories, or of the whole installation: nothing goes on there that could end a pause."""
        theirs = col(BreakerRow.repository).in_(repositories) if repositories else true()
        with self._book.writing() as session:
            session.execute(delete(BreakerRow).where(col(BreakerRow.installation) == installation, theirs))

    def paused(self) -> tuple[Paused, ...]:
        """All that are paused, the longest first."""
        query = select(BreakerRow).where(col(BreakerRow.since).is_not(None)).order_by(col(BreakerRow.since))
        with self._book.reading() as session:
            return tuple(Paused(name=_name(session, row), breaker=_breaker(row)) for row in session.exec(query).all())


def _row(session: Session, ref: RepositoryRef) -> BreakerRow | None:
    return session.get(BreakerRow, (ref.installation, ref.id))


def _name(session: Session, row: BreakerRow) -> str:
    known = session.get(GithubRepositoryRow, (row.installation, row.repository))
    return known.full_name if known else f"repository {row.repository}"


def _breaker(row: BreakerRow | None) -> Breaker:
    if row is None:
        return Breaker()
    return Breaker(
        cause=row.cause,
        tickets=tuple(json.loads(row.tickets)),
        since=row.since,
        until=row.until,
        tries=row.tries,
        by=row.by,
        probe=row.probe,
        told=row.told,
    )
