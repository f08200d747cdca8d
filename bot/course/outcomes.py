"""How a run ended, as a person would say it; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.course.markdown import plain
from memory.types import DropCause, EndingKind, HoldCause, NotOursCause, VerifyOutcome

_HELD: Final[Mapping[HoldCause, str]] = {
    HoldCause.CHECK: "tests fail with it",
    HoldCause.TESTS_WEAKENED: "it weakens tests",
    HoldCause.TOO_BIG: "it is too big",
    HoldCause.PROTECTED: "it touches what no patch may touch",
    HoldCause.LEAK: "a secret stands in it",
    HoldCause.FINDING: "the review found an error in it that code could show",
}
_DROPPED: Final[Mapping[DropCause, str]] = {
    DropCause.NOT_REPRODUCIBLE: "Given up: no test could be found or written that shows the failure.",
    DropCause.BUDGET: "Given up: its budget is used up.",
    DropCause.EMPTY_PATCH: "Given up: no change was found.",
    DropCause.MODEL_FORMAT: "Given up: the model's answers could not be read.",
    DropCause.STOPPED: "Stopped.",
    DropCause.CLOSED_BY_HUMAN: "Over, because a person closed it.",
    DropCause.MOVED: "Over, because the issue was moved.",
    DropCause.DELETED: "Over, because the issue was deleted.",
    DropCause.SUPERSEDED: "Over, because another run took its place.",
}
_NOT_OURS: Final[Mapping[NotOursCause, str]] = {
    NotOursCause.NO_FRAME_HERE: "Not for this repository: the failure lies in none of its files.",
    NotOursCause.ALREADY_FIXED: "Nothing to change: the failure does not show any more.",
    NotOursCause.DUPLICATE: "Nothing to change here: another patch that is out repairs the same failure.",
    NotOursCause.NOT_A_BUG: "Nothing to change: this is no failure of the program.",
}
_VERIFIED: Final[Mapping[VerifyOutcome, str]] = {
    VerifyOutcome.WORKED: "Verified: the patch works where it was merged.",
    VerifyOutcome.RECURRED: "The failure is back: the patch did not repair it for good.",
    VerifyOutcome.UNVERIFIED: "Over: it has been quiet since, and nothing showed whether the patch worked.",
}
_SAID: Final[Mapping[str, str]] = {
    **{
        f"{EndingKind.HOLD}: {cause}": f"Held: no attempt passed. Of the last one: {why}."
        for cause, why in _HELD.items()
    },
    **{f"{EndingKind.DROP}: {cause}": text for cause, text in _DROPPED.items()},
    **{f"{EndingKind.NOT_OURS}: {cause}": text for cause, text in _NOT_OURS.items()},
    **{f"{EndingKind.VERIFY}: {outcome}": text for outcome, text in _VERIFIED.items()},
}


def is_ending(outcome: str) -> bool:
    """Whether it is an outcome that a run can have."""
    return outcome in _SAID


def said(outcome: str) -> str:
    """One sentence for people."""
    return _SAID.get(outcome) or f"Over: {plain(outcome)}"
