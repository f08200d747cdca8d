"""Whole processes: they work, die, are told to leave, and lose nothing."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from bot.run import RunState
from tests.bot.course.process import log_of, start
from tests.bot.course.town import Town
from tests.bot.kit import SETTINGS
from tests.github_server.state import Issue

SECONDS_AT_MOST: Final = 60.0
SLOW: Final = SETTINGS.replace('"! grep', '"touch $PWD/began; sleep 40; ! grep')


@contextmanager
def worker(town: Town) -> Iterator[subprocess.Popen[bytes]]:
    process = start(town)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait(town: Town, until: Callable[[], bool]) -> None:
    ends = time.monotonic() + SECONDS_AT_MOST
    while not until():
        assert time.monotonic() < ends, log_of(town)
        time.sleep(0.1)


def is_out(town: Town, issue: Issue) -> bool:
    return town.own_labels(issue) == ["ticketsmith:pr"] and "The gate passed" in "".join(town.comments(issue))


def is_at_work(town: Town, issue: Issue) -> bool:
    return any(run.state is RunState.WORKING and run.level for run in town.app.stores.runs.list())


def test_a_worker_takes_what_arrives_and_leaves_when_it_is_told(town: Town) -> None:
    with worker(town) as process:
        issue = town.labelled()
        wait(town, lambda: is_out(town, issue))
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        status = process.wait(SECONDS_AT_MOST)

    assert status == 0
    assert time.monotonic() - began < 30
    assert '"event":"worker left"' in log_of(town)
    town.check()


def test_f42_a_worker_that_is_killed_at_work_is_followed_by_one_that_ends_it(town: Town) -> None:
    with worker(town):
        issue = town.labelled()
        wait(town, lambda: is_at_work(town, issue))

    with worker(town):
        wait(town, lambda: is_out(town, issue))

    assert (len(town.pulls()), len(town.comments(issue)), len(town.branches())) == (1, 1, 1)
    assert "took over" in log_of(town)
    town.check()


def test_a_command_to_stop_interrupts_what_is_running(found: Callable[..., Town]) -> None:
    town = found(files={".github/ticketsmith.toml": SLOW})
    with worker(town):
        issue = town.labelled()
        wait(town, lambda: is_at_work(town, issue))
        began = time.monotonic()
        town.say(issue, "/ticketsmith stop")
        wait(town, lambda: town.own_labels(issue) == ["ticketsmith:dropped"])

    assert time.monotonic() - began < 25
    assert town.run(issue).outcome == "drop: stopped"
    town.check()


def test_a_worker_that_is_told_to_leave_puts_its_work_down_for_the_next_one(found: Callable[..., Town]) -> None:
    town = found(files={".github/ticketsmith.toml": SLOW.replace("sleep 40", "test -e ../../../go || sleep 40")})
    with worker(town) as process:
        issue = town.labelled()
        wait(town, lambda: is_at_work(town, issue))
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        status = process.wait(SECONDS_AT_MOST)
    left = town.run(issue)

    assert (status, left.state) == (0, RunState.WORKING)
    assert time.monotonic() - began < 30
    town.check()
