"""The gate: code that decides whether an attempt passes, from exit statuses, result channels and the diff."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from memory.scrub import Scrubber
from memory.types import CheckId, CommitId
from stages.admission import Admission, published
from stages.comparison import Comparison, compare, shows_green, shows_red
from stages.covering import Covered, covered
from stages.early_end import with_the_rest
from stages.errors import Refused
from stages.files_of_tests import TestFiles
from stages.flaky import Run, Suspects, explained, on_base, on_head
from stages.patch import Patch, added
from stages.policy import Policy, Rule, Violation, notices
from stages.protected import folded
from stages.report import Check, CheckKind, CheckReport, Reproduction
from stages.repository import Repository
from stages.steered import steered, unproven
from stages.verdict import Finding, GateReport, Held, Passed, Span, Verdict, decide
from stages.weakened_files import changed_tests, steers_tests, weakened_files
from stages.weakening import Weakened, Weakening
from stages.workspace import Workspace, Workspaces

__all__ = ["Attempt", "Finding", "Gate", "GateReport", "Held", "Passed", "Span", "Verdict", "decide"]

_SHARE_OF_ONE_TEST: Final = 5  # of a check's time; never the pace of an earlier run, which a busy machine would miss


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What the gate is asked to judge.

    `baseline` holds one report for each check, of the base without a change; `red` is the run of the reproduction
    there. `workspace` names the fresh workspace that is made for it and taken away again.
    """

    number: int
    repository: Repository
    base: CommitId
    patch: Patch
    reproduction: Reproduction
    red: CheckReport
    baseline: tuple[CheckReport, ...]
    checks: tuple[Check, ...]
    workspace: str


@dataclass(frozen=True, kw_only=True)
class _Runs:
    """What was run, and what was found out by it."""

    reproduction: CheckReport
    checks: tuple[CheckReport, ...]
    compared: tuple[Comparison, ...]
    restored: tuple[str, ...]
    weakened: tuple[Weakened, ...] = field(default=())
    flaky: tuple[CheckId, ...] = field(default=())
    covered: Covered = field(default_factory=Covered)


class Gate:
    """Judges attempts in fresh workspaces: the base, the patch, the base's test settings, the frozen reproduction.

    `scrubber` knows the values and shapes of secrets. The gate reads no text of a model and no lesson.
    """

    def __init__(self, workspaces: Workspaces, policy: Policy, scrubber: Scrubber) -> None:
        self._workspaces, self._admission = workspaces, Admission(policy=policy, scrubber=scrubber)

    def judge(self, attempt: Attempt, *, stopped: Callable[[], bool] = lambda: False) -> GateReport:
        """What the gate saw. Nothing is run for a patch that may not be, or that holds a secret.

        Raises Stopped, Parked, and Refused for a patch that does not fit the base.
        """
        patch, whole = attempt.patch, published(attempt.patch, attempt.reproduction)
        violations = (*self._admission.violations(whole), *_touches_reproduction(attempt))
        leaks = tuple(self._admission.leaks(whole))
        seen = GateReport(
            attempt=attempt.number,
            base=attempt.base,
            edits=patch.edits,
            spans=tuple(_spans(patch)),
            violations=violations,
            notices=(*notices(patch), *changed_tests(patch)),
            leaks=leaks,
            red_at_base=shows_red(attempt.red, attempt.reproduction.test),
        )
        if violations or leaks:
            return seen
        return _with_runs(seen, self._run(attempt, stopped), attempt.reproduction.test)

    def _run(self, attempt: Attempt, stopped: Callable[[], bool]) -> _Runs:
        workspace = self._workspaces.make(attempt.repository, attempt.base, attempt.workspace, checks=attempt.checks)
        try:
            tests = TestFiles(attempt.checks, attempt.baseline, workspace.files(), workspace.at_base)
            workspace.apply(attempt.patch)
            weakened = tuple(weakened_files(workspace, attempt.patch, tests))
            restored = tuple(path for path in attempt.patch.paths if steers_tests(path))
            workspace.restore(restored)
            workspace.place(attempt.reproduction)
            shown = attempt.reproduction
            check = _named(attempt.checks, shown.check)
            reproduction = _run(workspace, check, shown.tests, stopped, with_files=shown.with_file)
            checks = tuple(_run(workspace, check, (), stopped) for check in attempt.checks)
            suspects = _suspects(attempt, checks, workspace, stopped)
            compared = _compared(attempt, checks, suspects, workspace, stopped)
            passes = shows_green(reproduction, shown.test) and not any(one.newly_failing for one in compared)
            flaky = _all(one.flaky for one in suspects)
            if passes and restored:
                weakened += tuple(_as_published(attempt, checks, flaky, workspace, stopped))
            if passes and any(path in tests for path in attempt.patch.paths):
                weakened += tuple(_without_its_tests(attempt, tests, checks, flaky, workspace, stopped))
            weaker = weakened or any(one.weakened for one in compared)
            return _Runs(
                reproduction=reproduction,
                checks=checks,
                compared=compared,
                restored=restored,
                weakened=weakened,
                flaky=flaky,
                covered=_covered(attempt, tests, workspace, stopped) if passes and not weaker else Covered(),
            )
        finally:
            self._workspaces.remove(attempt.workspace)


