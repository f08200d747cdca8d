"""Who is alive, and who may write for a run."""

from __future__ import annotations

import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from bot.book import Book
from bot.engine.fence import Fence
from bot.engine.leases import Leases, Process, WorkerId
from bot.errors import Fenced, Interrupted
from bot.run import Opening, Run
from bot.runs import RunStore
from memory.types import CommitId
from tests.bot.engine.kit import open_book
from tests.fakes import SCOPE, Clock, ticket


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return open_book(tmp_path)


def elsewhere(name: str = "a") -> WorkerId:
    """A worker on another machine, of which only its beats are known."""
    return WorkerId(f"other:1/1/1/{name}")


def test_r17_a_worker_that_is_silent_for_too_long_is_dead(book: Book) -> None:
    clock = Clock()
    leases = Leases(book, silent_seconds=30.0, clock=clock)
    leases.beat(elsewhere("silent"))
    leases.beat(elsewhere("alive"))
    assert leases.dead() == ()

    clock.sleep(31.0)
    leases.beat(elsewhere("alive"))

    assert leases.dead() == (elsewhere("silent"),)


def test_f51_a_clock_that_jumps_a_day_lets_no_lease_expire(book: Book) -> None:
    clock, now = Clock(), book.now()
    leases = Leases(book, silent_seconds=30.0, clock=clock)
    leases.beat(elsewhere())
    leases.dead()

    book.now = lambda: now.replace(year=now.year + 1)
    clock.sleep(10.0)

    assert leases.dead() == ()


def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(book: Book) -> None:
    leases, me = Leases(book), Process.this()
    child = subprocess.Popen(["sleep", "60"])
    gone = replace(me, pid=child.pid).worker()
    child.kill()
    child.wait()
    for worker in (gone, me.worker()):
        leases.beat(worker)

    assert leases.dead() == (gone,)


def test_a_process_id_that_was_given_again_is_another_process(book: Book) -> None:
    leases = Leases(book)
    before = replace(Process.this(), born="1").worker()
    leases.beat(before)

    assert leases.dead() == (before,)


def test_a_lease_that_is_dropped_is_forgotten(book: Book) -> None:
    leases = Leases(book, silent_seconds=-1.0)
    leases.beat(elsewhere())

    leases.drop(elsewhere())
    leases.drop(elsewhere())

    assert leases.dead() == ()


def a_run(book: Book) -> Run:
    opening = Opening(scope=SCOPE, ticket=ticket(), base=CommitId("0" * 40), place="")
    return RunStore(book).create(opening)


def test_f43_a_process_that_woke_after_another_one_took_the_run_may_write_no_more(book: Book) -> None:
    run, runs = a_run(book), RunStore(book)
    frozen, second = Fence(runs, threading.Event()), Fence(runs, threading.Event())
    frozen.take(run.id)
    frozen.check(run.id)

    taken = second.take(run.id)

    second.check(run.id)
    with pytest.raises(Fenced, match="taken over by another process"):
        frozen.check(run.id)
    assert taken.epoch == 2


def test_a_process_that_is_to_leave_stops_writing(book: Book) -> None:
    leaving = threading.Event()
    fence = Fence(RunStore(book), leaving)
    run = a_run(book)
    fence.take(run.id)

    leaving.set()

    with pytest.raises(Interrupted, match="goes on when it is started again"):
        fence.check(run.id)
