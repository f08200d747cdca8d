"""Jobs that kill every process are given up, with a word to people; a process that was overtaken sends nothing."""

from __future__ import annotations

import threading

import pytest

from bot.course.breaker import PAUSE
from bot.course.office import taking
from bot.course.points import CourseStep, Moment
from bot.engine.fence import Fence
from bot.engine.outcome import Settled
from bot.errors import Fenced
from bot.job import JobKind
from bot.run import RunState
from stages.errors import ParkCause
from tests.bot.course.beginnings import Broken, dies_at
from tests.bot.course.kept import Copies
from tests.bot.course.test_pausing import THREE_FAIL, breaker, later, take_again
from tests.bot.course.town import Town
from tests.bot.kit import silent


def test_f45_a_run_that_is_given_up_waits_for_a_version_that_mends_it_and_people_are_told(town: Town) -> None:
    issue = town.labelled()
    town.reached = dies_at(CourseStep.PURSUE)
    with pytest.raises(Broken):
        town.drain()

    (job,) = town.jobs.of_issue(town.shop.id, issue.number)
    with taking(town.office) as one:
        one.bury(job, "five processes ended")

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.PROGRAM)
    assert "five processes ended" in town.comments(issue)[0]
    assert town.own_labels(issue) == ["ticketsmith:held"]
    town.check()


def test_f45_a_run_that_never_began_is_given_up_with_a_word_too(town: Town) -> None:
    issue = town.labelled()
    town.reached = dies_at(CourseStep.MIRROR)
    with pytest.raises(Broken):
        town.drain()

    (job,) = town.jobs.of_issue(town.shop.id, issue.number)
    with taking(town.office) as one:
        one.bury(job, "five processes ended")

    assert "Given up before it began" in town.comments(issue)[0]
    assert town.own_labels(issue) == ["ticketsmith:held"]


def test_f45_a_question_or_a_look_that_is_given_up_leaves_the_run_where_it_stands(solved: Copies) -> None:
    town, issue = solved()
    town.say(issue, "/ticketsmith why")
    jobs = [one for one in town.jobs.of_issue(town.shop.id, issue.number) if one.kind is not JobKind.START]

    with taking(town.office) as one:
        for job in jobs:
            one.bury(job, "five processes ended")

    assert {job.kind for job in jobs} == {JobKind.CHECKS, JobKind.WHY}
    assert town.run(issue).state is RunState.PUBLISHED
    assert town.own_labels(issue) == ["ticketsmith:pr"]


def test_f45_a_merged_patch_whose_verdict_is_given_up_waits_for_another_one(solved: Copies) -> None:
    town, issue = solved()
    town.github.people.merge(town.shop, town.pull(), town.ada)
    town.reached = dies_at(CourseStep.JUDGE)
    with pytest.raises(Broken):
        town.drain()
    (*_, job) = [one for one in town.jobs.of_issue(town.shop.id, issue.number) if one.kind is JobKind.CLOSED]

    with taking(town.office) as one:
        one.bury(job, "five processes ended")

    assert town.run(issue).state is RunState.PUBLISHED
    assert "Not verified yet: five processes ended" in town.comments(issue)[0]


def test_a_ticket_that_was_moved_before_it_could_try_lets_another_one_try(after: Copies) -> None:
    town, _ = after(THREE_FAIL)
    waiting = town.labelled(title="And another one")
    town.drain()
    town.github.hooks.url = ""  # GitHub tells late
    town.github.people.transfer(town.shop, waiting, town.github.repository("bakery"), town.ada)
    later(town, PAUSE * 2)

    outcome = take_again(town, waiting)

    assert outcome == Settled(outcome="nothing there: Moved")
    assert breaker(town).probe is None
    town.check()


def test_f43_a_process_that_was_overtaken_while_the_model_worked_sends_and_records_nothing(town: Town) -> None:
    issue = town.labelled()
    second = Fence(town.app.stores.runs, threading.Event())

    def overtaken(step: CourseStep, moment: Moment) -> None:
        if (step, moment) == (CourseStep.PURSUE, Moment.AFTER_EFFECT):
            second.take(town.run(issue).id)

    town.reached = overtaken
    sent = len(town.github.writes)

    with pytest.raises(Fenced):
        town.drain()

    before_pursuing = {f"POST /repos/acme/shop/issues/1/{what}" for what in ("comments", "labels")}
    assert {one.line for one in town.github.writes[sent:]} <= before_pursuing
    assert (town.branches(), town.pulls()) == ([], [])


def test_f43_a_process_that_was_overtaken_at_work_writes_no_step_and_no_ending(solved: Copies) -> None:
    town, issue = solved()
    first, second = (Fence(town.app.stores.runs, threading.Event()) for _ in range(2))
    run = town.run(issue)
    first.take(run.id)
    second.take(run.id)
    app = town.office.app(first.check)

    with pytest.raises(Fenced):
        app.pursue(town.app.stores.runs.set_state(run.id, RunState.WORKING), silent())

    assert town.told(issue) == []
