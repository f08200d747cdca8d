"""A run whose day is spent waits for the next one; one that used up its own budget is dropped."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bot.budget import budget_of
from bot.record import read_record
from bot.run import RunState
from bot.show import run_text
from bot.spending import Account, DayLedger, next_day
from bot.walls import Wall
from stages.agents.limits import Limits
from stages.errors import LimitReached, ParkCause
from tests.bot.books import walls
from tests.bot.kit import TICKET, Script, bed, facts_of, lessons, silent, told


def test_sec_5_13_a_run_goes_on_with_what_a_killed_process_had_taken_for_it(tmp_path: Path) -> None:
    ground = bed(tmp_path, limits=Limits(money=2.0))
    app = ground.app()
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    account = Account(scope=run.scope, actor="", run=run.id)
    DayLedger(app.book, account, walls()).reserve(tokens=900, money=1.5, minutes=3.0)

    again = budget_of(run, "acme/one", Limits(money=2.0), (), lambda: False, DayLedger(app.book, account, walls()))

    assert (again.spent.calls, again.spent.tokens, again.spent.money) == (1, 900, 1.5)
    assert again.spent.minutes >= 3.0
    with pytest.raises(LimitReached, match="money"):
        again.before_call(money=0.6)


def test_r19_a_run_waits_for_the_next_day_when_the_day_is_spent_and_goes_on_then(tmp_path: Path) -> None:
    ground = bed(tmp_path, walls=walls(repository=Wall(calls=2)))
    script = Script.of()
    app = ground.app(script)

    run = ground.fix(app)

    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.BUDGET)
    assert run.wake == next_day(app.book.now())
    assert len(script.asked) == 2
    assert "calls of this repository's day" in run.park_reason
    assert lessons(app, run) == ()
    assert facts_of(app, run)[-1].reason == run.park_reason  # type: ignore[union-attr]
    with sqlite3.connect(ground.home / "ticketsmith.sqlite") as connection:
        connection.execute("UPDATE spending SET day = '2020-01-01'")
    again = ground.app(Script.of())
    assert again.pursue(run, silent()).state is RunState.PUBLISHED


def test_r19_a_run_that_used_up_its_own_budget_is_dropped(tmp_path: Path) -> None:
    ground = bed(tmp_path, limits=Limits(calls=2))
    app = ground.app()

    run = ground.fix(app)

    assert told(app, run) == ["final drop: budget"]


def test_sec_5_9_where_the_ledger_cannot_be_written_no_call_is_made(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    script = Script.of()
    app = ground.app(script)
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())
    with sqlite3.connect(ground.home / "ticketsmith.sqlite") as connection:
        connection.execute("ALTER TABLE spending RENAME TO kept")
        connection.execute("CREATE VIEW spending AS SELECT * FROM kept")  # can be read, and not be written

    run = app.pursue(run, silent())

    assert script.asked == []
    assert run.state is RunState.PARKED


def test_the_actor_of_a_run_is_kept_and_pays(tmp_path: Path) -> None:
    ground = bed(tmp_path, walls=walls(actor=Wall(calls=1)))
    app = ground.app()
    opened = app.open_run(TICKET, ground.repository, ground.repository.resolve(), actor="github:4711")

    run = app.pursue(opened, silent())

    assert (run.actor, run.park_cause) == ("github:4711", ParkCause.BUDGET)
    assert "github:4711" in run.park_reason
    assert " UTC for github:4711" in run_text(read_record(app.book, run.id))
