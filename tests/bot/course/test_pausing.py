"""R-25: a repository whose tickets fail alike is paused, which is told once, and one ticket tries now and then."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from bot.app import App
from bot.book import utc_now
from bot.cli import ticketsmith
from bot.course.breaker import PAUSE, Breaker
from bot.course.breakers import BreakerStore
from bot.course.office import taking
from bot.course.points import CourseStep, Moment
from bot.doctor import Doctor
from bot.engine.outcome import Outcome, Settled, Waits
from bot.job import JobState
from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.prompt import EntryPoint
from tests.bot.course.kept import Beginning, Copies
from tests.bot.course.town import Town
from tests.bot.kit import ANSWERS, NOTHING, Act, Script
from tests.github_server.state import Issue

NO_KEY: Act = Parked(cause=ParkCause.TOKEN, reason="no key")


class Died(Exception):
    """What a process dies of."""


def without_key(**more: Act) -> Script:
    return Script.of(triage=NO_KEY, **more)


def with_key(town: Town) -> None:
    town.script.answers[EntryPoint.TRIAGE] = [ANSWERS[EntryPoint.TRIAGE]]


def three_fail(town: Town) -> list[Issue]:
    """Three tickets, one after the other, that fail of the same."""
    return [town.solved(title=f"The price is wrong, number {number}") for number in (1, 2, 3)]


THREE_FAIL: Final = Beginning(happens=three_fail, script=without_key)


def breaker(town: Town) -> Breaker:
    return BreakerStore(town.app.book).of(town.ref)


def paused_lines(town: Town) -> int:
    return town.log.getvalue().count('"event":"repository paused"')


def later(town: Town, by: timedelta) -> None:
    """The program's clock is so far ahead from now on."""

    def ahead(app: App) -> App:
        app.book.now = lambda: utc_now() + by
        return app

    made = town.working.office.app
    town.office = replace(town.office, app=lambda guard: ahead(made(guard)))


def take_again(town: Town, issue: Issue) -> Outcome:
    """The newest job of an issue once more, as at its wake time."""
    return town.take(town.jobs.of_issue(town.shop.id, issue.number)[-1])


def test_r25_three_tickets_that_fail_alike_pause_the_repository_and_it_is_told_once(after: Copies) -> None:
    town, failed = after(THREE_FAIL)
    asked = len(town.script.asked)

    waiting = [town.labelled(title=f"And another one, number {number}") for number in (4, 5)]
    outcomes = town.drain()

    assert [one.why for one in outcomes if isinstance(one, Waits)] == ["paused: token", "paused: token"]
    assert len(town.script.asked) == asked, "no model is asked for those that wait"
    assert paused_lines(town) == 1
    told = ["The work on this repository is paused" in "".join(town.comments(issue)) for issue in failed]
    assert told == [False, False, True]
    assert all("It waits: the work on this repository is paused" in town.comments(issue)[0] for issue in waiting)
    assert [len(town.comments(issue)) for issue in (*failed, *waiting)] == [1] * 5
    assert all("a credential is missing" in one for issue in waiting for one in town.comments(issue))
    town.check()


def test_r25_when_its_time_has_come_one_ticket_tries_and_all_go_on_when_it_comes_through(
    after: Copies,
) -> None:
    town, _ = after(THREE_FAIL)
    waiting = [town.labelled(title=f"And another one, number {number}") for number in (4, 5)]
    town.drain()
    town.again()  # a new process knows it too
    later(town, PAUSE)

    failing_try = take_again(town, waiting[0])
    assert isinstance(failing_try, Waits)
    assert (breaker(town).tries, breaker(town).probe) == (1, None)
    assert isinstance(take_again(town, waiting[1]), Waits), "the pause is twice as long now"
    with_key(town)
    later(town, PAUSE * 4)
    outcomes = [take_again(town, waiting[0]), take_again(town, waiting[1])]

    assert [one.outcome[:9] for one in outcomes if isinstance(one, Settled)] == ["published", "published"]
    assert breaker(town) == Breaker()
    assert paused_lines(town) == 1
    assert '"event":"repository goes on"' in town.log.getvalue()
    town.check()


def test_r25_a_person_s_retry_tries_at_once_and_takes_the_run_that_waits(after: Copies) -> None:
    town, _ = after(THREE_FAIL)
    waiting = town.labelled(title="And another one")
    town.drain()
    with_key(town)

    town.say(waiting, "/ticketsmith retry")
    town.drain()

    assert town.run(waiting).state is RunState.PUBLISHED
    assert not breaker(town).paused
    assert [body.startswith("**The gate passed") for body in town.comments(waiting)] == [True, False]
    take_again(town, waiting)
    assert len(town.pulls()) == 1
    town.check()


def test_r25_tickets_that_are_given_up_for_what_they_are_pause_nothing_and_break_the_row(
    found: Callable[..., Town],
) -> None:
    town = found(script=Script.of(triage=[NO_KEY, NO_KEY, ANSWERS[EntryPoint.TRIAGE], NO_KEY], develop=NOTHING))

    issues = [town.solved(title=f"The price is wrong, number {number}") for number in (1, 2, 3, 4)]

    assert town.run(issues[2]).outcome == "drop: empty-patch"
    assert (breaker(town).paused, breaker(town).tickets) == (False, (issues[3].number,))
    assert paused_lines(town) == 0


