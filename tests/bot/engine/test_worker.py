"""Jobs are taken in turn, none is lost, and none is done for ever."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.engine.outcome import Outcome, Settled, ToWork, Waits
from bot.engine.taken import TakenJobs, Takes
from bot.engine.worker import BURIALS_AT_MOST, PATIENCE, TAKES_AT_MOST, Chore
from bot.job import Job, JobState
from memory.database import DatabaseLocked
from tests.bot.engine.kit import FAST, SECONDS_AT_MOST, Plan, Shop, wish


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def done(shop: Shop, count: int) -> None:
    def all_over() -> bool:
        states = [*shop.states(), *shop.states(repository=71)]
        return states.count("done") + states.count("dead") == count

    shop.wait(all_over)


def test_r5_jobs_of_one_repository_are_worked_on_one_after_the_other_and_of_two_together(shop: Shop) -> None:
    def act(what: str, _: Job) -> Outcome:
        if what == "receive":
            return ToWork()
        time.sleep(0.3)
        return Settled(outcome="done")

    plan = Plan(act=act)
    for number in (1, 2, 3):
        wish(shop.jobs, number)
    wish(shop.jobs, 1, repository=71)

    with shop.working(plan):
        done(shop, 4)

    till = [
        (began, ended) for repository, began, ended in sorted(plan.spans, key=lambda span: span[1]) if repository == 70
    ]
    other = next((began, ended) for repository, began, ended in plan.spans if repository == 71)
    assert [number for what, number in plan.called if what == "work"].count(1) == 2
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(till))
    assert other[0] < till[-1][0]


def test_jobs_of_one_issue_are_taken_in_the_order_in_which_they_came(shop: Shop) -> None:
    plan = Plan(act=lambda *_: Settled(outcome="done"))
    for number in range(12):
        wish(shop.jobs, 1, more=f"/{number}")

    with shop.working(plan):
        done(shop, 12)

    assert plan.ids == sorted(plan.ids)


def test_a_job_that_waits_is_not_lost_when_a_process_dies_on_its_way_into_the_queue(shop: Shop) -> None:
    wish(shop.jobs)
    job = shop.jobs.waiting()[0].id
    shop.jobs.taken(job)
    shop.taken.let_go(job, shop.now() - timedelta(minutes=1))

    shop.taken.next_round(job)  # and no further
    with shop.working(Plan()):
        done(shop, 1)

    assert shop.states() == ["done"]


def test_a_job_that_was_worked_on_before_it_was_written_down_waits_for_its_new_time(shop: Shop) -> None:
    wish(shop.jobs)
    job = shop.jobs.waiting()[0].id
    taken = shop.taken.next_round(job)

    shop.taken.let_go(job, shop.now() - timedelta(minutes=1))
    shop.taken.queued(taken)

    assert shop.taken.due() == (job,)


def test_r13_a_job_is_received_while_a_run_of_its_repository_is_at_work(shop: Shop) -> None:
    release = threading.Event()

    def act(what: str, job: Job) -> Outcome:
        if what == "work" and job.number == 1:
            assert release.wait(SECONDS_AT_MOST)
        return ToWork() if what == "receive" else Settled(outcome="done")

    plan = Plan(act=act)
    wish(shop.jobs, 1)

    with shop.working(plan):
        shop.wait(lambda: ("work", 1) in plan.called)
        wish(shop.jobs, 2)
        shop.wait(lambda: ("receive", 2) in plan.called)
        worked = [number for what, number in plan.called if what == "work"]
        release.set()
        done(shop, 2)

    assert worked == [1]


def test_f13_a_job_that_waits_frees_the_worker_and_is_taken_again_when_its_time_has_come(shop: Shop) -> None:
    plan = Plan()

    def act(_: str, job: Job) -> Outcome:
        if plan.called.count(("receive", 1)) == 1 and job.number == 1:
            return Waits(until=shop.now() + timedelta(seconds=1), why="a limit")
        return Settled(outcome="done")

    plan.act = act
    wish(shop.jobs, 1)
    wish(shop.jobs, 2)

    with shop.working(plan):
        done(shop, 2)

    assert plan.called.count(("receive", 1)) == 2
    assert shop.jobs.of_issue(70, 2)[0].state is JobState.DONE


def test_r17_f45_a_job_that_always_fails_is_given_up_after_five_tries_and_the_others_go_on(shop: Shop) -> None:
    def act(_: str, job: Job) -> Outcome:
        if job.number == 1:
            raise ZeroDivisionError
        return Settled(outcome="done")

    plan = Plan(act=act)
    wish(shop.jobs, 1)
    wish(shop.jobs, 2)

    with shop.working(plan):
        done(shop, 2)

    assert (plan.buried, plan.called.count(("receive", 1))) == ([1], 5)
    assert [job.state for number in (1, 2) for job in shop.jobs.of_issue(70, number)] == [JobState.DEAD, JobState.DONE]
    assert "came no step further" in shop.jobs.of_issue(70, 1)[0].outcome
    assert "ZeroDivisionError" in shop.log.getvalue()


@dataclass
class Broken(Plan):
    """A course that has a fault at the place that the test names."""

    place: str = ""

    def progress(self, job: Job) -> int:
        return 1 // (self.place != "progress")

    def bury(self, job: Job, why: str) -> None:
        super().bury(job, why)
        assert why.endswith("came no step further")
        _ = 1 // (self.place != "bury")


@pytest.mark.parametrize(
    ("place", "buried"), [("progress", 0), ("bury", BURIALS_AT_MOST)], ids=["counting its steps", "giving it up"]
)
def test_f45_a_fault_anywhere_in_a_job_ends_no_worker_and_the_job_is_dead_at_last(
    shop: Shop, place: str, buried: int
) -> None:
    def act(_: str, __: Job) -> Outcome:
        raise ZeroDivisionError("of the course")

    wish(shop.jobs, 1)

    with shop.working(plan := Broken(act=act, place=place)):
        done(shop, 1)

    (job,) = shop.jobs.of_issue(70, 1)
    assert (job.state, len(plan.buried)) == (JobState.DEAD, buried)
    assert "came no step further" in job.outcome
    assert shop.log.getvalue().count('"event":"job failed"') == TAKES_AT_MOST + BURIALS_AT_MOST
    assert "ZeroDivisionError" in shop.log.getvalue()
    assert "test_worker.py" in shop.log.getvalue(), "it says where"


@pytest.mark.parametrize("what", ["queue", "queue again"])
def test_a_job_that_cannot_be_read_keeps_no_other_one_back_and_does_not_fill_the_log(shop: Shop, what: str) -> None:
    wish(shop.jobs, 1)
    (unreadable,) = shop.jobs.waiting()
    if what == "queue again":
        shop.jobs.taken(unreadable.id)
        shop.taken.let_go(unreadable.id, shop.now() - timedelta(minutes=1))
    with shop.book.writing() as session:
        session.execute(text("update job set data = '[]' where number = 1"))
    wish(shop.jobs, 2)

    with shop.working(plan := Plan(), rhythm=replace(FAST, again=timedelta(minutes=1))):
        shop.wait(lambda: ("work", 2) in plan.called)
        time.sleep(FAST.look_seconds * 5)

    assert shop.log.getvalue().count(f'"do":"{what}"') == 1


class Locked(TakenJobs):
    """A table that is locked the first two times that a failure is written down."""

    failures = 0

    def failed(self, job: int, wake: datetime) -> None:
        self.failures += 1
        if self.failures < 3:
            raise DatabaseLocked(path="here")
        super().failed(job, wake)


def test_what_a_job_failed_of_is_held_on_to_until_it_can_be_written_down(shop: Shop) -> None:
    shop.taken = taken = Locked(shop.book)

    def act(_: str, __: Job) -> Outcome:
        if not taken.failures:
            raise ZeroDivisionError
        return Settled(outcome="done")

    wish(shop.jobs, 1)

    with shop.working(Plan(act=act)):
        done(shop, 1)

    assert (taken.failures, shop.states()) == (3, ["done"])
    assert shop.log.getvalue().count("not written down") == 2


def test_a_fault_of_a_chore_ends_no_worker(shop: Shop) -> None:
    counted: list[str] = []

    def fails() -> None:
        counted.append("fails")
        raise ZeroDivisionError

    chores = (
        Chore(name="fails", every=timedelta(), do=fails),
        Chore(name="often", every=timedelta(), do=lambda: counted.append("often")),
    )

    with shop.working(Plan(), chores=chores):
        shop.wait(lambda: counted.count("often") >= 3 and counted.count("fails") >= 3)

    assert '"event":"failed","do":"fails"' in shop.log.getvalue()


def test_a_job_that_comes_further_each_time_is_not_given_up(shop: Shop) -> None:
    plan = Plan()

    def act(_: str, __: Job) -> Outcome:
        plan.steps += 1
        if plan.steps < 12:
            raise ZeroDivisionError
        return Settled(outcome="done")

    plan.act = act
    wish(shop.jobs, 1)

    with shop.working(plan):
        done(shop, 1)

    assert (plan.buried, len(plan.called)) == ([], 12)


def test_a_job_that_was_interrupted_is_taken_again_by_the_next_worker(shop: Shop) -> None:
    plan, second = Plan(act=shop.interrupted), Plan()
    wish(shop.jobs, 1)
    with shop.working(plan):
        shop.wait(lambda: ("work", 1) in plan.called)

    was_put_down = bool(shop.taken.due())  # else it is taken over at its work
    shop.leaving.clear()
    with shop.working(second):
        done(shop, 1)

    assert second.called == [*([("receive", 1)] if was_put_down else []), ("work", 1)]
    assert shop.jobs.of_issue(70, 1)[0].outcome == "done"


def test_a_chore_is_done_by_one_worker_at_its_time_and_may_fail(shop: Shop) -> None:
    counted: list[str] = []

    def fails() -> None:
        counted.append("fails")
        raise FileNotFoundError(2, "No such file")

    chores = (
        Chore(name="often", every=timedelta(), do=lambda: counted.append("often")),
        Chore(name="once", every=timedelta(days=1), do=lambda: counted.append("once")),
        Chore(name="fails", every=timedelta(days=1), do=fails),
    )

    with shop.working(Plan(), chores=chores):
        shop.wait(lambda: counted.count("often") >= 3)

    assert (counted.count("once"), counted.count("fails")) == (1, 1)
    assert "could not" in shop.log.getvalue()


PROCESS = """
import os, sys, time
from pathlib import Path
from bot.engine.outcome import Settled, ToWork
from memory.database import DatabaseLocked
from tests.bot.engine.kit import Plan, Shop
home, log, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
def act(what, job):
    with open(log, "a") as file:
        file.write(f"{what} {job.number}\\n")
    if what == "work" and mode == "hang":
        time.sleep(60)
    return ToWork() if what == "receive" else Settled(outcome=mode)
