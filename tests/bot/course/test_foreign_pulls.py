"""R-42: nothing is done on pull requests that are none of ours, and whoever may know is told why, once on each."""

from __future__ import annotations

import pytest

from bot.engine.outcome import Settled
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.github_server.state import Issue, Person

FORK = "refused: this pull request comes from a fork, where Ticketsmith cannot push"


def from_a_fork(town: Town, branch: str = "patch-1") -> Issue:
    town.github.people.push(town.shop, branch, {"price.txt": "3\n"}, town.ada)
    pull = town.github.people.pull(town.shop, town.ada, head=branch, title="Mine")
    assert pull.pull
    pull.pull.head_repository = town.github.till.id
    return pull


def of_role(town: Town, role: str) -> Person:
    person = town.github.state.add_person(f"of-{role}")
    town.shop.roles[person.id] = role
    return person


@pytest.mark.parametrize("command", ["retry", "requeue Try again.", "stop"])
def test_r42_a_command_on_a_pull_request_of_a_fork_is_refused_with_a_reason_said_once(town: Town, command: str) -> None:
    pull = from_a_fork(town)

    for _ in range(2):
        town.say(pull, f"/ticketsmith {command}")
    outcomes = town.drain()

    assert outcomes == [Settled(outcome=FORK)] * 2
    (said,) = town.comments(pull)
    assert "comes from a fork, where Ticketsmith cannot push" in said
    assert "Say it on the issue" in said
    assert (town.script.asked, town.branches()) == ([], [])
    town.check()


def test_r42_a_review_of_a_fork_s_branch_with_our_name_is_refused_with_a_reason_and_holds_nothing(
    solved: Copies,
) -> None:
    town, issue = solved()
    branch = f"ticketsmith/issue-{issue.number}"
    fork = from_a_fork(town, "patch-1")
    assert fork.pull
    fork.pull.head, fork.pull.head_sha = branch, town.course(issue).pushed or ""  # even with our very commit
    attempts = town.run(issue).attempt

    town.github.people.review(town.shop, fork, town.ada, "A line break is missing.")
    outcomes = town.drain()

    assert outcomes == [Settled(outcome=FORK)]
    assert len(town.comments(fork)) == 1
    assert town.run(issue).attempt == attempts


@pytest.mark.parametrize(("role", "told"), [("read", 0), ("triage", 1), ("write", 1)])
def test_r42_only_those_who_work_on_the_repository_are_told(town: Town, role: str, told: int) -> None:
    pull = from_a_fork(town)

    town.say(pull, "/ticketsmith retry", by=of_role(town, role))
    town.drain()

    assert len(town.comments(pull)) == told


def test_r42_a_pull_request_of_a_person_is_refused_too_and_help_is_given_everywhere(town: Town) -> None:
    town.github.people.push(town.shop, "patch-2", {"price.txt": "3\n"}, town.ada)
    pull = town.github.people.pull(town.shop, town.ada, head="patch-2", title="Mine")

    town.say(pull, "/ticketsmith retry")
    town.say(pull, "/ticketsmith help")
    town.drain()

    refused, helped = town.comments(pull)
    assert "this is no pull request of Ticketsmith" in refused
    assert "What you can say" in helped
