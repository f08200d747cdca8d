"""Diagnosis: why the ticket's failure happens, in which files, and a test that shows it on the base commit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from memory.types import CheckId, MemoryQuery
from stages import body as blocks
from stages.agents.base import Answer
from stages.base import Stage, template
from stages.case import Case, HeldAttempt
from stages.citation import citation
from stages.errors import UnreadableAnswer
from stages.prompt import EntryPoint
from stages.report import Reproduction
from stages.reproducing import Passes, Reproducing


class Absent(StrEnum):
    """Why a diagnosis has no reproduction."""

    DOES_NOT_FAIL = "does-not-fail"  # the test that the ticket names passes on the base
    NOT_SHOWN = "not-shown"  # the model named no test and wrote none


@dataclass(frozen=True, kw_only=True)
class DiagnosisGiven:
    """`held` is the attempt that a new diagnosis answers."""

    case: Case
    held: HeldAttempt | None = None


@dataclass(frozen=True, kw_only=True)
class Diagnosed:
    """What was found. Exactly one of `reproduction` and `absent` is there; `passing` is the test that did not fail."""

    cause: str
    quote: str = ""  # of the ticket
    files: tuple[str, ...] = ()
    reproduction: Reproduction | None = None
    absent: Absent | None = None
    passing: CheckId | None = None


class Diagnosis(Stage[DiagnosisGiven, Diagnosed]):
    """ticket → diagnosis, hold → diagnosis. Code runs the reproduction on the base."""

    entry_points = (EntryPoint.DIAGNOSE, EntryPoint.REDIAGNOSE)

    def query(self, given: DiagnosisGiven) -> MemoryQuery:
        return given.case.query(self.entry_point)

    def body(self, given: DiagnosisGiven) -> str:
        return blocks.fill(
            template(self.entry_point),
            self.entry_point,
            case=blocks.case_blocks(given.case),
            held=blocks.held(given.held),
        )

    def read(self, answer: Answer, given: DiagnosisGiven) -> Diagnosed:
        """Raises NotShown when the test that is meant to show the failure does not."""
        shown = [self._clean(text) for text in blocks.quotable(given.case.ticket)]
        cause, files = _cause(answer), _files(answer)
        found = Diagnosed(cause=cause, quote=citation(answer.fields.get("quote"), shown), files=files)
        reproducing = Reproducing(given.case, self.desk)
        known, path, text = (str(answer.fields.get(name) or "") for name in ("reproduction", "test_path", "test_text"))
        if path or text:
            return replace(found, reproduction=reproducing.write(path, text))
        if not known:
            return replace(found, absent=Absent.NOT_SHOWN)
        try:
            return replace(found, reproduction=reproducing.name(known))
        except Passes as passes:
            return replace(found, absent=Absent.DOES_NOT_FAIL, passing=passes.test)


def _cause(answer: Answer) -> str:
    match answer.fields.get("cause"):
        case str() as cause if cause.strip():
            return cause
        case _:
            raise UnreadableAnswer(reason="cause is a text that says what is wrong")


def _files(answer: Answer) -> tuple[str, ...]:
    match answer.fields.get("files"):
        case list() as files if all(isinstance(file, str) for file in files):
            return tuple(files)
        case _:
            raise UnreadableAnswer(reason="files is a list of paths")
