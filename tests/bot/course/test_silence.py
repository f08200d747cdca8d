"""R-39: where CI keeps silent, the pull request says so within minutes, and no longer when it speaks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import pytest

from bot.course.points import CourseStep, Moment
from bot.course.silence import BEGIN_WITHIN, LOOKED_FOR
from bot.engine.outcome import Outcome, Settled, Waits
from bot.job import JobKind
from tests.bot.course.kept import Copies
from tests.bot.course.test_pausing import Died, later
from tests.bot.course.town import Town
from tests.bot.kit import writes
from tests.github_server.state import Issue

SAID: Final = "**Nothing checks this commit yet.**"
WORKFLOW: Final = {".github/workflows/ci.yml": "name: CI\non: [push, pull_request]\njobs: {}\n"}
NIGHTLY: Final = {".github/workflows/ci.yaml": "name: CI\non: { schedule: [{ cron: '0 3 * * *' }] }\njobs: {}\n"}


def look(town: Town, issue: Issue, after: timedelta = BEGIN_WITHIN) -> Outcome:
    """What is found so long after the push."""
    later(town, after)
    (*_, job) = [one for one in town.jobs.of_issue(town.shop.id, issue.number) if one.kind is JobKind.CHECKS]
    return town.take(job)


def test_r39_five_minutes_without_a_check_are_told_in_the_pull_request_once(solved: Copies) -> None:
    town, issue = solved(files=WORKFLOW)
    before = town.pull().body

    first = look(town, issue)
    body, edits = town.pull().body, len(town.github.asked("PATCH .*/pulls/.*"))
    again = look(town, issue, BEGIN_WITHIN * 3)

    assert SAID not in before
    assert body.count(SAID) == 1
    assert "wait for somebody to approve them" in body
    assert "the token of a job" in body
    assert isinstance(first, Waits)
    assert isinstance(again, Waits)
    assert (town.pull().body, len(town.github.asked("PATCH .*/pulls/.*"))) == (body, edits)
    assert len(town.comments(issue)) == 1
    town.check()


def test_r39_before_five_minutes_nothing_is_looked_at_and_no_worker_sleeps(found: Callable[..., Town]) -> None:
    town = found(files=WORKFLOW)
    issue = town.solved()
    asked = town.github.api_requests

    waits = look(town, issue, BEGIN_WITHIN - timedelta(minutes=1))

    assert isinstance(waits, Waits)
    assert town.github.api_requests == asked
    assert SAID not in town.pull().body


def test_r39_when_checks_arrive_later_the_sentence_goes(solved: Copies) -> None:
    town, issue = solved(files=WORKFLOW)
    before = town.pull().body
    look(town, issue)
    assert SAID in town.pull().body

    town.github.people.check(town.shop, town.course(issue).pushed or "", None)
    outcome = look(town, issue, BEGIN_WITHIN * 2)

    assert outcome == Settled(outcome="checks began")
    assert town.pull().body == before
    assert town.course(issue).unchecked is None
    town.check()


@pytest.mark.parametrize("files", [{}, NIGHTLY], ids=["no workflow", "one that no push starts"])
def test_r39_where_nothing_is_to_check_it_nothing_is_said(solved: Copies, files: dict[str, str]) -> None:
    town, issue = solved(files=files)

    outcome = look(town, issue)

    assert outcome == Settled(outcome="nothing checks this repository")
    assert SAID not in town.pull().body


def test_r39_a_base_that_was_checked_is_reason_enough_and_our_own_check_is_none(solved: Copies) -> None:
    town, issue = solved()
    town.github.people.check(town.shop, town.run(issue).base, "success")

    look(town, issue)

    assert SAID in town.pull().body


def test_r39_the_next_commit_begins_without_the_sentence_and_is_looked_at_by_itself(solved: Copies) -> None:
    town, issue = solved(files=WORKFLOW, refix=writes(text="3\n\n"))
    look(town, issue)
    (old,) = [one for one in town.jobs.of_issue(town.shop.id, issue.number) if one.kind is JobKind.CHECKS]

    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.drain()

    assert SAID not in town.pull().body
    assert isinstance(town.take(old), Settled)
    look(town, issue, BEGIN_WITHIN * 2)
    assert SAID in town.pull().body
    town.check()


def test_r39_a_pull_request_that_was_closed_meanwhile_is_not_made_again(solved: Copies) -> None:
    town, issue = solved(files=WORKFLOW)
    town.github.hooks.url = ""  # GitHub tells late
    town.github.people.close(town.shop, town.pull(), town.ada)

    outcome = look(town, issue)

    assert outcome == Settled(outcome="not done: NotOurs")
    assert [one.state for one in town.pulls()] == ["closed"]


def test_r39_it_is_looked_at_ever_less_often_and_not_for_ever(solved: Copies) -> None:
    town, issue = solved(files=WORKFLOW)

    soon, late = look(town, issue), look(town, issue, timedelta(days=1))
    last = look(town, issue, LOOKED_FOR)

    assert isinstance(soon, Waits)
    assert isinstance(late, Waits)
    assert late.until - soon.until > timedelta(days=1, hours=5)
    assert last == Settled(outcome="nothing checks it")
    assert SAID in town.pull().body


@pytest.mark.parametrize("moment", [Moment.BEFORE_EFFECT, Moment.AFTER_EFFECT])
def test_r39_f41_a_death_while_it_is_said_says_it_once(solved: Copies, moment: Moment) -> None:
    def dies(step: CourseStep, here: Moment) -> None:
        if (step, here) == (CourseStep.SILENCE, moment):
            town.reached = lambda *_: None
            raise Died

    town, issue = solved(files=WORKFLOW)
    town.reached = dies

    with pytest.raises(Died):
        look(town, issue)
    look(town, issue)

    assert town.pull().body.count(SAID) == 1
    assert town.course(issue).unchecked == town.course(issue).pushed
    town.check()
