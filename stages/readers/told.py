"""What was read: tests with how they ended, put together one by one, within bounds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from memory.types import CheckId
from stages.report import Outcome, TestOutcome

CASES_AT_MOST: Final = 100_000
_ID_AT_MOST: Final = 500  # characters
_TYPE_AT_MOST: Final = 200
_MESSAGE_AT_MOST: Final = 1_000
_TEXT_AT_MOST: Final = 6_000
_ORDER: Final = (Outcome.PASSED, Outcome.XFAILED, Outcome.SKIPPED, Outcome.FAILED)
_UNSEEN: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]|[\ud800-\udfff]")


class Unreadable(Exception):
    """The results cannot be read; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """Which tests there were, and how each ended. `problem` says why these are not all, "" when they are.

    A test that is told several times ended as its worse report says; `collected` then holds its id as often, with a
    number, so that one of them cannot go unseen.
    """

    outcomes: tuple[TestOutcome, ...] = ()
    collected: tuple[CheckId, ...] = ()
    problem: str = ""


class Tally:
    """Collects tests. `prefix` is put in front of every id; each of `inside` is a path of the tree that is taken out of
    ids, which must be the same in every copy of the tree."""

    def __init__(self, prefix: str = "", inside: tuple[str, ...] = ()) -> None:
        self._prefix, self._inside = prefix, inside
        self._outcomes: dict[CheckId, TestOutcome] = {}
        self._times = Counter[CheckId]()
        self._cases = 0
        self.failed = 0  # reports of a failure so far

    def add(
        self,
        name: str,
        outcome: Outcome,
        *,
        kind: str = "",
        message: str = "",
        text: str = "",
        seconds: float = 0.0,
    ) -> None:
        """Count one test. Raises Unreadable when there are too many."""
        told = TestOutcome(
            id=self.id(name),
            outcome=outcome,
            type=_shown(kind)[:_TYPE_AT_MOST],
            message=_cut(_shown(message).strip(), _MESSAGE_AT_MOST),
            text=_cut(_shown(text), _TEXT_AT_MOST) if outcome is Outcome.FAILED else "",
            seconds=seconds,
        )
        self._times[told.id] += 1
        self._cases += 1
        self.failed += outcome is Outcome.FAILED
        if self._cases > CASES_AT_MOST:
            raise Unreadable(f"there are more than {CASES_AT_MOST} tests")
        before = self._outcomes.get(told.id)
        self._outcomes[told.id] = told if before is None else max(before, told, key=_badness)

    def id(self, name: str) -> CheckId:
        """The id under which a test of this name is known."""
        for path in self._inside:
            name = name.replace(f"file://{path}/", "").replace(f"{path}/", "")
        return CheckId(" ".join(f"{self._prefix}{_shown(name)}".split())[:_ID_AT_MOST])

    def told(self, problem: str = "") -> Told:
        """What was counted."""
        numbered = (
            CheckId(test if number == 1 else f"{test} #{number}")
            for test, times in self._times.items()
            for number in range(1, times + 1)
        )
        return Told(outcomes=tuple(self._outcomes.values()), collected=tuple(numbered), problem=problem)


def _badness(outcome: TestOutcome) -> int:
    return _ORDER.index(outcome.outcome)


def _shown(text: str) -> str:
    return _UNSEEN.sub("", text)


def _cut(text: str, at_most: int) -> str:
    half = at_most // 2
    return text if len(text) <= at_most else f"{text[:half]}\n…\n{text[-half:]}"