def _with_runs(seen: GateReport, runs: _Runs, test: CheckId) -> GateReport:
    weakened = [*runs.weakened, *(one for comparison in runs.compared for one in comparison.weakened)]
    return GateReport(
        attempt=seen.attempt,
        base=seen.base,
        edits=seen.edits,
        spans=seen.spans,
        notices=seen.notices,
        red_at_base=seen.red_at_base,
        green_now=shows_green(runs.reproduction, test),
        restored=runs.restored,
        weakened=tuple(dict.fromkeys(weakened)),
        reproduction=runs.reproduction,
        checks=runs.checks,
        newly_failing=_all(comparison.newly_failing for comparison in runs.compared),
        still_failing=_all(comparison.still_failing for comparison in runs.compared),
        fixed=_all(comparison.fixed for comparison in runs.compared),
        flaky=runs.flaky,
        changed_lines=runs.covered.changed,
        covered_lines=runs.covered.covered,
    )


def _comparisons(attempt: Attempt, checks: tuple[CheckReport, ...]) -> tuple[Comparison, ...]:
    baseline, both = {report.check: report for report in attempt.baseline}, zip(attempt.checks, checks, strict=True)
    return tuple(compare(check, baseline.get(check.name, _never_ran(check)), head) for check, head in both)


def _suspects(
    attempt: Attempt, checks: tuple[CheckReport, ...], workspace: Workspace, stopped: Callable[[], bool]
) -> tuple[Suspects, ...]:
    run = _runner(workspace, stopped)
    return tuple(
        on_head(check, compared, report, attempt.reproduction.test, run)
        for check, compared, report in zip(attempt.checks, _comparisons(attempt, checks), checks, strict=True)
    )


def _compared(
    attempt: Attempt,
    checks: tuple[CheckReport, ...],
    suspects: tuple[Suspects, ...],
    workspace: Workspace,
    stopped: Callable[[], bool],
) -> tuple[Comparison, ...]:
    """The comparisons, after what fails firmly was run at the base again; the patch is gone from the tree then."""
    if any(one.firm for one in suspects):
        workspace.reset()

    run = _runner(workspace, stopped)
    comparisons = zip(_comparisons(attempt, checks), suspects, strict=True)
    return tuple(explained(compared, one.flaky, on_base(one, run)) for compared, one in comparisons)


def _as_published(
    attempt: Attempt,
    judged: tuple[CheckReport, ...],
    flaky: tuple[CheckId, ...],
    workspace: Workspace,
    stopped: Callable[[], bool],
) -> Iterator[Weakened]:
    """The checks once more on the tree that a branch would show, where the patch's own settings steer the tests."""
    _put_again(workspace, attempt.patch)
    run = _runner(workspace, stopped)
    for check, report in zip(attempt.checks, judged, strict=True):
        yield from steered(check, report, run(check, ()), flaky=flaky, run=run)


