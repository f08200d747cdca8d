"""What the base shows before anything is spent: can the checks run here at all, and what is red already."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from memory.types import CheckId
from stages.errors import ParkCause, Parked
from stages.report import Check, CheckKind, CheckReport, Outcome, TestOutcome
from stages.workspace import Workspace

_OUTPUT_AT_MOST: Final = 400  # characters
_MISSING: Final = re.compile(r"No module named '([\w.]+)'")
_CANNOT_START: Final = (126, 127)  # what a shell says of a program that is not there or not for it
_NO_CHECKS: Final = (
    "this repository shows no check: add tests that pytest finds, or name a command under [checks] in "
    ".github/ticketsmith.toml"
)


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """One report for each check, of the base without a change."""

    checks: tuple[Check, ...]
    reports: tuple[CheckReport, ...]
    left_out: tuple[str, ...] = ()  # one sentence for each check that was seen in the tree and cannot run here

    @property
    def known(self) -> frozenset[CheckId]:
        """The checks, and every test that they collected."""
        return frozenset(test for report in self.reports for test in (report.check, *report.collected))


def take(workspace: Workspace, stopped: Callable[[], bool]) -> Baseline:
    """Run every check on the base. Raises Stopped, and Parked when there is none, or when one cannot run here.

    A check of another language that was only seen in the tree may be broken as long as one check works.
    """
    ran = [(check, workspace.run(check.name, stopped=stopped)) for check in workspace.checks]
    files = workspace.files()
    left_out = list(workspace.left_out)
    taken = list[tuple[Check, CheckReport]]()
    for check, report in ran:
        broken = why_broken(check, report, files)
        if broken and not check.detected:
            raise Parked(cause=ParkCause.ENVIRONMENT, reason=broken)
        if broken:
            left_out.append(broken)
        else:
            taken.append((check, report))
    if all(report.ran_nothing for _, report in taken):
        raise Parked(cause=ParkCause.ENVIRONMENT, reason="; ".join((_NO_CHECKS, *left_out)))
    return Baseline(
        checks=tuple(check for check, _ in taken),
        reports=tuple(report for _, report in taken),
        left_out=tuple(left_out),
    )


def why_broken(check: Check, report: CheckReport, files: Iterable[str]) -> str:
    """Why a check says nothing about the code, or "" when it does."""
    tail = " ".join(report.output.split())[-_OUTPUT_AT_MOST:]
    if report.timed_out:
        return f"the check {report.check} did not end on the base commit within its time: {tail}"
    no_program = check.kind is CheckKind.COMMAND and report.exit_status in _CANNOT_START
    if no_program or (not report.complete and not report.outcomes):
        return f"the check {report.check} cannot run here on the base commit: {tail}"
    missing = [_missing(test, files) for test in report.outcomes]
    if missing and all(missing):
        return (
            f"the check {report.check} cannot run here: the module {missing[0]} is not installed. "
            "Name an interpreter that has it as `python` in .github/ticketsmith.toml"
        )
    return ""


def _missing(test: TestOutcome, files: Iterable[str]) -> str:
    """The module, not one of the tree, that kept a test from being read."""
    found = _MISSING.search(test.message) if test.outcome is Outcome.FAILED else None
    top = found[1].split(".")[0] if found else ""
    ours = any(path.split("/")[-1] in (top, f"{top}.py") or f"/{top}/" in f"/{path}" for path in files)
    return "" if ours else top
