"""Which branch and which pull request a patch goes to, and when it stays away."""

from __future__ import annotations

from typing import Any

import pytest

from bot.course.placing import Branch, HandsOff, Known, Place, Placing, StaysAway, TryNext, name_of, placed
from bot.forge.types import Account, AccountKind, OpenOrClosed, PullInfo
from memory.types import CommitId

OURS, THEIRS = CommitId("a" * 40), CommitId("b" * 40)
BOT = Account(id=9, login="ticketsmith[bot]", kind=AccountKind.BOT)


def pull(number: int = 5, *, state: str = "open", merged: bool = False) -> PullInfo:
    return PullInfo(
        number=number,
        id=number,
        state=OpenOrClosed(state),
        merged=merged,
        merge_commit=None,
        head_ref="ticketsmith/issue-7",
        head_sha=OURS,
        head_repository_id=1,
        base_ref="main",
        draft=True,
        title="",
        body="",
        author=BOT,
        closed_by=None,
    )


def known(**more: Any) -> Known:
    return Known(**{"pushed": frozenset({OURS}), "closed": frozenset(), "asked": False, **more})


def at(head: CommitId | None, *pulls: PullInfo) -> Branch:
    return Branch(name="ticketsmith/issue-7", head=head, pulls=pulls)


def here(head: CommitId | None, number: int | None = None) -> Place:
    return Place(branch="ticketsmith/issue-7", head=head, pull=number)


@pytest.mark.parametrize(
    ("branch", "what_we_know", "expected"),
    [
        pytest.param(at(None), known(), here(None), id="nothing there: a new branch"),
        pytest.param(at(OURS), known(), here(OURS), id="our branch without a pull request: go on"),
        pytest.param(at(OURS, pull()), known(), here(OURS, 5), id="open: update it"),
        pytest.param(at(THEIRS, pull()), known(), HandsOff(branch="ticketsmith/issue-7", pull=5), id="a person pushed"),
        pytest.param(at(OURS, pull(state="closed")), known(), StaysAway(pull=5), id="closed by a person"),
        pytest.param(at(None, pull(state="closed")), known(), StaysAway(pull=5), id="closed, and its branch deleted"),
        pytest.param(
            at(OURS, pull(state="closed")), known(asked=True), here(OURS), id="closed, and asked to come back"
        ),
        pytest.param(
            at(OURS, pull(state="closed")), known(closed=frozenset({5})), here(OURS), id="closed by ourselves"
        ),
    ],
)
def test_r31_the_branch_of_an_issue_is_found_again(branch: Branch, what_we_know: Known, expected: Placing) -> None:
    assert placed(branch, what_we_know) == expected


@pytest.mark.parametrize(
    ("branch", "what_we_know", "why"),
    [
        pytest.param(at(OURS, pull(state="closed", merged=True)), known(), "was merged", id="merged"),
        pytest.param(at(THEIRS), known(), "with commits of others", id="a branch of somebody else"),
        pytest.param(at(THEIRS, pull()), known(asked=True), "left as it is", id="taken over, and asked to come back"),
    ],
)
def test_r32_a_branch_with_the_work_of_others_is_left_alone(branch: Branch, what_we_know: Known, why: str) -> None:
    found = placed(branch, what_we_know)

    assert isinstance(found, TryNext)
    assert why in found.why


def test_why_an_earlier_name_was_left_is_told_with_the_place() -> None:
    found = placed(at(None), known(), "the pull request from x was merged")

    assert found == Place(branch="ticketsmith/issue-7", head=None, note="the pull request from x was merged")


def test_the_names_of_an_issues_branches_are_deterministic() -> None:
    assert [name_of(7, suffix) for suffix in (1, 2, 3)] == [
        "ticketsmith/issue-7",
        "ticketsmith/issue-7-2",
        "ticketsmith/issue-7-3",
    ]
