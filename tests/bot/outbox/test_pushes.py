"""Branches: only ever by fast-forward, read back, and taken away only as we left them."""

from __future__ import annotations

from typing import Any

import pytest

from bot.forge.errors import Forbidden, NotThere, Unauthorised, Unreachable
from bot.outbox.errors import Leaks, NotArrived, NotForward, NotOurs
from bot.outbox.ledger import State
from bot.outbox.types import ForeignCommits, Pushed, RuleRefused
from memory.types import CommitId
from tests.bot.outbox.kit import BRANCH, RUN, SECRET, Post

RECEIVE = "POST .*/git-receive-pack"
ADVERTISE = "GET .*/info/refs"


def test_a_commit_goes_on_a_new_branch_and_the_next_one_on_top(post: Post) -> None:
    copy = post.copy()
    one = post.commit(copy)
    two = post.commit(copy, "fixed better", parent=one)

    first = post.outbox.push(RUN, post.ref, copy, BRANCH, one, None)
    second = post.outbox.push(RUN, post.ref, copy, BRANCH, two, one)

    assert (first, second) == (Pushed(branch=BRANCH, commit=one), Pushed(branch=BRANCH, commit=two))
    assert post.github.till.git.head(BRANCH) == two
    assert {one.state for one in post.outbox.sent(RUN)} == {State.DONE}


def test_the_same_push_again_changes_nothing(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    pushes = len(post.github.asked(RECEIVE))

    again = post.again().outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert again == Pushed(branch=BRANCH, commit=commit, adopted=True)
    assert len(post.github.asked(RECEIVE)) == pushes


@pytest.mark.parametrize("fault", [{"reset": True, "stored": True}, {"status": 502, "stored": True}])
def test_f21_a_push_that_arrived_though_the_line_broke_is_done(post: Post, fault: dict[str, Any]) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.github.fault(RECEIVE, **fault)

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert result == Pushed(branch=BRANCH, commit=commit, adopted=True)
    assert post.github.till.git.head(BRANCH) == commit


def test_f21_a_push_that_did_not_arrive_is_tried_once_more(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.github.fault(RECEIVE, status=502)

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert result == Pushed(branch=BRANCH, commit=commit)


def test_f21_a_push_that_never_arrives_is_told_as_unknown_and_succeeds_later(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.github.fault(RECEIVE, status=502, times=2)

    with pytest.raises(Unreachable):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    later = post.again().outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert later == Pushed(branch=BRANCH, commit=commit)


def test_f20_a_commit_of_a_person_on_the_branch_is_never_overwritten(post: Post) -> None:
    copy = post.copy()
    one = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, one, None)
    theirs = post.github.people.push(post.github.till, BRANCH, {"theirs.txt": "mine"}, post.github.ada)
    pushes = len(post.github.asked(RECEIVE))

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, post.commit(copy, "two", parent=one), one)

    assert result == ForeignCommits(branch=BRANCH, expected=one, found=CommitId(theirs))
    assert post.github.till.git.head(BRANCH) == theirs
    assert len(post.github.asked(RECEIVE)) == pushes


@pytest.mark.parametrize("new", [True, False], ids=["a new branch", "a branch of ours"])
def test_f20_a_person_who_pushes_between_our_look_and_our_push_wins(post: Post, new: bool) -> None:
    copy, till = post.copy(), post.github.till
    one = post.commit(copy)
    if not new:
        post.outbox.push(RUN, post.ref, copy, BRANCH, one, None)
    two = post.commit(copy, "two", parent=one)
    theirs = till.git.commit("theirs", {"theirs.txt": "mine"}, "Theirs", onto=till.git.head(BRANCH) or one_parent(post))
    # The hook runs when our push has arrived and before it is taken: somebody else is faster.
    till.git.before_push(f"unset GIT_QUARANTINE_PATH; git update-ref refs/heads/{BRANCH} {theirs}\n")

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, two if not new else one, None if new else one)

    assert result == ForeignCommits(branch=BRANCH, expected=None if new else one, found=CommitId(theirs))
    assert till.git.head(BRANCH) == theirs


def one_parent(post: Post) -> str:
    head = post.github.till.git.head("main")
    assert head
    return head


