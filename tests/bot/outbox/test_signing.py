"""Where a rule takes only signed commits, GitHub makes and signs ours from the same changes."""

from __future__ import annotations

from typing import Any

import pytest

from bot.forge.errors import Unreachable
from bot.outbox.types import ForeignCommits, Pushed, PushResult, RuleRefused
from memory.types import CommitId
from stages.repository import Repository
from tests.bot.outbox.kit import BRANCH, RUN, Post

SAID = "error: GH013: Repository rule violations found.\n- Commits must have verified signatures."
MUTATE = "POST .*/graphql"


@pytest.fixture
def strict(post: Post) -> Post:
    """A repository that takes only signed commits."""
    post.github.till.git.reject(SAID)
    return post


def push(post: Post, copy: Repository, commit: CommitId, expected: CommitId | None = None) -> PushResult:
    return post.outbox.push(RUN, post.ref, copy, BRANCH, commit, expected)


def tree(post: Post, commit: str) -> str:
    return post.github.till.git.git("rev-parse", f"{commit}^{{tree}}")


def test_r40_the_same_changes_become_a_commit_that_github_signs(strict: Post) -> None:
    copy = strict.copy()
    commit = strict.commit(copy)

    result = push(strict, copy, commit)

    assert isinstance(result, Pushed)
    assert result.signed
    assert result.commit == strict.github.till.git.head(BRANCH) != commit
    ours = copy.git.run("rev-parse", f"{commit}^{{tree}}").decode().strip()
    assert tree(strict, result.commit) == ours
    assert strict.github.till.git.git("show", "-s", "--format=%s", BRANCH) == "Fix: the total"


def test_r40_the_next_commit_stands_on_the_signed_one(strict: Post) -> None:
    copy = strict.copy()
    first = push(strict, copy, strict.commit(copy))
    assert isinstance(first, Pushed)
    two = strict.commit(copy, "better", parent=first.commit)  # it was brought here

    second = push(strict, copy, two, first.commit)

    assert isinstance(second, Pushed)
    assert strict.github.till.git.git("rev-parse", f"{second.commit}^") == first.commit
    assert strict.github.till.git.git("show", f"{second.commit}:fix.txt") == "better"


def test_r40_the_same_push_again_makes_no_second_commit(strict: Post) -> None:
    copy = strict.copy()
    commit = strict.commit(copy)
    first = push(strict, copy, commit)

    again = push(strict.again(), copy, commit)

    assert isinstance(first, Pushed)
    assert isinstance(again, Pushed)
    assert first.commit == again.commit
    assert len(strict.github.asked(MUTATE)) == 1


@pytest.mark.parametrize("fault", [{"status": 502, "stored": True}, {"reset": True, "stored": True}])
def test_r67_a_signed_commit_whose_answer_got_lost_is_found(strict: Post, fault: dict[str, Any]) -> None:
    copy = strict.copy()
    strict.github.fault(MUTATE, **fault)

    result = push(strict, copy, strict.commit(copy))

    assert isinstance(result, Pushed)
    assert strict.github.till.git.count("main", BRANCH) == (1, 0)


def test_r67_a_signed_commit_that_did_not_arrive_is_made_later(strict: Post) -> None:
    copy = strict.copy()
    commit = strict.commit(copy)
    strict.github.fault(MUTATE, status=502)
    with pytest.raises(Unreachable):
        push(strict, copy, commit)
    begun = strict.github.till.git.head(BRANCH)

    result = push(strict.again(), copy, commit)

    assert begun == strict.github.till.git.head("main")
    assert isinstance(result, Pushed)
    assert strict.github.till.git.count("main", BRANCH) == (1, 0)


def test_f20_a_person_who_is_faster_than_the_signed_commit_wins(strict: Post) -> None:
    copy, till = strict.copy(), strict.github.till
    first = push(strict, copy, strict.commit(copy))
    assert isinstance(first, Pushed)
    copy = strict.copy()
    two = strict.commit(copy, "better", parent=first.commit)
    theirs = till.git.commit("theirs", {"theirs.txt": "mine"}, "Theirs", onto=first.commit)
    faster = f"unset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/{BRANCH} {theirs}\n"
    till.git.before_push(f"{faster}echo '{SAID.splitlines()[1]}' >&2\nexit 1\n")

    result = push(strict, copy, two, first.commit)

    assert result == ForeignCommits(branch=BRANCH, expected=first.commit, found=CommitId(theirs))
    assert till.git.head(BRANCH) == theirs


def test_f22_a_rule_that_refuses_signed_commits_too_is_told(strict: Post) -> None:
    strict.github.till.refuses_commits = "Changes must be made through a pull request."
    copy = strict.copy()

    result = push(strict, copy, strict.commit(copy))

    assert result == RuleRefused(branch=BRANCH, said="Changes must be made through a pull request.")


def test_r40_what_the_api_cannot_make_is_not_made_otherwise(strict: Post) -> None:
    copy = strict.copy()
    git = copy.git
    blob = git.run("hash-object", "-w", "--stdin", stdin=b"#!/bin/sh\n").decode().strip()
    made = git.run("mktree", stdin=f"100755 blob {blob}\trun.sh\n".encode()).decode().strip()
    commit = git.run("commit-tree", "-p", "HEAD", "-m", "Executable", made).decode().strip()

    result = push(strict, copy, CommitId(commit))

    assert isinstance(result, RuleRefused)
    assert strict.github.till.git.head(BRANCH) is None
