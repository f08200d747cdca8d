"""Verification: which known check shows that a merged fix works."""

from __future__ import annotations

from dataclasses import dataclass

from memory.types import CheckId, CommitId, MemoryQuery
from stages import body as blocks
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.case import Case
from stages.errors import UnreadableAnswer
from stages.patch import Patch
from stages.prompt import EntryPoint


@dataclass(frozen=True, kw_only=True)
class VerificationGiven:
    """`commit` is where the patch is part of the default branch; `case.known` are the tests there."""

    case: Case
    patch: Patch
    commit: CommitId


class Verification(Stage[VerificationGiven, CheckId]):
    """merged patch → a check, or a test of one, among the known ones. Code runs it."""

    entry_points = (EntryPoint.VERIFY,)

    def query(self, given: VerificationGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: VerificationGiven) -> str:
        return blocks.fill(
            template(self.entry_point),
            self.entry_point,
            case=blocks.case_blocks(given.case),
            commit=f"Merged in: {given.commit}",
            patch=blocks.patch("Patch", given.patch),
        )

    def read(self, answer: Answer, given: VerificationGiven) -> CheckId:
        named = str(answer.fields.get("check") or "")
        if given.case.check_of(named) is None:
            raise UnreadableAnswer(reason=f"{named[:100]!r} is not among the known checks and tests")
        return CheckId(named)
