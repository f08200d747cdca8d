"""Which tests a command ran: dispatch to the reader of its kind, and the part of a run that was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memory.types import CheckId
from stages.readers import cargotest, gotest, jest, junit
from stages.readers.told import Tally, Told, Unreadable
from stages.report import Check, CheckKind, CheckReport, Outcome
from stages.result_files import ResultFiles

_GO_TEST: Final = ("go", "test")
_NUMBERED: Final = re.compile(r" #\d+$")


def read_files(check: Check, files: ResultFiles, insides: tuple[str, ...]) -> Told:
    """What the files of results say; a file that cannot be read is a problem, and none is."""
    tally = _tally(check, insides)
    try:
        for path, data in files.read().items():
            try:
                (jest if check.kind is CheckKind.JEST else junit).read(data, tally)
            except Unreadable as error:
                raise Unreadable(f"{path}: {error}") from error
    except Unreadable as error:
        return tally.told(str(error))
    return tally.told()


def read_output(check: Check, output: bytes, *, cut: bool, insides: tuple[str, ...]) -> Told:
    """What a command said on its channel."""
    tally = _tally(check, insides)
    try:
        (gotest if check.kind is CheckKind.GO else cargotest).read(output, tally)
    except Unreadable as error:
        return tally.told(str(error))
    return tally.told("there were more results than anybody needs" if cut else "")


def only(check: Check, tests: Sequence[CheckId]) -> tuple[str, ...]:
    """The command for these tests alone where its runner can choose them, else the command."""
    if check.kind is not CheckKind.GO or check.arguments[:2] != _GO_TEST or not tests:
        return check.arguments
    names = {test.rpartition("::")[2].partition("/")[0] for test in tests if "::" in test}
    if len(names) < len(tests) or not all(re.fullmatch(r"\w+", name) for name in names):
        return check.arguments
    return (*_GO_TEST, "-run", f"^({'|'.join(sorted(names))})$", *check.arguments[2:])


def alone(report: CheckReport, tests: Sequence[CheckId]) -> CheckReport:
    """The report as far as it is about these tests, or about what lies below them."""
    wanted = [outcome for outcome in report.outcomes if _is_among(outcome.id, tests)]
    failed = sum(outcome.outcome is Outcome.FAILED for outcome in wanted)
    others = sum(outcome.outcome is Outcome.FAILED for outcome in report.outcomes) > failed
    # Others' failures explain the exit status of the whole; it says nothing about these.
    status = 0 if report.complete and others and not failed else report.exit_status
    return replace(
        report,
        outcomes=tuple(wanted),
        collected=tuple(test for test in report.collected if _is_among(CheckId(_NUMBERED.sub("", test)), tests)),
        exit_status=status,
        complete=report.complete and bool(wanted),
    )


def _is_among(test: CheckId, tests: Sequence[CheckId]) -> bool:
    return any(test == one or test.startswith((f"{one}::", f"{one}/", f"{one} > ")) for one in tests)


def _tally(check: Check, insides: tuple[str, ...]) -> Tally:
    return Tally("" if check.folder == "." else f"{check.folder}/", insides)
