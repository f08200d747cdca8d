"""While a run works, a person sees where it stands: on a terminal by one moving line, elsewhere by plain lines."""

from __future__ import annotations

import io
import os

import pytest

from bot.facts import Checked, Decided, Judged
from bot.node import Look
from bot.progress import Progress
from bot.terminal import Terminal
from memory.types import CheckId
from stages.journal import ToolUsed
from tests.bot.small_disk import NoRoom

USED = ToolUsed(tool="edit", arguments="{}", result="", refused=False)


def test_a_pipe_gets_one_plain_line_for_each_thing() -> None:
    pipe = io.StringIO()

    with Progress(Terminal(pipe)) as progress:
        progress.stage("triage")
        progress.fact(Decided(what="ours", because="till.py exists"))
        progress.fact(Checked(check=CheckId("pytest"), on="the base commit", exit_status=0))
        progress.attempt(1)
        progress.stage("develop")
        progress.fact(USED)
        progress.attempt(2)
        progress.stage("refix")
        progress.fact(Judged(attempt=2, noticed=("look at this first: tests: till.py",)))
        progress.note("a line")
        progress.done("Published.")

    assert pipe.getvalue().splitlines() == [
        "Triage",
        "  → ours, because till.py exists",
        "Develop",
        "Refix, attempt 2",
        "  Attempt 2 passes",
        "    look at this first: tests: till.py",
        "  a line",
        "Published.",
    ]


def test_a_terminal_has_a_moving_line_and_keeps_how_long_each_stage_took() -> None:
    screen, clock = io.StringIO(), iter([0.0, 1.5, 1.5, 4.0])

    with Progress(Terminal(screen, live=True, width=80), clock=lambda: next(clock)) as progress:
        progress.stage("own-stage")
        progress.fact(USED)
        progress.fact(USED)
        progress.stage("gate")
        progress.done()

    text = screen.getvalue()
    assert "Own stage · 1.5 s" in text
    assert "Gate · 2.5 s" in text
    assert "\x1b[?25l" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


def test_the_moving_line_goes_away_when_the_work_breaks() -> None:
    screen = io.StringIO()

    def work() -> None:
        with Progress(Terminal(screen, live=True, width=80)) as progress:
            progress.stage("triage")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()

    text = screen.getvalue()
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


def test_tool_calls_before_any_stage_move_nothing() -> None:
    screen = io.StringIO()

    Progress(Terminal(screen, live=True, width=80)).fact(USED)

    assert screen.getvalue() == ""


def test_a_line_can_be_made_to_stand_out() -> None:
    screen = io.StringIO()

    Progress(Terminal(screen, live=True, width=80)).done("Held.", Look.BAD)

    assert "\x1b[31m" in screen.getvalue()


def test_a_run_goes_on_where_nobody_can_be_told() -> None:
    full = NoRoom()

    with Progress(Terminal(full)) as progress:
        progress.stage("triage")
        progress.fact(Decided(what="ours"))
        progress.done("Published.")

    assert full.tried == 1


def test_a_pipe_that_nobody_reads_any_more_is_no_end_of_the_run() -> None:
    read, write = os.pipe()
    os.close(read)

    pipe = os.fdopen(write, "w")
    with Progress(Terminal(pipe)) as progress:
        progress.stage("triage")
        progress.done("Published.")

    with pytest.raises(BrokenPipeError):  # it is such a pipe
        pipe.close()
