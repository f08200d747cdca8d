"""Review: what is wrong with a patch, beside what the gate saw."""

from __future__ import annotations

from dataclasses import dataclass

from memory.types import MemoryQuery
from stages import body as blocks
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.case import Case
from stages.errors import UnreadableAnswer
from stages.gate import Finding, GateReport
from stages.patch import Patch
from stages.prompt import EntryPoint
from stages.report import CheckReport


@dataclass(frozen=True, kw_only=True)
class ReviewGiven:
    case: Case
    cause: str
    patch: Patch
    report: GateReport


class Review(Stage[ReviewGiven, tuple[Finding, ...]]):
    """patch and gate report → findings. Which of them hold is decided by code, in the gate."""

    entry_points = (EntryPoint.REVIEW,)

    def query(self, given: ReviewGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: ReviewGiven) -> str:
        return blocks.fill(
            template(self.entry_point),
            self.entry_point,
            case=blocks.case_blocks(given.case),
            diagnosis=blocks.diagnosis(given.cause, ()),
            gate=evidence(given.report),
            patch=blocks.patch("Patch", given.patch),
        )

    def read(self, answer: Answer, given: ReviewGiven) -> tuple[Finding, ...]:  # noqa: ARG002 - judged in the gate
        match answer.fields.get("findings"):
            case list() as findings:
                return tuple(map(_finding, findings))
            case _:
                raise UnreadableAnswer(reason="findings is a list; an empty one when there is nothing to say")


def _finding(fields: object) -> Finding:
    match fields:
        case {"path": str() as path, "line": int() as line, "text": str() as text, **more} if not isinstance(
            line, bool
        ):
            return Finding(
                path=path, line=line, text=text, check=str(more.get("check") or ""), rule=str(more.get("rule") or "")
            )
        case _:
            raise UnreadableAnswer(reason="each finding has a path (text), a line (whole number) and a text")


def evidence(report: GateReport) -> str:
    """What the gate saw, as a block of a body."""
    runs = [*([report.reproduction] if report.reproduction else []), *report.checks]
    lines = [
        *map(_ran, runs),
        *(f"fixed {test}" for test in report.fixed),
        *(f"newly failing {test}" for test in report.newly_failing),
        *(f"still failing {test}" for test in report.still_failing),
        *(f"weakened {weakened.what}: {weakened.how}" for weakened in report.weakened),
    ]
    return "\n".join(["Gate:", blocks.quoted_ids(lines)]) if lines else ""


def _ran(report: CheckReport) -> str:
    ending = "killed" if report.exit_status is None else f"exit {report.exit_status}"
    return f"{report.check}: {ending}, {len(report.outcomes)} tests, {len(report.failing)} failing"
