"""Pull requests, check runs and labels: one of each, ours alone."""

from __future__ import annotations

from typing import Any

import pytest

from bot.forge.errors import Forbidden, Rejected, Unreachable
from bot.forge.types import OpenOrClosed, PullInfo
from bot.outbox.errors import Leaks, NotArrived, NotOurs
from bot.outbox.marker import key_in
from bot.outbox.types import Annotation, AnnotationLevel, CheckStatus, Conclusion, OwnLabel
from memory.types import CommitId
from tests.bot.outbox.kit import BRANCH, RUN, SECRET, Post
from tests.github_server.state import Issue

CREATE = "POST .*/pulls"


@pytest.fixture
def pushed(post: Post) -> CommitId:
    """A commit of ours on our branch."""
    copy = post.copy()
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    return commit


def put(post: Post, *, title: str = "Fix the total", body: str = "Fixes #1", draft: bool = True) -> PullInfo:
    return post.outbox.pull(RUN, post.ref, BRANCH, "main", title, body, draft=draft)


def pulls(post: Post) -> list[Issue]:
    return [one for one in post.github.till.issues.values() if one.pull]


@pytest.mark.usefixtures("pushed")
def test_a_pull_request_is_made_once_and_brought_up_to_date(post: Post) -> None:
    made = put(post)
    same = post.again().outbox.pull(RUN, post.ref, BRANCH, "main", "Fix the total", "Fixes #1", draft=True)
    edited = put(post, body="Fixes #1, and why")

    assert made.number == same.number == edited.number
    (only,) = pulls(post)
    assert only.pull
    assert (only.title, only.pull.draft, only.pull.base, only.author) == (
        "Fix the total",
        True,
        "main",
        post.github.state.bot,
    )
    assert only.body.startswith("Fixes #1, and why")
    assert key_in(only.body)
    assert len(post.github.asked(CREATE)) == 1


@pytest.mark.usefixtures("pushed")
@pytest.mark.parametrize(
    "fault",
    [{"reset": True, "stored": True}, {"status": 502, "stored": True}, {"status": 500}],
    ids=["reset after it was made", "502 after it was made", "500"],
)
def test_f17_whatever_breaks_off_there_is_exactly_one_pull_request(post: Post, fault: dict[str, Any]) -> None:
    post.github.fault(CREATE, **fault)

    made = put(post)

    assert [one.number for one in pulls(post)] == [made.number]


@pytest.mark.usefixtures("pushed")
def test_f17_after_a_crash_between_effect_and_record_the_pull_request_is_adopted(post: Post) -> None:
    post.github.fault(CREATE, status=502, stored=True)
    post.github.fault("GET .*/pulls", skip=1, status=502, times=9)
    with pytest.raises(Unreachable):
        put(post)
    post.github.faults.clear()

    made = post.again().outbox.pull(RUN, post.ref, BRANCH, "main", "Fix the total", "Fixes #1", draft=True)

    assert [one.number for one in pulls(post)] == [made.number]


@pytest.mark.usefixtures("pushed")
def test_f25_a_pull_request_follows_the_base_that_it_is_given(post: Post) -> None:
    post.github.till.git.commit("trunk", {"a.txt": "a"}, "Begin", onto=post.github.till.git.head("main"))
    put(post)

    moved = post.outbox.pull(RUN, post.ref, BRANCH, "trunk", "Fix the total", "Fixes #1", draft=True)

    assert moved.base_ref == "trunk"
    assert len(pulls(post)) == 1


@pytest.mark.usefixtures("pushed")
def test_a_pull_request_that_a_person_opened_from_our_branch_is_theirs(post: Post) -> None:
    theirs = post.github.people.pull(post.github.till, post.github.ada, head=BRANCH, title="Mine")

    with pytest.raises(NotOurs):
        put(post)

    assert theirs.title == "Mine"


@pytest.mark.usefixtures("pushed")
def test_r28_a_body_of_250_kb_still_makes_a_pull_request(post: Post) -> None:
    put(post, body="Fixes #1\n\n" + "x" * 250_000)

    (only,) = pulls(post)
    assert len(only.body) < 65_536
    assert "more characters are in the run's own record" in only.body
    assert key_in(only.body)


