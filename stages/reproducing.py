"""Runs what a model names or writes as reproduction, on the base commit, and gives it only when it fails there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from memory.signature import RepoView
from memory.signature.normalise import template
from memory.types import CheckId, ErrorSignature
from stages.base import Desk
from stages.case import Case
from stages.errors import Refused, StageError, UnreadableAnswer
from stages.report import Check, CheckKind, CheckReport, Outcome, Reproduction, TestOutcome
from stages.telling import ASSERTIONS, bare, exceptions, names, says_nothing, tells
from stages.view import view_of

TEXT_AT_MOST: Final = 64 * 1024  # characters of a new test file
_PATH: Final = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/){0,12}(?:test_[A-Za-z0-9_]{1,80}|[A-Za-z0-9_]{1,80}_test)\.py"
)
_BROKEN_OFF: Final = ("Timeout", "Crash")  # what a run calls a test that never came to its end


class NotShown(UnreadableAnswer):
    """The failure is not shown: {reason}"""


class Passes(StageError):
    """The test {test} that the ticket names passes on the base commit."""

    def __init__(self, *, test: CheckId) -> None:
        super().__init__(test=test)
        self.test = test


class Reproducing:
    """Tries reproductions in a workspace that stands at the base commit, and leaves it so."""

    def __init__(self, case: Case, desk: Desk) -> None:
        self._case, self._workspace, self._limits, self._admission = case, desk.workspace, desk.limits, desk.admission

    def name(self, test: str) -> Reproduction:
        """A known test or check that fails. Raises NotShown, Passes."""
        check = self._case.check_of(test)
        if check is None:
            alike = self._case.like(test)
            hint = (
                f"; do you mean {' or '.join(alike)}?" if alike else "; write a new test with test_path and test_text"
            )
            raise NotShown(reason=f"{test[:200]!r} is not among the known checks and tests{hint}")
        known = CheckId(test)
        shown, report = self._as_in_the_check(check, Reproduction(check=check.name, test=known))
        if not _red(report, known):
            if self._named_by_ticket(test):
                raise Passes(test=known)
            raise NotShown(reason=f"{test} passes on the base commit; name a test that fails, or write a new one")
        if known == check.name and check.kind.names_tests and report.failing != (known,):
            raise NotShown(reason=f"name one test that fails, such as {', '.join(report.failing[:3])}")
        self._require_alert(report, known, check.kind)
        return shown

    def _as_in_the_check(self, check: Check, alone: Reproduction) -> tuple[Reproduction, CheckReport]:
        """The test alone, or with its file where only that shows the failure that the whole check showed.

        A test may need what an earlier one left behind: alone it fails for the want of it, or not at all.
        """
        report = self._run(check, alone.tests)
        known = self._case.failures.get(alone.test)
        if check.kind is not CheckKind.PYTEST or known is None or _shows(report, alone.test, known):
            return alone, report
        beside = replace(alone, with_file=True)
        together = self._run(check, beside.tests, with_files=True)
        if _shows(together, alone.test, known) or (
            _shows(together, alone.test, known, data=False) and not _shows(report, alone.test, known, data=False)
        ):
            return beside, together
        return alone, report

    def write(self, path: str, text: str) -> Reproduction:
        """A new test file that fails, and that may be published. Raises NotShown."""
        check = self._check_for(path, text)
        data = self._data_of(Reproduction(check=check.name, test=CheckId(path), path=path, text=text))
        try:
            self._workspace.write(path, data)
            report = self._run(check, (CheckId(path),))
        except Refused as refused:
            raise NotShown(reason=str(refused)) from refused
        finally:
            self._workspace.reset()
        return Reproduction(
            check=check.name,
            test=self._shown_by(report).id,
            path=path,
            text=text,
            sha256=hashlib.sha256(data).hexdigest(),
        )

    def _data_of(self, new: Reproduction) -> bytes:
        try:
            data = new.text.encode()
        except UnicodeEncodeError:
            raise NotShown(reason="test_text holds characters that no file can hold") from None
        if refusals := list(self._admission.refusals(new)):
            raise NotShown(reason=f"the test file would be published, and may not be: {'; '.join(refusals[:3])}")
        return data

    def _run(self, check: Check, tests: tuple[CheckId, ...], *, with_files: bool = False) -> CheckReport:
        try:
            return self._workspace.run(
                check.name, tests=tests, with_files=with_files, at_base=True, stopped=lambda: self._limits.stopped
            )
        except Refused as refused:
            raise NotShown(reason=str(refused)) from refused

    def _check_for(self, path: str, text: str) -> Check:
        """The check that would collect a test file at `path`."""
        if not path or not text.strip():
            raise NotShown(reason="a new test needs both test_path and test_text")
        if len(text) > TEXT_AT_MOST:
            raise NotShown(reason=f"test_text has more than {TEXT_AT_MOST} characters")
        if not _PATH.fullmatch(path):
            raise NotShown(reason="test_path is a relative path of a Python file named test_….py or …_test.py")
        if path in self._workspace.files():
            raise NotShown(reason=f"{path} is there already; take another name")
        checks = [
            check
            for check in self._case.checks
            if check.kind is CheckKind.PYTEST and PurePosixPath(path).is_relative_to(check.folder)
        ]
        if not checks:
            raise NotShown(reason="no check would run a test file at this path")
        return max(checks, key=lambda check: len(PurePosixPath(check.folder).parts))

    def _shown_by(self, report: CheckReport) -> TestOutcome:
        """The test of the new file that shows the failure."""
        failed = report.failed
        if not report.outcomes or (not failed and not report.complete):
            raise NotShown(reason=f"no test of the file was collected and run:\n{_tail(report.output)}")
        if not failed:
            raise NotShown(
                reason="the new test passes on the base commit; it must fail because of the ticket's failure"
            )
        for test in failed:
            if self._fits(test):
                return test
        wanted = "it must fail with an assertion, or with the exception that the ticket names"
        if alerts := self._alerts(CheckKind.PYTEST):
            wanted = (
                f"the ticket's alert shows {alerts[0].type}: call what failed there in the same way, and let that "
                "exception through instead of asserting"
            )
        seen = f"{failed[0].type or 'an error'}: {failed[0].message[:300]}"
        raise NotShown(reason=f"the new test fails for another reason - {wanted}\n{seen}")

    def _fits(self, test: TestOutcome) -> bool:
        # An error while a file is collected has no type of its own, only its message.
        name = bare(test.type or test.message.partition(":")[0])
        if alerts := self._alerts(CheckKind.PYTEST):
            return tells(alerts, test.text, self._view, type_=name)
        return name in ASSERTIONS or (bool(name) and re.search(rf"\b{re.escape(name)}\b", self._text) is not None)

    def _require_alert(self, report: CheckReport, known: CheckId, kind: CheckKind) -> None:
        """A known test that the ticket does not name must show what the alert shows, where it shows anything."""
        alerts = self._alerts(kind)
        if not alerts or self._named_by_ticket(known):
            return
        found = next((test for test in report.outcomes if test.id == known), None)
        output, type_ = (found.text, found.type) if found else (report.output, "")
        if type_ in ("", *_BROKEN_OFF) and says_nothing(output, self._view):
            return
        if not tells(alerts, output, self._view, type_=type_):
            raise NotShown(
                reason=f"{known} fails with another failure than the alert, which shows {alerts[0].type}: name a "
                "test that fails with it, or write a new one"
            )

    def _named_by_ticket(self, test: str) -> bool:
        return names(self._case.ticket, self._case.asking.signatures, test)

    def _alerts(self, kind: CheckKind) -> tuple[ErrorSignature, ...]:
        return exceptions(self._case.asking.signatures, language="python" if kind is CheckKind.PYTEST else "")

    @cached_property
    def _view(self) -> RepoView:
        return view_of(self._workspace.files())

    @property
    def _text(self) -> str:
        return f"{self._case.ticket.title}\n{self._case.ticket.text}"


def _red(report: CheckReport, test: CheckId) -> bool:
    """True when the test failed, or when the run broke off before it could tell."""
    if test == report.check:
        return not report.passed and not report.ran_nothing
    ended = [outcome.outcome for outcome in report.outcomes if outcome.id == test]
    return Outcome.FAILED in ended or (not ended and not report.complete)


def _shows(report: CheckReport, test: CheckId, failure: str, *, data: bool = True) -> bool:
    """Whether the test fails so; without `data` also where names of temporary files and the like differ."""
    told = (failed.failure for failed in report.failed if failed.id == test)
    return any(one == failure or (not data and template(one).text == template(failure).text) for one in told)


def _tail(output: str) -> str:
    return output.strip()[-600:]
