"""GitHub fails in every way it can: nothing is lost, nothing is done twice, and people are told why."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from bot.book import utc_now
from bot.engine.outcome import Settled, Waits
from bot.outbox.sender import ON_ITS_WAY_SECONDS
from bot.run import RunState
from stages.errors import ParkCause
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Script
from tests.github_server.state import Issue

NEVER_SENT = {"message": "You have exceeded a secondary rate limit."}


def published_once(town: Town, issue: Issue) -> None:
    """The end that every fault must come to: all of it there, and each of it once."""
    assert town.run(issue).state is RunState.PUBLISHED
    assert len(town.pulls()) == 1
    assert len(town.branches()) == 1
    assert len(town.comments(issue)) == 1
    assert len([check for check in town.shop.checks.values() if check.name]) == 1
    assert town.own_labels(issue) == ["ticketsmith:pr"]
    town.check()


def tried_again(town: Town) -> None:
    """What waits is taken up minutes later, three times at most."""
    for _ in range(3):
        if not isinstance(town.outcomes[-1][1], Settled):
            town.clock.ahead += timedelta(minutes=3)
            town.take_last_again()


@pytest.mark.parametrize(
    ("match", "how"),
    [
        (r"POST .*/pulls", {"reset": True, "stored": True}),
        (r"POST .*/pulls", {"status": 502, "stored": True}),
        (r"POST .*/check-runs", {"status": 500, "stored": True}),
        (r"POST .*git-receive-pack", {"reset": True, "stored": True}),
        (r"POST .*/pulls", {"status": 502}),
    ],
    ids=str,
)
def test_f17_r67_what_was_stored_of_a_patch_before_the_answer_broke_is_there_once(
    passed: Copies, match: str, how: dict[str, object]
) -> None:
    town, issue = passed()
    fault = town.github.fault(match.replace("/api", ".*"), **how)

    town.go_on(issue)
    tried_again(town)

    assert fault.happened == 1
    published_once(town, issue)


@pytest.mark.parametrize(
    ("match", "how"),
    [
        (r"POST .*/issues/1/comments", {"status": 502, "stored": True}),
        (r"POST .*/issues/1/comments", {"reset": True, "stored": True}),
        (r"GET .*/issues/1", {"status": 503, "times": 2}),
        (r"GET .*info/refs.*", {"status": 503}),
        (r"PATCH .*/issues/comments/\d+", {"status": 502, "stored": True}),
        (r"POST .*/labels", {"status": 502, "stored": True}),
    ],
    ids=str,
)
def test_f17_r67_what_was_stored_before_the_answer_broke_is_there_once(
    town: Town, match: str, how: dict[str, object]
) -> None:
    town.github.fault(match.replace("/api", ".*"), **how)
    issue = town.labelled()

    town.drain()
    tried_again(town)

    published_once(town, issue)


def test_f13_a_primary_limit_parks_the_run_with_its_wake_time_and_asks_nothing_before(passed: Copies) -> None:
    town, issue = passed()
    reset = int((utc_now() + timedelta(minutes=40)).timestamp())
    town.github.fault(
        r"POST .*/pulls",
        status=403,
        body={"message": "API rate limit exceeded for installation ID 71."},
        headers={"x-ratelimit-remaining": "0", "x-ratelimit-limit": "5000", "x-ratelimit-reset": str(reset)},
    )

    town.go_on(issue)

    waits = town.outcomes[-1][1]
    assert isinstance(waits, Waits)
    assert abs(waits.until - utc_now() - timedelta(minutes=40)) < timedelta(minutes=3)
    run = town.run(issue)
    assert (run.state, run.park_cause, run.wake) == (RunState.PARKED, ParkCause.RATE_LIMIT, waits.until)
    assert run.patch
    asked = town.github.api_requests
    town.take_last_again()
    assert town.github.api_requests == asked
    town.clock.ahead += timedelta(minutes=45)
    town.take_last_again()
    published_once(town, issue)


def test_r26_f15_a_secondary_limit_without_a_header_waits_a_minute_at_least(passed: Copies) -> None:
    town, issue = passed()
    town.github.fault(r"POST .*/pulls", status=403, body=NEVER_SENT)

    town.go_on(issue)

    waits = town.outcomes[-1][1]
    assert isinstance(waits, Waits)
    assert waits.until - town.clock() >= timedelta(seconds=55)
    town.clock.ahead += timedelta(minutes=5)
    town.take_last_again()
    published_once(town, issue)


def test_f12_r14_a_token_that_is_refused_is_made_anew_once(passed: Copies) -> None:
    town, issue = passed()
    town.github.fault(r"POST .*/pulls", status=401, body={"message": "Bad credentials"})

    town.go_on(issue)

    published_once(town, issue)


def test_f12_a_credential_that_stays_refused_parks_the_run_with_its_patch(passed: Copies) -> None:
    town, issue = passed()
    town.github.fault(r"POST .*/pulls", status=401, body={"message": "Bad credentials"}, times=9)

    town.go_on(issue)

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.TOKEN)
    assert run.wake is not None
    assert run.patch
    town.check()


def test_f36_a_permission_that_is_missing_is_named_to_people(passed: Copies) -> None:
    town, issue = passed()
    town.github.fault(r"POST .*/pulls", status=403, body={"message": "Resource not accessible by integration"}, times=9)

    town.go_on(issue)

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.PERMISSION)
    assert "pull\\_requests: write" in town.comments(issue)[0]
    assert town.own_labels(issue) == ["ticketsmith:held"]
    town.check()


def test_f31_a_locked_issue_gets_no_comment_and_its_pull_request_all_the_same(town: Town) -> None:
    issue = town.issue()
    town.github.people.lock(town.shop, issue, town.ada)
    town.github.people.label(town.shop, issue, town.ada)

    town.drain()

    assert town.comments(issue) == []
    assert town.run(issue).state is RunState.PUBLISHED
    assert any("The gate passed" in comment.body for comment in town.pull().comments)


def test_r21_a_push_that_never_arrives_is_not_called_done(passed: Copies) -> None:
    town, issue = passed()
    town.github.fault(r"POST .*git-receive-pack", status=200, body="0000", times=99)

    town.go_on(issue)

    assert isinstance(town.outcomes[-1][1], Waits)
    assert (town.branches(), town.pulls()) == ([], [])
    assert town.course(issue).pushed is None
    assert town.run(issue).state is RunState.PARKED
    town.check()


def test_f28_an_empty_repository_is_told_and_no_run_begins(town: Town) -> None:
    town.shop.git.git("update-ref", "-d", "refs/heads/main")
    issue = town.labelled()

    town.drain()

    assert "has no commit on its default branch" in town.comments(issue)[0]
    assert town.courses_of(issue) == ()


def test_f28_a_base_that_was_forced_away_is_begun_anew_on_what_is_there(solved: Copies) -> None:
    town, issue = solved()
    run = town.run(issue)
    town.app.stores.runs.set_state(run.id, RunState.PARKED, cause=ParkCause.BASE_GONE, reason="its base is gone")
    other = town.shop.git.git("commit-tree", "-m", "Anew", "main^{tree}").strip()
    town.shop.git.git("update-ref", "refs/heads/main", other)
    town.shop.git.git("update-ref", "-d", f"refs/heads/ticketsmith/issue-{issue.number}")

    town.say(issue, "/ticketsmith retry")
    town.drain()

    assert (town.run(issue).base, town.run(issue).generation) == (other, 2)
    assert town.run(issue).state is RunState.PUBLISHED


def test_r27_a_run_that_changes_nothing_asks_github_15_times_at_most(found: Callable[..., Town]) -> None:
    from tests.bot.kit import NOTHING

    town = found(script=Script.of(develop=NOTHING))
    issue = town.labelled()
    before = town.github.api_requests

    town.drain()

    assert town.run(issue).outcome == "drop: empty-patch"
    assert town.github.api_requests - before <= 15


def test_r27_a_whole_run_asks_github_40_times_at_most(solved: Copies) -> None:
    town, issue = solved()

    asked = town.github.api_requests  # with what two processes ask when they begin

    assert town.run(issue).state is RunState.PUBLISHED
    assert asked <= 40


def test_f41_what_a_process_sent_before_it_died_is_given_time_to_arrive_before_it_is_sent_again(town: Town) -> None:
    town.github.fault(r"POST .*/issues/1/comments", status=503, times=2)
    issue = town.labelled()
    town.drain()
    town.again()
    town.clock.slept.clear()
    town.clock.ahead += timedelta(minutes=3)

    town.take_last_again()

    assert ON_ITS_WAY_SECONDS in town.clock.slept
    published_once(town, issue)
