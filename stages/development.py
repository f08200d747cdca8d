"""Development: the patch that makes the reproduction pass."""

from __future__ import annotations

from dataclasses import dataclass

from memory.types import MemoryQuery
from stages import body as blocks
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.case import Case, HeldAttempt
from stages.errors import Refused, UnreadableAnswer
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import Reproduction


@dataclass(frozen=True, kw_only=True)
class DevelopmentGiven:
    """`cause` and `files` are the diagnosis; `held` is the attempt that a refix answers."""

    case: Case
    cause: str
    files: tuple[str, ...]
    reproduction: Reproduction
    held: HeldAttempt | None = None


class Development(Stage[DevelopmentGiven, Patch]):
    """diagnosis → patch, hold → patch. The patch is what stands in the tree, whatever the model says of it."""

    entry_points = (EntryPoint.DEVELOP, EntryPoint.REFIX)

    def query(self, given: DevelopmentGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: DevelopmentGiven) -> str:
        return blocks.fill(
            template(self.entry_point),
            self.entry_point,
            case=blocks.case_blocks(given.case),
            diagnosis=blocks.diagnosis(given.cause, given.files),
            reproduction=blocks.reproduction(given.reproduction),
            held=blocks.held(given.held),
        )

    def read(self, answer: Answer, given: DevelopmentGiven) -> Patch:  # noqa: ARG002 - the tree is the answer
        """The patch; an empty one when the model gave up."""
        try:
            return self.desk.workspace.patch()
        except Refused as refused:
            raise UnreadableAnswer(reason=str(refused)) from refused
