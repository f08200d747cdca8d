"""What the gate saw of an attempt, and the decision: pure, from plain values only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from memory.types import CheckId, CommitId, Edit, HoldCause
from stages.policy import Violation
from stages.report import CheckReport
from stages.weakening import Weakened


@dataclass(frozen=True, kw_only=True)
class Span:
    """Lines of the new file that a patch adds or changes, both ends included."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """What the gate saw of an attempt. `reproduction` is None when it stopped before it ran anything."""

    attempt: int
    base: CommitId
    edits: tuple[Edit, ...] = ()
    spans: tuple[Span, ...] = ()
    violations: tuple[Violation, ...] = ()
    notices: tuple[Violation, ...] = ()  # allowed, and shown to people first
    leaks: tuple[Span, ...] = ()  # added lines that hold a secret
    weakened: tuple[Weakened, ...] = ()
    restored: tuple[str, ...] = ()  # files that steer tests: the base's were used
    red_at_base: bool = False  # the reproduction failed there
    green_now: bool = False  # the reproduction passes with the patch
    reproduction: CheckReport | None = None
    checks: tuple[CheckReport, ...] = ()
    newly_failing: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()  # red before, red now
    fixed: tuple[CheckId, ...] = ()  # red before, green now
    flaky: tuple[CheckId, ...] = ()  # failed with the patch, and passed when run again
    changed_lines: int = 0  # of the patch, inside functions, where tests can tell which lines they ran; else 0
    covered_lines: int = 0  # of those, run by some test


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a review says about a line of the new file. It holds an attempt only where code finds it true.

    `fails` is code's word: the test that `check` names was run, and fails because of the patch.
    """

    path: str
    line: int
    text: str
    check: str = ""
    rule: str = ""
    fails: bool = False


@dataclass(frozen=True, kw_only=True)
class Passed:
    """The attempt passes."""

    fixed: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()
    flaky: tuple[CheckId, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Held:
    """The attempt is refused. `why` is for people: sentences made by code, which may name paths and tests."""

    cause: HoldCause
    failing: tuple[CheckId, ...] = ()
    exit_status: int | None = None
    why: tuple[str, ...] = ()


Verdict: TypeAlias = Passed | Held


def decide(report: GateReport, findings: Iterable[Finding] = ()) -> Verdict:
    """Pass or hold: protected, too big, leak, tests weakened, check, finding, in this order."""
    for cause in (HoldCause.PROTECTED, HoldCause.TOO_BIG):
        if broken := [violation for violation in report.violations if violation.cause is cause]:
            return Held(cause=cause, why=tuple(map(str, broken)))
    if report.leaks:
        return Held(cause=HoldCause.LEAK, why=tuple(f"a secret in {leak.path}:{leak.first}" for leak in report.leaks))
    if report.weakened:
        return Held(
            cause=HoldCause.TESTS_WEAKENED,
            failing=tuple(dict.fromkeys(weakened.what for weakened in report.weakened)),
            why=tuple(f"{weakened.how}: {weakened.what}" for weakened in report.weakened),
        )
    if why := tuple(_failures(report)):
        why += tuple(f"flips, and is not held for: {test}" for test in report.flaky)
        return Held(cause=HoldCause.CHECK, failing=_failing(report), exit_status=_exit_status(report), why=why)
    if held := [finding for finding in findings if is_true(finding, report)]:
        return Held(
            cause=HoldCause.FINDING,
            failing=tuple(dict.fromkeys(CheckId(found.check) for found in held)),
            why=tuple(f"{found.path}:{found.line}: {found.check} fails alone with the patch" for found in held),
        )
    return Passed(fixed=report.fixed, still_failing=report.still_failing, flaky=report.flaky)


def is_true(finding: Finding, report: GateReport) -> bool:
    """True when a finding names a line that the patch adds or changes, and a test that code saw failing for it.

    Rules need no finding: the gate evaluates every one of them, and what it allows no word of a model forbids.
    """
    on_the_diff = any(span.path == finding.path and span.first <= finding.line <= span.last for span in report.spans)
    return on_the_diff and finding.fails


def _failures(report: GateReport) -> Iterator[str]:
    if report.reproduction is None:
        yield "nothing was run"
    if not report.red_at_base:
        yield "the reproduction does not fail at the base"
    if not report.green_now:
        yield "the reproduction does not pass"
    for test in report.newly_failing:
        yield f"newly failing: {test}"


def _failing(report: GateReport) -> tuple[CheckId, ...]:
    shown = report.reproduction.failing if report.reproduction and not report.green_now else ()
    return tuple(dict.fromkeys((*shown, *report.newly_failing)))


def _exit_status(report: GateReport) -> int | None:
    """Of the first run that failed, the reproduction's first."""
    runs = (*((report.reproduction,) if report.reproduction and not report.green_now else ()), *report.checks)
    return next((run.exit_status for run in runs if not run.passed), None)