def _without_its_tests(
    attempt: Attempt,
    tests: TestFiles,
    judged: tuple[CheckReport, ...],
    flaky: tuple[CheckId, ...],
    workspace: Workspace,
    stopped: Callable[[], bool],
) -> Iterator[Weakened]:
    """The reproduction and the checks once more with the tests as the base has them: no patch proves itself."""
    _put_again(workspace, attempt.patch, steers_tests, tests.__contains__)
    run = _runner(workspace, stopped)
    shown = attempt.reproduction
    alone = _run(workspace, _named(attempt.checks, shown.check), shown.tests, stopped, with_files=shown.with_file)
    if not shows_green(alone, shown.test):
        yield Weakened(what=shown.test, how=Weakening.CHANGED)
    known = {report.check: frozenset(report.collected) for report in attempt.baseline}
    for check, report in zip(attempt.checks, judged, strict=True):
        yield from unproven(check, known.get(check.name, frozenset()), report, run(check, ()), flaky=flaky, run=run)


def _covered(attempt: Attempt, tests: TestFiles, workspace: Workspace, stopped: Callable[[], bool]) -> Covered:
    """In runs of their own: whoever watches the lines slows the tests, and none may fail by it."""
    paths = [file.path for file in attempt.patch.files if file.path.endswith(".py") and file.path not in tests]
    if not paths:
        return Covered()
    _put_again(workspace, attempt.patch, steers_tests)
    sources = {path: workspace.read(path) for path in paths if path in workspace.files()}
    reports = [
        workspace.run(
            check.name, coverage=True, test_seconds=check.timeout_seconds / _SHARE_OF_ONE_TEST, stopped=stopped
        )
        for check in attempt.checks
        if check.kind is CheckKind.PYTEST
    ]
    if not reports or not all(report.complete for report in reports):
        return Covered()
    return covered(_spans(attempt.patch), sources, (report.hits for report in reports))


def _put_again(workspace: Workspace, patch: Patch, *of_base: Callable[[str], bool]) -> None:
    """The patch on the base alone; files that one of `of_base` is true of stay as they are there."""
    workspace.reset()
    workspace.apply(patch)
    workspace.restore(path for path in patch.paths if any(is_of_base(path) for is_of_base in of_base))


def _runner(workspace: Workspace, stopped: Callable[[], bool]) -> Run:
    return lambda check, tests: _run(workspace, check, tests, stopped)


def _run(
    workspace: Workspace,
    check: Check,
    tests: tuple[CheckId, ...],
    stopped: Callable[[], bool],
    *,
    with_files: bool = False,
) -> CheckReport:
    seconds = check.timeout_seconds / _SHARE_OF_ONE_TEST

    def run(tests: tuple[CheckId, ...]) -> CheckReport:
        return workspace.run(check.name, tests=tests, with_files=with_files, test_seconds=seconds, stopped=stopped)

    return run(tests) if tests else with_the_rest(check, run(()), run)


def _all(parts: Iterable[tuple[CheckId, ...]]) -> tuple[CheckId, ...]:
    return tuple(dict.fromkeys(test for part in parts for test in part))


def _named(checks: tuple[Check, ...], name: CheckId) -> Check:
    found = next((check for check in checks if check.name == name), None)
    if found is None:
        raise Refused(reason=f"the reproduction names {name[:100]!r}, which is no check")
    return found


def _never_ran(check: Check) -> CheckReport:
    """A check without a baseline: everything that fails is newly failing."""
    return CheckReport(check=check.name, exit_status=0, seconds=0.0)


def _touches_reproduction(attempt: Attempt) -> tuple[Violation, ...]:
    frozen = folded(attempt.reproduction.path)
    touched = [path for path in attempt.patch.paths if frozen and folded(path) == frozen]
    return tuple(Violation(rule=Rule.PROTECTED, path=path, detail="the frozen reproduction") for path in touched)


def _spans(patch: Patch) -> Iterator[Span]:
    for path, section in patch.sections:
        first = last = 0
        for number, _ in added(section):
            if last and number == last + 1:
                last = number
                continue
            if last:
                yield Span(path=path, first=first, last=last)
            first = last = number
        if last:
            yield Span(path=path, first=first, last=last)
