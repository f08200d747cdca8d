"""What may be spent in a day is a wall: durable, shared by all processes, asked before each call, closed in doubt."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.book import Book, upgrade_runs
from bot.spending import Account, DayLedger, next_day
from bot.walls import Wall, Walls
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import RepositoryId, RunId, Scope
from stages.agents.limits import Budget, Limits
from stages.errors import LimitReached, ParkCause, Parked
from tests.bot.books import walls
from tests.empty_database import lay_empty
from tests.fakes import Clock

NOON = datetime(2026, 11, 3, 12, tzinfo=UTC)


class Day:
    """A database, and a clock that a test can turn on."""

    def __init__(self, folder: Path) -> None:
        self.path, self.now = folder / "t.sqlite", NOON
        self.engine = open_database(lay_empty(self.path, upgrade_runs))
        self.book = Book(self.engine, Scrubber(), now=lambda: self.now)

    def ledger(
        self,
        walls: Walls,
        *,
        run: str = "01A",
        repository: str = "host/shop",
        actor: str = "7",
        installation: str = "i",
    ) -> DayLedger:
        scope = Scope(installation=installation, repository=RepositoryId(repository))
        return DayLedger(self.book, Account(scope=scope, actor=actor, run=RunId(run)), walls)

    def rows(self) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.path) as connection:
            return connection.execute("SELECT run, day, calls, tokens, money FROM spending ORDER BY 1, 2").fetchall()


@pytest.fixture
def day(tmp_path: Path) -> Day:
    return Day(tmp_path)


def take(ledger: DayLedger, tokens: int = 0, money: float = 0.0, minutes: float = 0.0) -> None:
    ledger.reserve(tokens=tokens, money=money, minutes=minutes)


@pytest.mark.parametrize("kind", ["day", "repository", "actor"])
@pytest.mark.parametrize(
    ("wall", "one"),
    [
        (Wall(calls=2), {}),
        (Wall(tokens=250), {"tokens": 100}),
        (Wall(money=2.5), {"money": 1.0}),
        (Wall(minutes=25), {"minutes": 10.0}),
    ],
)
def test_sec_5_13_the_call_that_would_pass_a_wall_is_not_made(day: Day, kind: str, wall: Wall, one: dict) -> None:  # type: ignore[type-arg]
    ledger = day.ledger(walls(**{kind: wall}))
    take(ledger, **one)
    take(ledger, **one)

    with pytest.raises(Parked) as parked:
        take(ledger, **one)

    assert parked.value.cause is ParkCause.BUDGET
    assert parked.value.wake == datetime(2026, 11, 4, tzinfo=UTC)
    assert day.rows()[0][2] == 2


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("repository", {"repository": "host/other"}),
        ("actor", {"actor": "8"}),
        ("actor", {"actor": ""}),
        ("repository", {"installation": "another"}),
    ],
)
def test_sec_5_13_a_wall_stands_before_its_own_kind_alone(day: Day, kind: str, other: dict[str, str]) -> None:
    bounded = walls(**{kind: Wall(calls=1)})
    take(day.ledger(bounded))

    take(day.ledger(bounded, run="01B", **other))

    with pytest.raises(Parked):
        take(day.ledger(bounded, run="01C"))


@pytest.mark.parametrize("kind", ["day", "actor"])
def test_sec_5_13_whoever_installs_the_app_twice_spends_from_one_purse(day: Day, kind: str) -> None:
    bounded = walls(**{kind: Wall(calls=1)})
    take(day.ledger(bounded))

    with pytest.raises(Parked):
        take(day.ledger(bounded, run="01B", installation="another", repository="host/other"))


def test_sec_5_13_the_next_day_begins_with_nothing_spent(day: Day) -> None:
    ledger = day.ledger(walls(day=Wall(calls=1)))
    take(ledger)
    day.now = next_day(day.now)

    take(ledger)

    assert [row[1] for row in day.rows()] == ["2026-11-03", "2026-11-04"]


def test_what_was_taken_for_a_call_is_given_back_to_the_day_it_was_taken_from(day: Day) -> None:
    ledger = day.ledger(walls(day=Wall(tokens=1_000)))
    ledger.reserve(tokens=900, money=2.0, minutes=0.0)
    day.now += timedelta(hours=12)

    ledger.settle(tokens=100, money=0.25, minutes=1.0)

    assert day.rows() == [("01A", "2026-11-03", 1, 100, 0.25)]


def test_sec_5_13_what_a_killed_process_had_taken_stays_taken(day: Day) -> None:
    bounded = walls(day=Wall(money=2.0))
    day.ledger(bounded).reserve(tokens=0, money=1.5, minutes=0.0)

    with pytest.raises(Parked):
        day.ledger(bounded, run="01B").reserve(tokens=0, money=1.0, minutes=0.0)


def test_a_call_that_no_day_has_room_for_is_no_reason_to_wait(day: Day) -> None:
    with pytest.raises(LimitReached, match="money of the day"):
        take(day.ledger(walls(day=Wall(money=0.5))), money=0.6)


def test_minutes_that_have_passed_are_waited_for_however_many_they_are(day: Day) -> None:
    with pytest.raises(Parked, match="minutes of the day"):
        take(day.ledger(walls(day=Wall(minutes=5))), minutes=6.0)


def test_settling_what_nothing_was_taken_for_changes_nothing(day: Day) -> None:
    day.ledger(walls()).settle(tokens=5, money=1.0, minutes=1.0)

    assert day.rows() == []


TAKER = """
import sys, time
from pathlib import Path
from bot.book import Book
from bot.spending import Account, DayLedger
from bot.walls import Wall, Walls
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import RepositoryId, RunId, Scope
from stages.errors import Parked

book = Book(open_database(Path(sys.argv[1])), Scrubber())
scope = Scope(installation="i", repository=RepositoryId("host/shop"))
account = Account(scope=scope, actor="7", run=RunId(sys.argv[2]))
ledger = DayLedger(book, account, Walls(day=Wall(money=1.0), repository=Wall(), actor=Wall()))
taken = 0
Path(sys.argv[3], sys.argv[2]).touch()
while len(list(Path(sys.argv[3]).iterdir())) < 2:
    time.sleep(0.01)
try:
    while taken < 100:
        ledger.reserve(tokens=0, money=0.05, minutes=0.0)
        taken += 1
except Parked:
    pass
print(taken)
"""


def test_sec_5_13_two_processes_at_once_cannot_overspend_together(day: Day, tmp_path: Path) -> None:
    (ready := tmp_path / "ready").mkdir()
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, str(day.path), f"01{name}", str(ready)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for name in "AB"
    ]

    taken = [int(taker.communicate(timeout=60)[0]) for taker in takers]

    assert sum(taken) == 20


def test_the_budget_asks_the_ledger_before_and_tells_it_after(day: Day) -> None:
    clock = Clock()
    budget = Budget(Limits(), clock=clock, ledger=day.ledger(walls()))
    clock.sleep(60)

    budget.before_call(tokens=500, money=1.0)
    clock.sleep(120)
    budget.after_call(tokens=120, money=0.5)

    assert day.rows() == [("01A", "2026-11-03", 1, 120, 0.5)]
    with sqlite3.connect(day.path) as connection:
        assert connection.execute("SELECT minutes FROM spending").fetchone() == (3.0,)


def test_a_call_that_the_run_itself_may_not_make_is_not_counted_for_the_day(day: Day) -> None:
    budget = Budget(Limits(calls=1), clock=Clock(), ledger=day.ledger(walls()))
    budget.before_call()

    with pytest.raises(LimitReached):
        budget.before_call()

    assert day.rows()[0][2] == 1
