"""Summary: what came of a ticket, told to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from memory.types import MemoryQuery
from stages import body as blocks
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.case import Case
from stages.errors import UnreadableAnswer
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.quoting import quote, sanitise

TEXT_AT_MOST: Final = 8_000  # bytes


@dataclass(frozen=True, kw_only=True)
class SummaryGiven:
    """`ended` says in code's words how the run stands, `evidence` what was seen; `patch` is None without one."""

    case: Case
    ended: str
    evidence: tuple[str, ...] = ()
    patch: Patch | None = None


class Summary(Stage[SummaryGiven, str]):
    """patch or ending → text for people. What leaves is checked again before it goes out."""

    entry_points = (EntryPoint.SUMMARISE,)

    def query(self, given: SummaryGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: SummaryGiven) -> str:
        return blocks.fill(
            template(self.entry_point),
            self.entry_point,
            case=blocks.case_blocks(given.case),
            ended=f"Ended: {' '.join(given.ended.split())}",
            evidence="\n".join(["Evidence:", *map(quote, given.evidence)]) if given.evidence else "",
            patch=blocks.patch("Patch", given.patch) if given.patch else "",
        )

    def read(self, answer: Answer, given: SummaryGiven) -> str:  # noqa: ARG002 - the text stands alone
        text = sanitise(str(answer.fields.get("text") or ""), size=TEXT_AT_MOST).text.strip()
        if not text:
            raise UnreadableAnswer(reason="the text is empty")
        return text
