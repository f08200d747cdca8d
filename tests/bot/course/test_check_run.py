"""The check run on our commits: none before there is one, under way while another attempt is made, never left so."""

from __future__ import annotations

import pytest

from bot.course.points import CourseStep, Moment
from bot.job import JobKind
from bot.run import RunState
from stages.errors import ParkCause, Parked
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Act, writes
from tests.github_server.state import APP_ID, Check, Issue


def ours(town: Town, head: str) -> list[Check]:
    return [one for one in town.shop.checks.values() if one.app == APP_ID and one.head_sha == head]


def sent_back(town: Town, issue: Issue) -> str:
    """Have more asked for by a review, and answered; gives the first commit."""
    head = town.course(issue).pushed or ""
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.drain()
    return head


def test_no_commit_of_others_gets_a_check_run_of_ours(solved: Copies) -> None:
    town, issue = solved()

    assert {one.head_sha for one in town.shop.checks.values()} == {town.course(issue).pushed}


def test_while_another_attempt_is_made_a_check_run_on_our_commit_is_under_way(solved: Copies) -> None:
    seen: list[tuple[str, str | None]] = []

    def refix(workspace: object) -> dict[str, object]:
        newest = max(ours(town, town.pull().pull.head_sha), key=lambda one: one.id)  # type: ignore[union-attr]
        seen.append((newest.status, newest.conclusion))
        return dict(writes(text="3\n\n")(workspace))  # type: ignore[operator, arg-type]

    town, issue = solved(refix=refix)

    head = sent_back(town, issue)

    assert seen == [("in_progress", None)]
    passed, again = ours(town, head)
    assert (passed.conclusion, again.conclusion) == ("success", "neutral")
    assert again.output["title"] == "Another attempt stands on top"
    (newest,) = ours(town, town.course(issue).pushed or "")
    assert newest.conclusion == "success"
    town.check()


@pytest.mark.parametrize(
    ("refix", "state", "title"),
    [
        (Parked(cause=ParkCause.TOKEN, reason="no key"), RunState.PARKED, "The other attempt waits"),
        (writes(text="4\n"), RunState.ENDED, "The run is over"),
    ],
    ids=["it waits", "no attempt passes"],
)
def test_whatever_comes_of_the_attempt_no_check_run_is_left_under_way(
    solved: Copies, refix: Act, state: RunState, title: str
) -> None:
    town, issue = solved(refix=refix)

    head = sent_back(town, issue)

    assert town.run(issue).state is state
    assert [one.output["title"] for one in ours(town, head)] == ["The gate passed", title]
    assert {one.status for one in town.shop.checks.values()} == {"completed"}
    town.check()


def test_r24_a_check_run_that_is_refused_keeps_no_attempt_back(solved: Copies) -> None:
    town, issue = solved(refix=writes(text="3\n\n"))
    town.github.fault(r"POST .*/check-runs", status=403, body={"message": "Resource not accessible by integration"})
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")

    town.drain()

    assert (town.run(issue).state, town.run(issue).attempt) == (RunState.PUBLISHED, 2)


@pytest.mark.parametrize("at", [1, 2, 3], ids=["begun", "on the new commit", "over"])
def test_f41_a_death_beside_any_check_run_leaves_each_there_once(solved: Copies, at: int) -> None:
    counted = 0

    def dies(step: CourseStep, here: Moment) -> None:
        nonlocal counted
        counted += (step, here) == (CourseStep.CHECK, Moment.AFTER_EFFECT)
        if counted == at:
            town.reached = lambda *_: None
            raise ZeroDivisionError

    town, issue = solved(refix=writes(text="3\n\n"))
    head = town.course(issue).pushed or ""
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    town.reached = dies
    with pytest.raises(ZeroDivisionError):
        town.drain()

    (review,) = (one for one in town.jobs.of_issue(town.shop.id, issue.number) if one.kind is JobKind.FOLLOW_UP)
    town.take(review)

    assert [one.conclusion for one in ours(town, head)] == ["success", "neutral"]
    assert [one.conclusion for one in ours(town, town.course(issue).pushed or "")] == ["success"]
    town.check()
