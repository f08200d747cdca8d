"""What speaks against our patch on GitHub holds it: reviews, checks, deployments, each in one batch for one push."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from bot.app import App
from bot.book import utc_now
from bot.engine.outcome import Waits
from bot.run import RunState
from memory.slots import hashed
from memory.types import Hold, Where
from stages.errors import ParkCause, Parked
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Act, endings, writes
from tests.github_server.state import Issue

AGAIN: Final[list[Act]] = [writes(text="3\n\n"), writes(text="3\n\n\n"), writes(text="3\n")]
"""A further attempt each time."""


def holds(town: Town, issue: Issue) -> list[Hold]:
    recorded = endings(town.app, town.run(issue))
    return [one.ending.ending for one in recorded if isinstance(one.ending.ending, Hold)]


def test_r38_requested_changes_are_read_in_one_batch_and_answered_by_one_attempt(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    jonas = town.github.state.add_person("jonas")
    town.shop.roles[jonas.id] = "maintain"

    town.github.people.review(
        town.shop, town.pull(), town.ada, "Please mind the end.", remarks=(("price.txt", 1, "A line break."),)
    )
    town.github.people.review(town.shop, town.pull(), jonas, "And be quick.")
    town.drain()

    bodies = "\n".join(town.script.bodies(town.script.asked[-3])) + town.script.prompts[-3].body
    assert "ada: Please mind the end." in bodies
    assert "ada on price.txt:1: A line break." in bodies
    assert "jonas: And be quick." in bodies
    assert [(hold.where, hold.attempt) for hold in holds(town, issue)] == [(Where.REVIEW, 1)]
    assert town.run(issue).attempt == 2
    town.check()


def test_r38_reviews_of_people_who_may_not_write_and_remarks_hold_nothing(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    reader = town.github.state.add_person("reader")
    town.shop.roles[reader.id] = "read"

    town.github.people.review(town.shop, town.pull(), reader, "I do not like it.")
    town.github.people.review(town.shop, town.pull(), town.ada, "Interesting.", verdict="COMMENTED")
    town.drain()

    assert holds(town, issue) == []
    assert town.run(issue).state is RunState.PUBLISHED


def test_r50_red_ci_on_our_head_is_a_hold_with_its_checks_two_rounds_at_most(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    heads = []

    for _ in range(3):
        head = town.course(issue).pushed or ""
        heads.append(head)
        town.github.people.check(town.shop, head, "failure", name="unit tests")
        town.drain()

    found_holds = holds(town, issue)
    assert [(hold.where, hold.attempt) for hold in found_holds] == [(Where.CI, 1), (Where.CI, 2)]
    assert len(set(heads)) == 3
    assert "CI is red after 2 rounds" in town.comments(issue)[0]
    assert town.own_labels(issue) == ["ticketsmith:held"]
    town.check()


def test_r50_one_head_is_answered_once_and_a_red_base_is_not_the_patch(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    base = town.run(issue).base
    town.github.people.check(town.shop, base, "failure", name="lint")

    town.github.people.check(town.shop, town.course(issue).pushed or "", "failure", name="lint")
    town.drain()

    assert holds(town, issue) == []
    assert "CI is red on the base too" in town.comments(issue)[0]


def test_r50_checks_are_read_when_all_have_ended_so_that_one_hold_names_all_that_are_red(
    solved: Copies,
) -> None:
    town, issue = solved(refix=AGAIN)
    head = town.course(issue).pushed or ""
    slow = town.github.people.check(town.shop, head, None, name="slow tests")
    town.github.people.check(town.shop, head, "failure", name="unit tests")
    (waits,) = town.drain()
    assert isinstance(waits, Waits)
    assert holds(town, issue) == []

    slow.status, slow.conclusion = "completed", "failure"
    town.take_last_again()
    town.github.people.check(town.shop, head, "failure", name="told late")
    town.drain()

    assert [set(hold.failing) for hold in holds(town, issue)] == [{hashed("slow tests"), hashed("unit tests")}]
    assert town.run(issue).attempt == 2
    town.check()


def test_r50_a_check_that_never_ends_is_waited_for_half_an_hour(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    head = town.course(issue).pushed or ""
    town.github.people.check(town.shop, head, None, name="hangs")
    town.github.people.check(town.shop, head, "failure", name="unit tests")
    town.drain()

    made = town.office.app
    town.office = replace(town.office, app=lambda guard: in_half_an_hour(made(guard)))
    town.take_last_again()

    assert [hold.failing for hold in holds(town, issue)] == [(hashed("unit tests"),)]


def test_f13_a_run_that_was_sent_back_and_waits_goes_on_by_itself_at_its_time(solved: Copies) -> None:
    town, issue = solved(refix=[Parked(cause=ParkCause.TOKEN, reason="no key"), writes(text="3\n\n")])
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    (waits,) = town.drain()
    assert isinstance(waits, Waits)
    assert town.run(issue).state is RunState.PARKED

    town.take_last_again()

    assert (town.run(issue).state, town.run(issue).attempt) == (RunState.PUBLISHED, 2)
    assert town.own_labels(issue) == ["ticketsmith:pr"]
    town.check()


def in_half_an_hour(app: App) -> App:
    app.book.now = lambda: utc_now() + timedelta(minutes=31)
    return app


def test_checks_of_an_older_commit_hold_nothing(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)
    old = town.course(issue).pushed or ""
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.drain()

    town.github.people.check(town.shop, old, "failure")
    town.drain()

    assert [hold.where for hold in holds(town, issue)] == [Where.REVIEW]


def test_a_failed_staging_deployment_is_a_hold(solved: Copies) -> None:
    town, issue = solved(refix=AGAIN)

    town.github.people.deploy(town.shop, town.course(issue).pushed or "", "failure", environment="staging")
    town.drain()

    assert [(hold.where, hold.attempt) for hold in holds(town, issue)] == [(Where.STAGING, 1)]
    assert town.run(issue).attempt == 2
    town.check()


def test_r54_a_review_that_comes_while_another_is_answered_is_read_by_the_next_attempt(
    solved: Copies,
) -> None:
    town, issue = solved(refix=AGAIN)
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    (job,) = town.jobs.waiting()
    town.jobs.taken(job.id)
    from bot.course.office import taking

    with taking(town.office) as one:
        one.receive(job)  # the run is sent back, and not taken up yet
    town.github.people.review(town.shop, town.pull(), town.ada, "And one more thing.")
    town.drain()
    town.take(job)

    assert town.run(issue).state is RunState.PUBLISHED
    assert any("And one more thing." in prompt.body for prompt in town.script.prompts)
    town.check()
