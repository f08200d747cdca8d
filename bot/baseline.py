"""What the base shows before anything is spent: can the checks run here at all, and what is red already."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from bot.projects import apart
from bot.wording import count
from memory.types import CheckId
from stages.early_end import with_the_rest
from stages.errors import ParkCause, Parked
from stages.report import Check, CheckKind, CheckReport, Outcome
from stages.workspace import Workspace

_OUTPUT_AT_MOST: Final = 400  # characters
_ALIKE_AT_LEAST: Final = 3  # tests
_IF_MISSING: Final = "if they need a service or a file that is not here, name it in .github/ticketsmith.toml"
_LINE_AT_MOST: Final = 200
_MISSING: Final = re.compile(r"No module named '([\w.]+)'")
_NO_PYTEST: Final = re.compile(r"No module named '_?pytest(?:\.[\w.]+)?'\s*\Z")  # the last that such a run says
_NO_SESSION: Final = (3, 4)  # pytest's, where a hook or the `conftest.py` at the top fails
_REFUSED: Final = 4  # pytest's, also where its options, its settings or a plugin keep it from starting
_REFUSAL: Final = re.compile(  # what it says last then, without the usage before it and the places behind it
    r"\A(?:.*\n)?ERROR: (?=\S)(?:usage:.*?: error: )?(.+?)(?=\n(?:ERROR:)? +(?:config source|inifile|rootdir):|\Z)",
    re.DOTALL,
)
_PLUGIN: Final = re.compile(r'Error importing plugin "([\w.]+)"')
_OWN_CODE: Final = re.compile(r"^ImportError while loading conftest|Traceback \(most recent call last\)", re.MULTILINE)
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

    @property
    def early(self) -> tuple[str, ...]:
        """One sentence for each check whose run ends early without any patch."""
        both = zip(self.checks, self.reports, strict=True)
        return tuple(_early(check, report) for check, report in both if not report.complete)

    @property
    def alike(self) -> tuple[str, ...]:
        """One sentence for each check of several tests that all fail with the same words: something may be missing."""
        return tuple(
            f"{report.check}: {count(len(report.failed), 'test')}, {_named(report.failed[0].type)}; {_IF_MISSING}"
            for report in self.reports
            if len(report.outcomes) == len(report.failed) >= _ALIKE_AT_LEAST
            and len({test.failure for test in report.failed}) == 1
        )


def _named(kind: str) -> str:
    """An exception by its name, as far as it is one."""
    return kind if re.fullmatch(r"[\w.]{1,80}", kind) else "one error"


def take(workspace: Workspace, stopped: Callable[[], bool]) -> Baseline:
    """Run every check on the base. Raises Stopped, and Parked when there is none, or when one cannot run here.

    A check of another language that was only seen in the tree may be broken as long as one check works.
    """

    def run(check: Check) -> CheckReport:
        def some(tests: tuple[CheckId, ...]) -> CheckReport:
            return workspace.run(check.name, tests=tests, stopped=stopped)

        return with_the_rest(check, some(()), some)

    ran = apart(workspace, [(check, run(check)) for check in workspace.checks], run)
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
    if report.timed_out:
        return f"the check {report.check} did not end on the base commit within its time: {_way_out(check, report)}"
    if refusal := _refusal(check, report, files):
        return (
            f"the check {report.check} cannot run here, because pytest does not start: {refusal}. Name an interpreter "
            "that has what it asks for as `python` in .github/ticketsmith.toml, or leave out what the repository adds "
            f"to its arguments, with {_settings(check, '-o', 'addopts=')} under [checks.{check.name}] there"
        )
    no_program = check.kind is CheckKind.COMMAND and report.exit_status in _CANNOT_START
    if no_program or (not report.complete and not report.outcomes):
        if check.kind is CheckKind.PYTEST and _NO_PYTEST.search(report.output):
            return (
                f"the check {report.check} cannot run here: pytest, which runs those of unittest too, is not installed "
                "beside the interpreter that runs them. Install it there, or name another one as `python` in "
                ".github/ticketsmith.toml"
            )
        return f"the check {report.check} cannot run here on the base commit: {_end(check, report)}"
    failed = [test.message if test.outcome is Outcome.FAILED else "" for test in report.outcomes]
    if check.kind is CheckKind.PYTEST and report.exit_status in _NO_SESSION and not failed:
        failed = [report.output]
    missing = [_missing(text, files) for text in failed]
    if missing and all(missing):
        return (
            f"the check {report.check} cannot run here: the module {missing[0]} is not installed. "
            "Name an interpreter that has it as `python` in .github/ticketsmith.toml"
        )
    return ""


def _refusal(check: Check, report: CheckReport, files: Iterable[str]) -> str:
    """Why pytest did not start, in its own words; "" when it did, or when the tree's own code kept it from that."""
    if check.kind is not CheckKind.PYTEST or report.exit_status != _REFUSED or report.outcomes:
        return ""
    found, plugin = _REFUSAL.match(report.output.rstrip()), _PLUGIN.search(report.output)
    if not found or _OWN_CODE.search(report.output) or (plugin and _is_ours(plugin[1], files)):
        return ""
    return " ".join(found[1].split())[:_LINE_AT_MOST].rstrip(".")