@pytest.mark.usefixtures("pushed")
def test_b43_sec_37_a_pull_request_calls_nobody_and_closes_only_its_own_issue(post: Post) -> None:
    put(
        post, title="Fix #9 for @acme/team", body="Fixes #1. Fixes #999. cc @acme/team ![x](https://evil.example/p.png)"
    )

    (only,) = pulls(post)
    assert "Fixes #1." in only.body
    assert "Fixes #999" not in only.body
    assert "@acme" not in only.body
    assert "![x]" not in only.body
    assert "#9" not in only.title
    assert "@acme" not in only.title


@pytest.mark.usefixtures("pushed")
@pytest.mark.parametrize("where", ["title", "body"])
def test_sec_5_6_a_pull_request_with_a_secret_is_not_sent(post: Post, where: str) -> None:
    with pytest.raises(Leaks):
        put(post, title=f"{SECRET}") if where == "title" else put(post, body=f"password: {SECRET}")

    assert pulls(post) == []


@pytest.mark.usefixtures("pushed")
def test_where_there_are_no_drafts_it_is_made_without(post: Post) -> None:
    said = {"message": "Draft pull requests are not supported in this repository."}
    post.github.fault(CREATE, status=422, body=said)

    made = put(post)

    assert made.draft is False
    assert len(pulls(post)) == 1


def test_a_pull_request_without_a_branch_is_refused_with_githubs_reason(post: Post) -> None:
    with pytest.raises(Rejected) as refused:
        put(post)

    assert "head invalid" in str(refused.value)


@pytest.mark.usefixtures("pushed")
def test_a_pull_request_that_appears_while_we_make_it_is_taken(post: Post) -> None:
    post.github.fault("GET .*/pulls", status=200, body=[])
    bot = post.github.state.bot
    there = post.github.people.pull(post.github.till, bot, head=BRANCH, title="Fix the total")

    made = put(post)

    assert made.number == there.number


@pytest.mark.usefixtures("pushed")
def test_r21_a_pull_request_that_reads_back_closed_is_not_done(post: Post) -> None:
    made = put(post)
    shown = {**vars_of(made), "state": "closed"}
    post.github.fault(r"GET .*/pulls/\d+", status=200, body=shown)

    with pytest.raises(NotArrived):
        put(post, body="Fixes #1 again")


def vars_of(pull: PullInfo) -> dict[str, Any]:
    side = {"ref": pull.head_ref, "sha": pull.head_sha, "repo": None}
    return {"number": pull.number, "id": pull.id, "title": pull.title, "head": side, "base": side, "user": None}


# --- Closing it ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("pushed")
def test_r34_our_own_pull_request_is_closed_once_with_the_reason(post: Post) -> None:
    made = put(post)

    post.outbox.close_pull(RUN, post.ref, made.number, "The issue was closed.")
    post.again().outbox.close_pull(RUN, post.ref, made.number, "The issue was closed.")

    (only,) = pulls(post)
    assert (only.state, only.closed_by) == ("closed", post.github.state.bot)
    assert [one.body.startswith("The issue was closed.") for one in only.comments] == [True]
    assert post.forge.pull(post.ref, made.number).state is OpenOrClosed.CLOSED


@pytest.mark.usefixtures("pushed")
def test_r24_a_comment_that_cannot_be_made_does_not_keep_a_pull_request_open(post: Post) -> None:
    made = put(post)
    pulls(post)[0].locked = True

    post.outbox.close_pull(RUN, post.ref, made.number, "The issue was closed.")

    assert pulls(post)[0].state == "closed"


@pytest.mark.usefixtures("pushed")
def test_r34_a_pull_request_of_a_person_is_never_closed(post: Post) -> None:
    theirs = post.github.people.pull(post.github.till, post.github.ada, head=BRANCH, title="Mine")

    with pytest.raises(NotOurs):
        post.outbox.close_pull(RUN, post.ref, theirs.number, "The issue was closed.")

    assert theirs.state == "open"


@pytest.mark.usefixtures("pushed")
def test_an_edit_that_breaks_off_is_sent_again(post: Post) -> None:
    made = put(post)
    post.github.fault("PATCH .*", status=502, stored=True)

    post.outbox.close_pull(RUN, post.ref, made.number, "The issue was closed.")

    assert pulls(post)[0].state == "closed"


