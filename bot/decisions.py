"""What code decides between stages; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from memory.types import CheckId, ErrorSignature, NotOursCause
from stages.gate import GateReport
from stages.prompt import EntryPoint
from stages.report import Outcome
from stages.ticket import Ticket
from stages.triage import Ownership

LIBRARY: Final = "lib:"  # how a signature marks frames that are not of the repository
_WORD: Final = re.compile(r"[\w./\\-]{3,300}")


def not_ours(
    ownership: Ownership,
    ticket: Ticket,
    signatures: Iterable[ErrorSignature],
    files: Iterable[str],
    red: Iterable[CheckId] = (),
) -> NotOursCause | None:
    """Why the run ends at triage: only when no frame is of this tree, no file and no red test of it is named, and the
    model says so."""
    named = named_files(ticket, files) or names_one(ticket, red)
    if ownership is Ownership.OURS or has_frame_here(signatures) or named:
        return None
    return NotOursCause.NO_FRAME_HERE if ownership is Ownership.NOT_HERE else NotOursCause.NOT_A_BUG


def has_frame_here(signatures: Iterable[ErrorSignature]) -> bool:
    return any(not frame.startswith(LIBRARY) for signature in signatures for frame in signature.frames)


def named_files(ticket: Ticket, files: Iterable[str]) -> tuple[str, ...]:
    """Files of the tree that the ticket names, whole or by a base name that only a file can have."""
    words = {
        word.replace("\\", "/").strip("./") for word in _WORD.findall(f"{ticket.title}\n{ticket.text}") if "." in word
    }
    ends = {word.rsplit("/", 1)[-1] for word in words}
    return tuple(
        path
        for path in files
        if PurePosixPath(path).name in ends and any(path.endswith(word) or word.endswith(path) for word in words)
    )


def names_one(ticket: Ticket, red: Iterable[CheckId]) -> bool:
    """True when the ticket names the function of one of these tests."""
    text = f"{ticket.title}\n{ticket.text}"
    names = {test.rpartition("::")[2].partition("[")[0] for test in red if "::" in test}
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names if name.startswith("test"))


def after_hold(report: GateReport) -> Sequence[EntryPoint]:
    """What comes next: a new diagnosis first, when the patch did not even turn its own reproduction green."""
    if report.reproduction is not None and not report.reproduction.passed:
        return (EntryPoint.REDIAGNOSE, EntryPoint.REFIX)
    return (EntryPoint.REFIX,)


def passes_now(report: GateReport) -> frozenset[CheckId]:
    """Every id that was run with the patch and passed; a check as a whole by its own name."""
    runs = (*((report.reproduction,) if report.reproduction else ()), *report.checks)
    passed = {test.id for run in runs for test in run.outcomes if test.outcome is Outcome.PASSED}
    return frozenset(passed | {run.check for run in report.checks if run.passed})