def test_r32_a_commit_that_would_take_something_away_is_not_even_sent(post: Post) -> None:
    copy = post.copy()
    one = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, one, None)
    beside = post.commit(copy, "beside it")

    with pytest.raises(NotForward):
        post.outbox.push(RUN, post.ref, copy, BRANCH, beside, one)

    assert post.github.till.git.head(BRANCH) == one


@pytest.mark.parametrize(
    "said",
    [
        "error: GH013: Repository rule violations found for refs/heads/ticketsmith.\nCommits must have signatures.",
        "error: GH006: Protected branch update failed for refs/heads/ticketsmith/issue-1.",
    ],
)
def test_f22_a_rule_that_refuses_is_told_in_its_own_words_and_never_tried_again(post: Post, said: str) -> None:
    copy = post.copy()
    post.github.till.git.reject(said)

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, post.commit(copy), None)

    assert isinstance(result, RuleRefused)
    assert result.said == said
    assert len(post.github.asked(RECEIVE)) == 1
    assert post.github.till.git.head(BRANCH) is None


def test_r21_a_push_that_is_answered_and_does_not_show_is_not_done(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    # The server says yes, and the branch is gone before we look.
    hook = post.github.till.git.path / "hooks" / "post-receive"
    hook.write_text(f"#!/bin/sh\ncat > /dev/null\ngit update-ref -d refs/heads/{BRANCH}\n")
    hook.chmod(0o755)

    with pytest.raises(NotArrived):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert [one.state for one in post.outbox.sent(RUN)] == [State.INTENDED]


def test_f12_a_credential_that_was_refused_is_renewed_once_for_git_too(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.forge.remote(post.ref, writes=True)
    post.github.state.tokens.clear()

    result = post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert result == Pushed(branch=BRANCH, commit=commit)


def test_f12_a_credential_that_is_refused_twice_is_told(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.github.fault(ADVERTISE, status=401, headers={"www-authenticate": "Basic"}, times=9)

    with pytest.raises(Unauthorised):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert len(post.github.asked(".*access_tokens")) == 3  # one to fetch, and two to push


def test_f36_permission_that_was_taken_away_is_named(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.forge.remote(post.ref, writes=True)
    post.github.installation.permissions["contents"] = "read"

    with pytest.raises(Forbidden) as refused:
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert refused.value.permission == "contents: write"


def test_f34_a_repository_that_is_gone_is_told_as_such(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.forge.remote(post.ref, writes=True)
    post.github.till.deleted = True

    with pytest.raises(NotThere):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)


def test_sec_5_6_a_commit_with_one_of_our_secrets_is_not_pushed(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy, f"password = {SECRET}")

    with pytest.raises(Leaks):
        post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    assert post.github.asked(RECEIVE) == []


# --- Taking a branch away ------------------------------------------------------------------------------------------


def test_r34_our_own_branch_is_taken_away_and_again_is_no_harm(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)

    post.outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)
    post.outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)

    assert post.github.till.git.head(BRANCH) is None


def test_r34_a_branch_that_holds_more_than_our_commits_stays(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    theirs = post.github.people.push(post.github.till, BRANCH, {"theirs.txt": "mine"}, post.github.ada)

    with pytest.raises(NotOurs):
        post.outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)

    assert post.github.till.git.head(BRANCH) == theirs


def test_r34_a_person_who_pushes_just_before_we_delete_wins(post: Post) -> None:
    copy, till = post.copy(), post.github.till
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    theirs = till.git.commit("theirs", {"theirs.txt": "mine"}, "Theirs", onto=commit)
    till.git.before_push(f"unset GIT_QUARANTINE_PATH; git update-ref refs/heads/{BRANCH} {theirs}\n")

    with pytest.raises(NotOurs):
        post.outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)

    assert till.git.head(BRANCH) == theirs


def test_r34_a_branch_that_a_rule_keeps_is_left(post: Post) -> None:
    copy = post.copy()
    commit = post.commit(copy)
    post.outbox.push(RUN, post.ref, copy, BRANCH, commit, None)
    post.github.till.git.reject("error: GH013: Cannot delete this branch")

    with pytest.raises(NotOurs):
        post.outbox.delete_branch(RUN, post.ref, BRANCH, only_if_head=commit)

    assert post.github.till.git.head(BRANCH) == commit
