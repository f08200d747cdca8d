"""What people read on GitHub, of runs in every state; no word of a stranger is markup in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.app_settings import PublishMode
from bot.course.course import Course, PullState
from bot.course.evidence import Evidence, Used
from bot.course.markdown import fenced, plain, quoted
from bot.course.mode import Mode
from bot.course.outcomes import is_ending, said
from bot.course.texts import Now, announced, gate_lines, pull_body, pull_title, status
from bot.facts import Checked, Judged
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.run import Run, RunState
from bot.witness import outcome_of
from memory.types import (
    CheckId,
    CommitId,
    Drop,
    DropCause,
    Edit,
    Ending,
    Hold,
    HoldCause,
    NotOurs,
    NotOursCause,
    Record,
    RunId,
    TicketId,
    Verify,
    VerifyOutcome,
    Where,
)
from stages.agents.limits import Spent
from stages.errors import ParkCause
from stages.ticket import Ticket
from tests.fakes import NOW, SCOPE

MIRA = Account(id=7, login="mira", kind=AccountKind.USER)
REF = RepositoryRef(installation=3, id=70, full_name="shop/till")
PASSED = Judged(attempt=2, fixed=(CheckId("tests/test_till.py::test_sum"),), changed_lines=2, covered_lines=2)


def a_run(state: RunState = RunState.WORKING, **more: Any) -> Run:
    ticket = Ticket(id=TicketId("issue:7"), title="The sum is wrong @ada #9", body="", number=7)
    given = {
        "id": RunId("R1"), "scope": SCOPE, "ticket": ticket, "state": state, "generation": 1, "attempt": 1,
        "base": CommitId("c" * 40), "place": "", "model": "m", "level": "", "created": NOW, "updated": NOW,
    }  # fmt: skip
    return Run(**{**given, **more})


def an_edit(line: int) -> Edit:
    return Edit(path="till.py", line=line, digest="0" * 12)


def a_course(**more: Any) -> Course:
    return Course(**{"run": RunId("R1"), "ref": REF, "number": 7, "actor": MIRA, "base": "main", **more})


@pytest.mark.parametrize(
    ("run", "course", "says"),
    [
        (a_run(), a_course(), "At work: development, attempt 2"),
        (
            a_run(RunState.PARKED, park_cause=ParkCause.RULESET, park_reason="the rule creation"),
            a_course(),
            "Waits (ruleset): the rule creation",
        ),
        (
            a_run(
                RunState.PARKED, park_cause=ParkCause.TOKEN, park_reason="x", wake=datetime(2026, 11, 3, 9, tzinfo=UTC)
            ),
            a_course(),
            "goes on by itself at 2026-11-03 09:00 UTC",
        ),
        (a_run(RunState.PUBLISHED), a_course(pull=12, pull_state=PullState.OPEN), "The gate passed: see #12"),
        (a_run(RunState.PUBLISHED), a_course(pull=12, pull_state=PullState.MERGED), "Merged."),
        (a_run(RunState.PUBLISHED), a_course(pull=12, hands_off=True), "hands off"),
        (a_run(RunState.PUBLISHED), a_course(), "The gate passed"),
        (
            a_run(RunState.ENDED, outcome="not-ours: duplicate"),
            a_course(),
            "another patch that is out repairs the same",
        ),
        (a_run(RunState.ENDED, outcome="drop: [x](y)"), a_course(), "Over: drop: \\[x\\]\\(y\\)"),
        (a_run(RunState.ENDED, outcome="drop: stopped"), a_course(), "**Stopped.**"),
    ],
)
def test_the_status_says_where_the_run_stands(run: Run, course: Course, says: str) -> None:
    assert says in status(run, course, Evidence(), Now(stage="development", attempt=2))


def test_r19_the_status_shows_time_cost_and_what_memory_gave() -> None:
    used = Used(lessons=(Record(id="0a1b2c3d4e5f", lines=()),), version=4)
    run = a_run(spent=Spent(calls=3, tokens=1200, money=0.25, minutes=2.5))

    text = status(run, a_course(), Evidence(used=used), Now())

    assert "2 min 30 s" in text
    assert "$0.25, 3 calls, 1,200 tokens" in text
    assert "1 lesson, 0 notes (version 4)" in text


@pytest.mark.parametrize(
    "ending",
    [
        *(Hold(where=Where.GATE, cause=cause, attempt=1) for cause in HoldCause),
        *(Drop(cause=cause) for cause in DropCause),
        *(NotOurs(cause=cause, proof=()) for cause in NotOursCause),
        *(Verify(outcome=outcome) for outcome in VerifyOutcome),
    ],
)
def test_every_final_ending_is_said_in_a_sentence(ending: Ending) -> None:
    assert is_ending(outcome_of(ending))
    assert ": " + outcome_of(ending).partition(": ")[2] not in said(outcome_of(ending))


def test_a_run_that_is_over_tells_in_code_s_words_how_it_came_to_that() -> None:
    run = a_run(RunState.ENDED, outcome="not-ours: duplicate")

    text = status(
        run, a_course(), Evidence(told="the same failure is fixed on branch x <b>", summary="A model."), Now()
    )

    assert "\nthe same failure is fixed on branch x \\<b\\>\n" in text


def test_what_the_summary_says_already_is_not_told_twice() -> None:
    run = a_run(RunState.ENDED, outcome="drop: stopped")

    text = status(run, a_course(), Evidence(told="stopped by a person", summary="Stopped by a person."), Now())

    assert text.casefold().count("stopped by a person") == 1


def test_a_remark_is_acknowledged_without_a_stage() -> None:
    assert "**At work**" in status(a_run(), a_course(), Evidence(), Now(note="It is read.", passing=True))


def test_held_attempts_are_listed_with_their_reasons() -> None:
    held = Judged(attempt=1, cause="check", why=("tests/test_x.py::test_y failed",))

    text = status(a_run(), a_course(), Evidence(held=(held,)), Now())

    assert "1 attempt held by the gate" in text
    assert "- attempt 1, check: tests/test" in text


def test_r41_a_patch_that_is_not_pushed_is_shown_whole() -> None:
    run = a_run(RunState.PUBLISHED, patch="+a\n```\n+b\n")
    mode = Mode(mode=PublishMode.PATCH, why="CI runs setup.py")

    text = status(run, a_course(), Evidence(), Now(), mode)

    assert "Nothing was pushed: CI runs setup.py." in text
    assert "````diff\n+a\n```\n+b\n````" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [({"patch_intact": False}, "it is not shown"), ({"patch": "+" * 50_000}, "too many for a comment")],
)
def test_a_patch_that_cannot_be_shown_says_why(more: dict[str, Any], says: str) -> None:
    run = a_run(RunState.PUBLISHED, **more)

    assert says in status(run, a_course(), Evidence(), Now(), Mode(mode=PublishMode.PATCH))


@pytest.mark.parametrize(
    ("judged", "refers"),
    [
        (PASSED, "Fixes #7"),
        (replace(PASSED, still_failing=(CheckId("other"),)), "Refs #7"),
        (replace(PASSED, fixed=()), "Refs #7"),
        (None, "Refs #7"),
    ],
)
def test_r52_a_pull_request_closes_the_issue_only_when_nothing_is_left(judged: Judged | None, refers: str) -> None:
    assert pull_body(a_run(), a_course(), Evidence(judged=judged)).startswith(refers)


def test_a_pull_request_tells_cause_change_evidence_lessons_and_what_is_left() -> None:
    lesson = Record(id="0a1b2c3d4e5f", lines=(), why="same signature")
    note = Record(id="redis.md#failover", lines=(), score=0.5)
    check = Checked(check=CheckId("pytest"), on="attempt 2", exit_status=0, passed=3)
    evidence = Evidence(
        cause="<b>Off</b> by one, says @ada; closes #9",
        summary="Subtracts one.",
        judged=replace(
            PASSED, edits=(an_edit(3), an_edit(9)), flaky=(CheckId("flips"),), noticed=("look at setup.py",)
        ),
        checks=(check,),
        held=(Judged(attempt=1, cause="check"),),
        used=Used(lessons=(lesson,), notes=(note,), version=3),
    )

    body = pull_body(a_run(), a_course(), evidence, "CI runs setup.py")

    heads = [line for line in body.splitlines() if line.startswith("## ")]
    assert heads == ["## Cause", "## Change", "## Evidence", "## Lessons used", "## What is left"]
    assert "`0a1b2c3d4e5f`: same signature" in body
    assert "`redis.md#failover`, score 0.50" in body
    assert "| `pytest` | attempt 2 | exit 0, 3 passed, 0 failed |" in body
    assert "- look at setup.py" in body
    assert "- `till.py`, line 3, 9" in body
    assert "> \\<b\\>Off\\</b\\> by one, says \\@ada; closes \\#9" in body
    assert "Asked for by `mira`" in body


def test_what_the_gate_saw_is_told_also_of_a_run_that_it_has_not_judged() -> None:
    assert gate_lines(Evidence()) == ["- The gate has not judged."]


def test_r57_the_title_of_a_pull_request_is_one_line_in_the_issues_own_words() -> None:
    ticket = Ticket(id=TicketId("issue:7"), title="价格\n错误", body="", number=7)

    assert pull_title(replace(a_run(), ticket=ticket)) == "Fix: 价格 错误"
    assert pull_title(replace(a_run(), ticket=replace(ticket, title="\u200b"))) == "Fix issue 7"


def test_an_announcement_names_the_run_and_how_to_end_it() -> None:
    assert "`R1`" in announced("R1", waits=True)


def test_text_of_strangers_is_no_markup() -> None:
    assert plain("a `b` <i>\nc") == "a \\`b\\` \\<i\\> c"
    assert quoted("x\n---\n===\n- y\n 1. z") == ["> x", "> \\---", "> \\===", "> \\- y", ">  1\\. z"]
    assert quoted("x\ny\nz", 1) == ["> x", "> (+2 lines)"]
    assert fenced("a")[0] == "```"
