"""Triage: is the ticket about this repository, and is it a bug?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memory.types import MemoryQuery
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.body import case_blocks, fill
from stages.case import Case
from stages.errors import UnreadableAnswer
from stages.prompt import EntryPoint


class Ownership(StrEnum):
    """Whose ticket it is, as the model sees it. It ends a run only where code sees the same."""

    OURS = "ours"
    NOT_HERE = "not-here"
    NOT_A_BUG = "not-a-bug"


@dataclass(frozen=True, kw_only=True)
class TriageGiven:
    case: Case


class Triage(Stage[TriageGiven, Ownership]):
    """ticket → ownership"""

    entry_points = (EntryPoint.TRIAGE,)

    def query(self, given: TriageGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: TriageGiven) -> str:
        return fill(template(self.entry_point), self.entry_point, case=case_blocks(given.case))

    def read(self, answer: Answer, given: TriageGiven) -> Ownership:  # noqa: ARG002 - the answer stands alone
        try:
            return Ownership(str(answer.fields.get("ownership")))
        except ValueError:
            raise UnreadableAnswer(reason=f"ownership is one of {', '.join(Ownership)}") from None
