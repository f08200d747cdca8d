"""Facts of a run become endings."""

from __future__ import annotations

import pytest

from bot.endings import evidence_of, new_edits, refix
from memory.types import CheckId, Evidence, Hold, HoldCause, Where
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

    told = refix(2, held, better, was, (CheckId("t::b"), CheckId("t::c")))

    assert (told.now_passing, told.still_failing) == ((CheckId("t::a"),), (CheckId("t::b"),))


@pytest.mark.parametrize(
    ("cause", "evidence"), [(HoldCause.CHECK, Evidence.EXIT_STATUS), (HoldCause.PROTECTED, Evidence.NONE)]
)
def test_only_an_exit_status_validates_a_hold(cause: HoldCause, evidence: Evidence) -> None:
    assert evidence_of(Hold(where=Where.GATE, cause=cause, attempt=1)) is evidence
