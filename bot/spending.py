"""What was spent on which day, for whom: written down before each call, so that no two processes overspend together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

from sqlalchemy import func
from sqlmodel import Session, select

from bot.book import Book
from bot.tables import SpendingRow
from bot.walls import Wall, Walls
from memory.types import RunId, Scope
from stages.agents.limits import Spent
from stages.errors import LimitReached, ParkCause, Parked

_DUST: Final = 1e-9  # what sums of fractions are off by
_CENTS: Final = 4  # digits behind the point, of money and minutes in a message


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose spending it is; `actor` is empty when nobody is known to have triggered the run."""

    scope: Scope
    actor: str
    run: RunId


class DayLedger:
    """A `stages.agents.limits.Ledger` over the tables.

    What a call may cost at most is taken before it and given back after it. What a killed process had taken stays
    taken until the day is over: the call may have been paid for. Raises the errors of `memory.database` when nothing
    can be written, and then no call is made.
    """

    def __init__(self, book: Book, account: Account, walls: Walls) -> None:
        self._book, self._account, self._walls = book, account, walls
        self._taken: tuple[str, Spent] | None = None

    def reserve(self, *, tokens: int, money: float, minutes: float) -> bool:
        """Take what one call may cost. Raises Parked until the next day, and LimitReached when no day has room."""
        now = self._book.now().astimezone(UTC)
        day, wanted = now.date().isoformat(), Spent(calls=1, tokens=tokens, money=money, minutes=minutes)
        with self._book.writing() as session:
            for named, wall, spent in self._before(session, day):
                _check(named, wall, spent, wanted, now)
            self._add(session, day, wanted)
        self._taken = (day, wanted)
        return True

    def settle(self, *, tokens: int, money: float, minutes: float) -> None:
        """Write down what the call cost in the end, in place of what was taken for it."""
        if self._taken is None:
            return
        day, taken = self._taken
        with self._book.writing() as session:
            self._add(
                session, day, Spent(calls=0, tokens=tokens - taken.tokens, money=money - taken.money, minutes=minutes)
            )
        self._taken = None

    def of_run(self) -> Spent:
        """What this run took on all days, and has not given back."""
        with self._book.reading() as session:
            return _sum(session, SpendingRow.run == self._account.run)

    def _before(self, session: Session, day: str) -> Iterator[tuple[str, Wall, Spent]]:
        """Each wall that the run stands before, and what was spent of it on this day.

        The day's and the actor's stand before all installations: one purse pays for them.
        """
        scope, actor = self._account.scope, self._account.actor
        today = SpendingRow.day == day
        yield "of the day", self._walls.day, _sum(session, today)
        here = (SpendingRow.installation == scope.installation, SpendingRow.repository == scope.repository)
        yield "of this repository's day", self._walls.repository, _sum(session, today, *here)
        if actor:
            yield f"of the day of {actor}", self._walls.actor, _sum(session, today, SpendingRow.actor == actor)

    def _add(self, session: Session, day: str, spent: Spent) -> None:
        account = self._account
        row = session.get(SpendingRow, (account.run, day)) or SpendingRow(
            run=account.run,
            day=day,
            installation=account.scope.installation,
            repository=account.scope.repository,
            actor=account.actor,
        )
        row.calls += spent.calls
        row.tokens = max(0, row.tokens + spent.tokens)
        row.money = max(0.0, row.money + spent.money)
        row.minutes += spent.minutes
        session.add(row)


def _sum(session: Session, *where: bool) -> Spent:
    summed = select(
        func.sum(SpendingRow.calls),
        func.sum(SpendingRow.tokens),
        func.sum(SpendingRow.money),
        func.sum(SpendingRow.minutes),
    )
    calls, tokens, money, minutes = (value or 0 for value in session.exec(summed.where(*where)).one())
    return Spent(calls=int(calls), tokens=int(tokens), money=float(money), minutes=float(minutes))


def _check(named: str, wall: Wall, spent: Spent, wanted: Spent, now: datetime) -> None:
    for limit, allowed, before, more in (
        ("calls", wall.calls, spent.calls, wanted.calls),
        ("tokens", wall.tokens, spent.tokens, wanted.tokens),
        ("money", wall.money, spent.money, wanted.money),
        ("minutes", wall.minutes, spent.minutes, wanted.minutes),
    ):
        if allowed is None or before + more <= allowed + _DUST:
            continue
        if more > allowed + _DUST and limit != "minutes":  # those have passed, and the call needs none of them again
            raise LimitReached(limit=f"{limit} {named}", spent=round(more, _CENTS), allowed=allowed)
        wake = next_day(now)
        raise Parked(
            cause=ParkCause.BUDGET,
            reason=f"the {limit} {named} are used up: {round(before, _CENTS)} of {allowed:g} are spent, and the next"
            f" call may cost {round(more, _CENTS)}; it goes on when the next day begins, at {wake:%Y-%m-%d %H:%M} UTC",
            wake=wake,
        )


def next_day(now: datetime) -> datetime:
    """The first moment of the next day, UTC."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