def _end(check: Check, report: CheckReport) -> str:
    """How a check ended that showed no test, what it said last, and what people can do about it."""
    tail = " ".join(report.output.split())[-_OUTPUT_AT_MOST:]
    status = "was killed" if report.exit_status is None else f"ended with status {report.exit_status}"
    if check.kind is not CheckKind.PYTEST:
        return tail or f"it {status} and said nothing"
    said = f", and said last: {tail}" if tail else ""
    if report.ended_in:
        return f"it {status} as it read {report.ended_in}; {_without(check, report.ended_in)}"
    return (
        f"it {status} before any test{said}; mend what ends it, such as a hook in a conftest.py, or name other checks "
        "under [checks] in .github/ticketsmith.toml"
    )


def _way_out(check: Check, report: CheckReport) -> str:
    """In which test or file the time was over, and what people can do about it."""
    place, seconds = f"[checks.{check.name}] in .github/ticketsmith.toml", f"{check.timeout_seconds:g}"
    if not report.ended_in:
        said = [" ".join(line.split())[:_LINE_AT_MOST] for line in report.output.split("\n") if line.strip()]
        last = f"the last that it said is {said[-1]!r}" if said else "it said nothing"
        return f"{last}; give it a `timeout_seconds` above {seconds} under {place}, or name other checks there"
    where = "in" if "::" in report.ended_in else "reading"
    return (
        f"it was {where} {report.ended_in} then; {_without(check, report.ended_in)}, or give it more time, with "
        f"{_settings(check)} and a `timeout_seconds` above {seconds}"
    )


def _without(check: Check, ended_in: CheckId) -> str:
    """How people leave out the test or the file in which the run of a check ended."""
    is_test = "::" in ended_in
    out = ("--deselect" if is_test else "--ignore", ended_in.removeprefix(f"{check.folder}/"))
    return (
        f"under [checks.{check.name}] in .github/ticketsmith.toml leave this {'test' if is_test else 'file'} out, with "
        f"{_settings(check, *out)}"
    )


def _settings(check: Check, *more: str) -> str:
    """The lines that name the check as it is, with more arguments for pytest."""
    folder = "" if check.folder == "." else f"`folder = {json.dumps(check.folder, ensure_ascii=False)}`, "
    return f"{folder}`pytest = {json.dumps([*check.arguments, *more], ensure_ascii=False)}`"


def _early(check: Check, report: CheckReport) -> str:
    if check.kind is not CheckKind.PYTEST:
        return f"{check.name}: its results are not whole, and a patch passes only if they are whole with it"
    where = f"in {report.ended_in}" if report.ended_in else "between tests"
    after = f"what it did not reach was run after it ({count(len(report.rest), 'test')})" if report.rest else ""
    told = (f"its run ended {where}", after, "patches are compared with it test by test")
    return f"{check.name}: {', '.join(part for part in told if part)}"


def _missing(text: str, files: Iterable[str]) -> str:
    """The module, not one of the tree, that kept a test from being read."""
    found = _MISSING.search(text)
    return "" if not found or _is_ours(found[1], files) else found[1].split(".")[0]


def _is_ours(module: str, files: Iterable[str]) -> bool:
    """True when the tree has a module or a package whose name is the first part of this one."""
    top = module.split(".")[0]
    return any(path.split("/")[-1] in (top, f"{top}.py") or f"/{top}/" in f"/{path}" for path in files)
