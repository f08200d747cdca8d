"""Facts of a run become endings."""

from __future__ import annotations

import pytest

from bot.endings import evidence_of, new_edits, of_known_names, refix
from memory.types import (
    CheckId,
    Drop,
    DropCause,
    Edit,
    Ending,
    Evidence,
    Hold,
    HoldCause,
    NotOurs,
    NotOursCause,
    PassAfterHold,
    Refix,
    Verify,
    VerifyOutcome,
    Where,
)
from stages.patch import FileChange, Patch


def patch(*lines: str) -> Patch:
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n" + "\n".join(lines) + "\n"
    return Patch(diff=diff, files=(FileChange(path="a.py", status="M", old_mode="100644", new_mode="100644"),))


def test_a_refix_names_only_the_edits_that_the_held_patch_did_not_have() -> None:
    held, better = patch("-x = 1", "+x = 2"), patch("-x = 1", "+x = 3")

    assert new_edits(held, better) == better.edits
    assert new_edits(held, held) == ()


def test_a_refix_tells_which_held_checks_pass_now_and_which_still_fail() -> None:
    held, better = patch("-x = 1", "+x = 2"), patch("-x = 1", "+x = 3")
    was = (CheckId("t::a"), CheckId("t::b"))

    told = refix(2, held, better, was, {CheckId("t::a"), CheckId("t::c")})

    assert (told.now_passing, told.still_failing) == ((CheckId("t::a"),), (CheckId("t::b"),))


def test_a_check_that_was_not_run_does_not_count_as_passing() -> None:
    held, better = patch("-x = 1", "+x = 2"), patch("-x = 1", "+x = 3")

    told = refix(2, held, better, (CheckId("t::a"),), frozenset())

    assert (told.now_passing, told.still_failing) == ((), (CheckId("t::a"),))


@pytest.mark.parametrize(
    ("cause", "status", "failing", "evidence"),
    [
        (HoldCause.CHECK, 1, (), Evidence.EXIT_STATUS),
        (HoldCause.CHECK, None, (CheckId("t::a"),), Evidence.EXIT_STATUS),
        (HoldCause.CHECK, None, (), Evidence.NONE),
        (HoldCause.PROTECTED, 1, (), Evidence.NONE),
    ],
)
def test_only_what_a_check_showed_validates_a_hold(
    cause: HoldCause, status: int | None, failing: tuple[CheckId, ...], evidence: Evidence
) -> None:
    hold = Hold(where=Where.GATE, cause=cause, attempt=1, exit_status=status, failing=failing)

    assert evidence_of(hold) is evidence


MODELS = CheckId("tests/test_ignore.py::test_all_rules_and_push")
KNOWN = CheckId("tests/test_cart.py::test_total")
EDIT = Edit(path="a.py", line=1, digest="0123456789ab")


@pytest.mark.parametrize(
    ("ending", "ids"),
    [
        (Hold(where=Where.GATE, cause=HoldCause.CHECK, attempt=1, failing=(KNOWN, MODELS)), "failing"),
        (Refix(attempt=2, edits=(EDIT,), now_passing=(KNOWN, MODELS)), "now_passing"),
        (Refix(attempt=2, edits=(EDIT,), still_failing=(KNOWN, MODELS)), "still_failing"),
        (Verify(outcome=VerifyOutcome.WORKED, checks=(KNOWN, MODELS)), "checks"),
        (NotOurs(cause=NotOursCause.ALREADY_FIXED, proof=(KNOWN, MODELS)), "proof"),
    ],
)
def test_a_test_that_the_base_does_not_have_is_a_hash_in_every_ending(ending: Ending, ids: str) -> None:
    told = of_known_names(ending, lambda path: True, {KNOWN}.__contains__)

    known, models = getattr(told, ids)
    assert known == KNOWN
    assert models.startswith("#")
    assert "rules" not in models


def test_b56_a_file_that_the_base_does_not_have_is_a_hash() -> None:
    told = of_known_names(PassAfterHold(attempt=2, answers=(), edits=(EDIT,)), lambda path: False, lambda test: True)

    assert isinstance(told, PassAfterHold)
    assert told.edits[0].path.startswith("#")


def test_a_drop_names_nothing() -> None:
    drop = Drop(cause=DropCause.BUDGET)

    assert of_known_names(drop, lambda path: False, lambda test: False) is drop
