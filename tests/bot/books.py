"""A book of runs on a real database file, with a clock that tests move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bot.book import Book, upgrade_runs
from bot.run import Opening
from bot.walls import Wall, Walls
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import CommitId, RepositoryId, Scope, TicketId
from stages.ticket import Ticket
from tests.empty_database import lay_empty

SECRET: Final = "correct-horse-battery-9041"
SCOPE: Final = Scope(installation="local", repository=RepositoryId("github.com/acme/till"))
BASE: Final = CommitId("4be1f0a2c4d6e8f00112233445566778899aabbc")
MORNING: Final = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


class Clock:
    """Says when it is; every look takes a second."""

    def __init__(self, at: datetime = MORNING) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def make_book(folder: Path, clock: Clock | None = None) -> Book:
    engine = open_database(lay_empty(folder / "runs.sqlite", upgrade_runs), busy_seconds=10)
    return Book(engine, Scrubber((SECRET,)), now=clock or Clock())


def ticket(
    name: str = "local:cart", title: str = "Ten cups are too expensive", body: str = "It says 100.00."
) -> Ticket:
    return Ticket(id=TicketId(name), title=title, body=body, author="mira")


def opening(of: Ticket | None = None, scope: Scope = SCOPE) -> Opening:
    return Opening(scope=scope, ticket=of or ticket(), base=BASE, place="/home/mira/till", model="offline/repair")


def walls(**only: Wall) -> Walls:
    """These walls, and none beside them."""
    return Walls(**{"day": Wall(), "repository": Wall(), "actor": Wall(), **only})