# --- Check runs ----------------------------------------------------------------------------------------------------


def check(post: Post, sha: str, conclusion: Conclusion | None = Conclusion.SUCCESS, summary: str = "Seen.") -> int:
    status = CheckStatus.COMPLETED if conclusion else CheckStatus.IN_PROGRESS
    marks = tuple(
        Annotation(path="a.py", line=line, level=AnnotationLevel.NOTICE, message="Look") for line in range(1, 61)
    )
    return post.outbox.check(RUN, post.ref, sha, status, conclusion, "The gate", summary, marks)


def test_a_check_run_is_made_once_and_brought_up_to_date(post: Post, pushed: CommitId) -> None:
    numbers = {check(post, pushed, None), check(post, pushed), check(post, pushed)}

    (only,) = post.github.till.checks.values()
    assert numbers == {only.id}
    assert (only.name, only.status, only.conclusion) == ("ticketsmith", "completed", "success")
    assert only.output["title"] == "The gate"
    assert len(post.github.asked("POST .*/check-runs")) == 1
    assert len(post.github.asked("PATCH .*/check-runs/.*")) == 1


def test_of_many_annotations_fifty_are_sent_and_the_rest_is_counted(post: Post, pushed: CommitId) -> None:
    check(post, pushed)

    (only,) = post.github.till.checks.values()
    assert len(only.output["annotations"]) == 50
    assert "10 more remarks are not shown." in only.output["summary"]


@pytest.mark.parametrize("fault", [{"status": 502, "stored": True}, {"reset": True, "stored": True}, {"status": 502}])
def test_r67_whatever_breaks_off_there_is_exactly_one_check_run(
    post: Post, pushed: CommitId, fault: dict[str, Any]
) -> None:
    post.github.fault("POST .*/check-runs", **fault)

    number = check(post, pushed)
    post.github.fault("PATCH .*/check-runs/.*", **fault)
    check(post, pushed, Conclusion.FAILURE)

    assert [(one.id, one.conclusion) for one in post.github.till.checks.values()] == [(number, "failure")]


def test_f36_a_missing_permission_for_checks_is_named(post: Post, pushed: CommitId) -> None:
    post.github.installation.permissions["checks"] = "read"

    with pytest.raises(Forbidden) as refused:
        check(post, pushed)

    assert refused.value.permission == "checks: write"


# --- Labels --------------------------------------------------------------------------------------------------------


def test_r7_an_issue_has_at_most_one_label_of_ours_and_keeps_those_of_others(post: Post) -> None:
    post.github.people.label(post.github.till, post.issue, post.github.ada, "bug")
    seen = []
    for want in (OwnLabel.WORKING, OwnLabel.HELD, OwnLabel.HELD, OwnLabel.PR, None, None):
        post.outbox.labels(post.ref, 1, want)
        seen.append(list(post.issue.labels))

    held = ["bug", "ticketsmith:held"]
    assert seen == [["bug", "ticketsmith:working"], held, held, ["bug", "ticketsmith:pr"], ["bug"], ["bug"]]


@pytest.mark.parametrize("fault", [{"status": 502, "stored": True}, {"reset": True}])
def test_a_label_that_breaks_off_is_set_all_the_same(post: Post, fault: dict[str, Any]) -> None:
    post.outbox.labels(post.ref, 1, OwnLabel.WORKING)
    post.github.fault("(POST|DELETE) .*/labels.*", **fault)

    post.outbox.labels(post.ref, 1, OwnLabel.HELD)

    assert post.issue.labels == ["ticketsmith:held"]


def test_a_label_that_somebody_took_away_first_is_no_fault(post: Post) -> None:
    post.outbox.labels(post.ref, 1, OwnLabel.WORKING)
    post.github.fault("DELETE .*/labels/.*", status=404, body={"message": "Label does not exist"}, stored=True)

    post.outbox.labels(post.ref, 1, OwnLabel.HELD)

    assert post.issue.labels == ["ticketsmith:held"]


def test_r21_a_label_that_does_not_show_is_not_set(post: Post) -> None:
    post.github.fault("POST .*/labels", status=200, body=[])

    with pytest.raises(NotArrived):
        post.outbox.labels(post.ref, 1, OwnLabel.WORKING)