@pytest.mark.parametrize("moment", [Moment.BEFORE_EFFECT, Moment.AFTER_EFFECT])
def test_r25_f41_a_death_between_the_failure_and_its_count_counts_it_once_and_tells_it_once(
    found: Callable[..., Town], moment: Moment
) -> None:
    def dies(step: CourseStep, here: Moment) -> None:
        if (step, here) == (CourseStep.COUNT, moment):
            town.reached = lambda *_: None
            raise Died

    town = found(script=without_key(), app_settings={"pause_after": 2})
    town.solved(title="The price is wrong, number 1")
    second = town.labelled(title="The price is wrong, number 2")
    town.reached = dies
    with pytest.raises(Died):
        town.drain()

    town.again()
    take_again(town, second)
    take_again(town, second)

    assert breaker(town).tickets == (1, 2)
    assert paused_lines(town) == 1
    assert "The work on this repository is paused" in town.comments(second)[0]
    assert len(town.comments(second)) == 1
    town.check()


def test_what_was_announced_and_waits_can_be_stopped_before_it_begins(after: Copies) -> None:
    town, _ = after(THREE_FAIL)
    waiting = town.labelled(title="And another one")
    town.drain()
    (job,) = town.jobs.of_issue(town.shop.id, waiting.number)
    with_key(town)

    town.say(waiting, "/ticketsmith stop")
    town.drain()
    labels = town.own_labels(waiting)
    later(town, PAUSE)
    at_work = town.take(job)  # by a worker that had it in its hands just then

    assert town.jobs.get(job.id).state is JobState.DONE
    assert at_work == Settled(outcome="stopped before it began")
    status, answer = town.comments(waiting)
    assert status.startswith("**Stopped before it began.**")
    assert "had not begun, and will not" in answer
    assert labels == ["ticketsmith:dropped"]
    assert town.courses_of(waiting) == ()
    town.check()


def test_a_ticket_that_waited_long_is_asked_for_again_before_it_costs_anything(after: Copies) -> None:
    town, _ = after(THREE_FAIL)
    waiting = town.labelled(title="And another one")
    town.drain()
    with_key(town)
    asked = len(town.script.asked)

    town.github.hooks.url = ""  # GitHub tells late
    town.github.people.unlabel(town.shop, waiting, town.ada)
    later(town, PAUSE * 2)
    take_again(town, waiting)

    assert town.run(waiting).outcome == "drop: stopped"
    assert len(town.script.asked) == asked
    assert breaker(town).probe is None
    town.check()


def test_r25_another_repository_goes_on(after: Copies) -> None:
    town, _ = after(THREE_FAIL)
    with_key(town)
    paused = town.labelled(title="And another one")
    files = {path: town.file("main", path) for path in (".github/ticketsmith.toml", "price.txt")}
    bakery = town.github.repository("bakery", files=files, roles={town.ada: "write"}, private=True)

    issue = town.github.people.issue(bakery, town.ada, "The price is wrong", "price.txt says 1, we agreed on 3.")
    town.github.people.label(bakery, issue, town.ada)
    town.drain()

    assert [one.state for one in bakery.issues.values() if one.pull] == ["open"]
    assert town.courses_of(paused) == ()
    assert breaker(town).paused
    town.check()


def test_r25_f12_where_no_run_can_even_be_received_that_counts_too(found: Callable[..., Town]) -> None:
    town = found()
    town.github.fault(r"GET .*/issues/\d+", status=401, body={"message": "Bad credentials"}, times=99)

    three_fail(town)

    assert (breaker(town).paused, breaker(town).cause) == (True, "token")
    assert paused_lines(town) == 1
    town.check()


def test_r25_f28_where_no_run_can_begin_the_third_ticket_is_told_of_the_pause(found: Callable[..., Town]) -> None:
    town = found()
    town.shop.git.git("update-ref", "-d", "refs/heads/main")

    failed = three_fail(town)

    assert (breaker(town).paused, breaker(town).cause) == (True, "NothingThere")
    assert ["is paused" in town.comments(issue)[0] for issue in failed] == [False, False, True]
    assert all("has no commit" in town.comments(issue)[0] for issue in failed)
    town.check()


def test_r25_the_operator_sees_it_in_the_list_of_runs_and_by_the_doctor(after: Copies, tmp_path: Path) -> None:
    town, _ = after(THREE_FAIL)
    listed = CliRunner().invoke(
        ticketsmith, ["runs", "list", "--json"], env={"TICKETSMITH_HOME": str(town.home), "HOME": str(tmp_path)}
    )

    findings = [one for one in Doctor(town.options(), now=utc_now).look() if one.name == "paused"]

    wanted = "acme/shop, since "
    assert listed.stderr.startswith(f"Paused: {wanted}")
    assert len(json.loads(listed.stdout)) == 3
    assert [one.ok for one in findings] == [False]
    assert findings[0].said.startswith(wanted)
    assert "3 tickets in a row failed alike (a credential is missing or refused)" in findings[0].said
    assert "one is tried at " in findings[0].said


def test_r25_f45_jobs_that_are_given_up_count_as_a_fault_of_the_program(found: Callable[..., Town]) -> None:
    town = found(app_settings={"pause_after": 1})
    issue = town.labelled()
    (job,) = town.jobs.waiting()

    with taking(town.office) as one:
        one.bury(job, "five processes ended")

    assert (breaker(town).cause, breaker(town).by) == ("program", issue.number)
    assert paused_lines(town) == 1
    town.check()
