"""One comment of each run, whatever breaks off."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.forge.errors import Locked, NotThere, RateLimited, Unreachable
from bot.outbox.errors import Leaks, NotArrived
from bot.outbox.ledger import State
from bot.outbox.marker import key_in
from tests.bot.outbox.kit import RUN, SECRET, Post

POST = "POST .*/issues/1/comments"


def bodies(post: Post) -> list[str]:
    """Texts of the comments, without their markers."""
    return [one.body.partition("\n\n<!--")[0] for one in post.issue.comments]


def test_r25_the_status_of_a_run_is_one_comment_that_is_edited(post: Post) -> None:
    first = post.outbox.status(RUN, post.ref, 1, "Working on it.")
    second = post.outbox.status(RUN, post.ref, 1, "Done.")

    assert first == second == post.issue.comments[0].id
    assert bodies(post) == ["Done."]
    assert post.issue.comments[0].author is post.github.state.bot


def test_r27_a_status_costs_two_requests_when_made_and_one_when_edited_and_none_when_nothing_changed(
    post: Post,
) -> None:
    asked = []
    for text in ("One.", "One.", "Two."):
        before = post.forge.requests
        post.outbox.status(RUN, post.ref, 1, text)
        asked.append(post.forge.requests - before)

    assert asked == [3, 0, 1]  # the first time a token too


def test_two_runs_have_two_comments(post: Post) -> None:
    post.outbox.status(RUN, post.ref, 1, "One.")
    post.outbox.status("01J5ZZZZZZZZ", post.ref, 1, "Two.")

    assert bodies(post) == ["One.", "Two."]
    assert len({key_in(one.body) for one in post.issue.comments}) == 2


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 502, "stored": True},
        {"reset": True, "stored": True},
        {"status": 502},
        {"reset": True},
        {"status": 503, "headers": {"content-type": "text/html"}, "body": "<html>unicorn</html>"},
    ],
    ids=["502 after it was stored", "reset after it was stored", "502", "reset", "a page of a proxy"],
)
def test_r67_whatever_breaks_off_there_is_exactly_one_comment(post: Post, fault: dict[str, Any]) -> None:
    broken = post.github.fault(POST, **fault)

    number = post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert broken.happened == 1
    assert [one.id for one in post.issue.comments] == [number]
    assert [one.state for one in post.outbox.sent(RUN)] == [State.DONE]


def test_r67_an_answer_that_comes_too_late_is_looked_for(post: Post) -> None:
    post.forge.api.wire._timeout = 0.3
    late = post.github.fault(POST, stored=True, delay=2.0)

    number = post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert late.happened == 1
    assert [one.id for one in post.issue.comments] == [number]


def test_r67_where_github_cannot_even_be_asked_nothing_is_sent_again_until_it_can(post: Post) -> None:
    post.github.fault(POST, status=502, stored=True)
    post.github.fault("GET .*/issues/1/comments", status=502, times=20)
    with pytest.raises(Unreachable):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")
    post.github.faults.clear()

    number = post.again().outbox.status(RUN, post.ref, 1, "Done.")

    assert [one.id for one in post.issue.comments] == [number]
    assert bodies(post) == ["Done."]


def test_sec_10_a_marker_that_a_stranger_pasted_neither_stops_nor_gets_a_comment(post: Post) -> None:
    post.github.fault(POST, status=502, stored=True)
    post.outbox.status(RUN, post.ref, 1, "Working on it.")
    ours = post.issue.comments.pop()
    pasted = post.github.people.comment(post.github.till, post.issue, post.github.ada, ours.body)
    post.book.engine.dispose()
    (post.folder / "runs.sqlite").unlink()
    for left in post.folder.glob("runs.sqlite-*"):
        left.unlink()

    number = post.again().outbox.status(RUN, post.ref, 1, "Done.")

    assert pasted.body == ours.body
    assert number != pasted.id
    assert bodies(post) == ["Working on it.", "Done."]


def test_a_comment_that_a_person_deleted_is_made_again(post: Post) -> None:
    post.outbox.status(RUN, post.ref, 1, "Working on it.")
    post.issue.comments.clear()

    post.outbox.status(RUN, post.ref, 1, "Done.")

    assert bodies(post) == ["Done."]


def test_progress_within_fifteen_seconds_is_left_out_and_the_end_never_is(post: Post) -> None:
    post.outbox.status(RUN, post.ref, 1, "Begun.")
    post.outbox.status(RUN, post.ref, 1, "Diagnosis.", progress=True)
    left_out = bodies(post)
    post.clock.ahead += timedelta(seconds=15)
    post.outbox.status(RUN, post.ref, 1, "Development.", progress=True)
    shown = bodies(post)
    post.outbox.status(RUN, post.ref, 1, "Done.")

    assert (left_out, shown, bodies(post)) == (["Begun."], ["Development."], ["Done."])


def test_an_answer_is_said_once_for_its_step(post: Post) -> None:
    first = post.outbox.say(RUN, "answer 7", post.ref, 1, "Stopped.")
    again = post.again().outbox.say(RUN, "answer 7", post.ref, 1, "Stopped, really.")
    other = post.outbox.say(RUN, "answer 8", post.ref, 1, "Stopped.")

    assert first == again != other
    assert bodies(post) == ["Stopped.", "Stopped."]


def test_f31_a_locked_issue_is_told_as_such(post: Post) -> None:
    post.issue.locked = True

    with pytest.raises(Locked):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")


def test_a_comment_on_an_issue_that_is_not_there_is_no_mystery(post: Post) -> None:
    with pytest.raises(NotThere):
        post.outbox.status(RUN, post.ref, 99, "Working on it.")


def test_r21_a_comment_that_github_took_and_does_not_show_is_not_done(post: Post) -> None:
    post.github.fault("GET .*/issues/comments/.*", status=404, body={"message": "Not Found"})

    with pytest.raises(NotThere):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert [one.state for one in post.outbox.sent(RUN)] == [State.INTENDED]


def test_r21_a_comment_that_reads_back_as_something_else_is_not_done(post: Post) -> None:
    shown = {"id": 5, "user": None, "body": "else", "created_at": "2026-01-01T00:00:00Z",
             "updated_at": "2026-01-01T00:00:00Z"}  # fmt: skip
    post.github.fault("GET .*/issues/comments/.*", status=200, body=shown)

    with pytest.raises(NotArrived):
        post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert [one.state for one in post.outbox.sent(RUN)] == [State.INTENDED]


@pytest.mark.parametrize(
    "text",
    [SECRET, f"see {SECRET[::-1]} here", "token ghs_" + "aB3" * 12, " ".join(SECRET)],
    ids=["as it is", "reversed", "a token", "spaced"],
)
def test_sec_5_6_a_text_with_a_secret_is_not_sent(post: Post, text: str) -> None:
    with pytest.raises(Leaks) as refused:
        post.outbox.status(RUN, post.ref, 1, f"It failed: {text}")

    assert text not in str(refused.value)
    assert post.github.writes == []


def test_r28_a_text_of_250_kb_is_cut_where_people_see_it(post: Post) -> None:
    post.outbox.status(RUN, post.ref, 1, "```text\n" + "a line of output\n" * 15_000 + "```")

    body = post.issue.comments[0].body
    assert len(body) < 65_536
    assert "more characters are in the run's own record" in body
    assert body.count("```") == 2
    assert key_in(body)


def test_r26_after_a_secondary_limit_without_a_time_nothing_is_sent_for_ninety_seconds_and_then_longer(
    post: Post,
) -> None:
    said = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
    post.github.fault(POST, status=403, body=said, times=2)
    waits = []
    for _ in range(2):
        with pytest.raises(RateLimited) as limited:
            post.outbox.status(RUN, post.ref, 1, "Working on it.")
        waits.append((limited.value.until - post.clock()).total_seconds())
        sent = len(post.github.requests)
        with pytest.raises(RateLimited):
            post.outbox.status(RUN, post.ref, 1, "Working on it.")
        assert len(post.github.requests) == sent
        post.clock.ahead = limited.value.until - post.clock() + post.clock.ahead

    post.outbox.status(RUN, post.ref, 1, "Working on it.")

    assert [round(wait / 10) * 10 for wait in waits] == [90, 180]
    assert len(post.issue.comments) == 1


def test_r26_writes_are_a_second_apart(post: Post) -> None:
    for number in range(3):
        post.outbox.say(RUN, f"answer {number}", post.ref, 1, "Hello.")

    assert len(post.clock.slept) == 2
    assert all(0.5 < slept <= 1.0 for slept in post.clock.slept)
