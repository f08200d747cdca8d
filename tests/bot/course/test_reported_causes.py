"""What people are told when something breaks: the first thing that went wrong, and what was being done then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from bot.run import RunState
from stages.errors import ParkCause, Parked
from stages.prompt import EntryPoint
from tests.bot.course.kept import Copies
from tests.bot.course.town import Town
from tests.bot.kit import Script, writes
from tests.github_server.state import Issue

VALIDATION: Final = {"message": "Validation Failed"}
WHERE: Final = {
    "fetch": (r"POST .*git-upload-pack", {"status": 403, "body": "no"}, "Cannot begin.** Our credential may not"),
    "push": (r"POST .*git-receive-pack", {"status": 403, "body": "no"}, "send-pack"),
    "pull request": (r"POST .*/pulls", {"status": 422, "body": VALIDATION}, "(POST /repos/acme/shop/pulls)"),
    "check run": (r"POST .*/check-runs", {"status": 422, "body": VALIDATION}, "(POST /repos/acme/shop/check-runs)"),
}


def is_named(town: Town, issue: Issue, place: str) -> None:
    """People are told of this place and of no other."""
    (comment,) = town.comments(issue)
    told = comment.replace("\\", "")
    assert WHERE[place][-1] in told
    others = [said for other, (_, _, said) in WHERE.items() if other != place]
    assert not [said for said in others if said in told]
    assert town.own_labels(issue) == ["ticketsmith:held"]


def test_r23_what_was_refused_before_the_work_is_named(town: Town) -> None:
    match, how, _ = WHERE["fetch"]
    town.github.fault(match, **how, times=99)
    issue = town.labelled()

    town.drain()

    is_named(town, issue, "fetch")


@pytest.mark.parametrize("place", sorted(WHERE.keys() - {"fetch"}))
def test_r23_what_was_refused_is_named_where_it_was_refused(passed: Copies, place: str) -> None:
    town, issue = passed()
    match, how, _ = WHERE[place]
    town.github.fault(match, **how, times=99)

    town.go_on(issue)

    is_named(town, issue, place)


def test_r23_r24_a_comment_that_is_refused_is_no_failure_of_the_push_and_keeps_no_pull_request_back(town: Town) -> None:
    town.github.fault(r"(POST|PATCH) .*/issues/.*comments.*", status=422, body=VALIDATION, times=99)
    issue = town.labelled()

    town.drain()

    assert town.run(issue).state is RunState.PUBLISHED
    assert town.run(issue).park_reason == ""
    assert len(town.pulls()) == 1


BREAKS: Final = [EntryPoint.TRIAGE, EntryPoint.DIAGNOSE, EntryPoint.DEVELOP, EntryPoint.REFIX]
"""A review or summary that cannot be had keeps no result back."""


@pytest.mark.parametrize("stage", BREAKS)
def test_r22_the_first_thing_that_broke_is_told_whatever_breaks_after_it(
    found: Callable[..., Town], stage: EntryPoint
) -> None:
    first = Parked(cause=ParkCause.ENVIRONMENT, reason=f"the {stage.value} broke first")
    script = Script.of(**{"develop": writes(text="2\n"), stage.value: first})
    town = found(script=script)
    town.github.fault(r"(POST|DELETE) .*/labels.*", status=422, body=VALIDATION, skip=1, times=99)
    issue = town.labelled()

    town.drain()

    run = town.run(issue)
    assert (run.state, run.park_cause) == (RunState.PARKED, ParkCause.ENVIRONMENT)
    assert run.park_reason == f"the {stage.value} broke first"
    assert f"the {stage.value} broke first" in town.comments(issue)[0]
    assert town.script.asked[-1] is stage
    assert town.pulls() == []