Shop(home).worker(Plan(act=act)).run()
"""


def process(shop: Shop, log: Path, mode: str) -> subprocess.Popen[bytes]:
    """A worker in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(shop.home), str(log), mode],
        cwd=Path(__file__).parents[3],
        stderr=subprocess.DEVNULL,
    )


def test_f42_what_a_killed_process_had_in_hands_is_taken_over(shop: Shop, tmp_path: Path) -> None:
    log = tmp_path / "log"
    wish(shop.jobs, 1)
    wish(shop.jobs, 2)
    first = process(shop, log, "hang")
    shop.wait(lambda: log.exists() and "work" in log.read_text())
    first.send_signal(signal.SIGKILL)
    first.wait()

    with shop.working(plan := Plan()):
        done(shop, 2)

    assert sorted(number for what, number in plan.called if what == "work") == [1, 2]
    assert "took over" in shop.log.getvalue()


def freeze(process: subprocess.Popen[bytes], home: Path) -> None:
    """Stop it where it holds no lock: while one does that writes, nobody else can write at all."""
    for _ in range(200):
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        if all(map(may_be_written, home.glob("*.sqlite"))):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    raise AssertionError("it always writes")


def may_be_written(file: Path) -> bool:
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


def test_r17_f43_what_a_frozen_process_had_in_hands_is_taken_over(shop: Shop, tmp_path: Path) -> None:
    log = tmp_path / "log"
    wish(shop.jobs, 1)
    first = process(shop, log, "hang")
    shop.wait(lambda: log.exists() and "work" in log.read_text())
    try:
        freeze(first, shop.home)
        with shop.working(plan := Plan()):
            done(shop, 1)
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()

    assert plan.called == [("work", 1)]


def taken(shop: Shop, *, progress: int) -> Takes:
    shop.taken.take(1)
    return shop.taken.came_to(1, progress)


def test_f45_a_job_whose_workers_are_ended_by_somebody_else_is_not_given_up_at_once(shop: Shop) -> None:
    takes = [taken(shop, progress=3) for _ in range(8)]
    now = shop.book.now()
    shop.book.now = lambda: now + timedelta(minutes=6)

    later = taken(shop, progress=3)
    further = taken(shop, progress=4)

    assert [take.count for take in takes] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert takes[-1].lasting < PATIENCE <= later.lasting
    assert (further.count, further.lasting) == (1, timedelta())
