"""Projects below one top that one check cannot read together: each gets a check of its own, where that reads more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from memory.types import CheckId
from stages.detection import is_test_file, projects_apart, without
from stages.report import Check, CheckKind, CheckReport
from stages.workspace import Workspace

Ran = tuple[Check, CheckReport]


def apart(workspace: Workspace, ran: Sequence[Ran], run: Callable[[Check], CheckReport]) -> Sequence[Ran]:
    """What the checks of a base show, with those of its projects where the check of the whole tree cannot read them.

    Only what runs decides: where the whole is read, or is read no better in parts, it stays one check. Checks that
    people named are left as they are.
    """
    whole = next((one for one in ran if _is_whole(one[0])), None)
    if not workspace.detected or whole is None:
        return ran
    check, report = whole
    files = workspace.files()
    unread = _unread(report, files)
    seen = [(one, workspace.why_not(one)) for one in projects_apart(check, unread, files)]
    workspace.leave_out(*(f"{one.name}: {problem}" for one, problem in seen if problem))
    tried = tuple(one for one, problem in seen if not problem)
    others = tuple(one for one in ran if one is not whole)
    workspace.use((*workspace.checks, *tried))
    better = [(one, found) for one in tried if _reads_more(found := run(one), one.folder, unread, report.collected)]
    if not better:
        workspace.use(tuple(one for one, _ in ran))
        return ran
    rest = replace(without(check, (one for one, _ in better)), detected=True)  # one of several now
    workspace.use((rest, *(one for one, _ in (*better, *others))))
    left = run(rest)
    shown = (*(() if left.ran_nothing else ((rest, left),)), *better, *others)
    workspace.use(tuple(one for one, _ in shown))
    return shown


def _is_whole(check: Check) -> bool:
    return check.kind is CheckKind.PYTEST and check.folder == "."


def _unread(report: CheckReport, files: Iterable[str]) -> set[str]:
    """What a check could not read; every test file, where it did not come to any."""
    if report.outcomes:
        return {str(test.id) for test in report.unread}
    return set() if report.passed or report.ran_nothing else set(filter(is_test_file, files))


def _reads_more(now: CheckReport, folder: str, unread: Iterable[str], collected: Iterable[CheckId]) -> bool:
    """True when a project by itself has tests that were not read in the whole, and all of its tests that were."""
    places = tuple(f"{path}{end}" for path in unread for end in ("/", "::"))
    known = {test for test in collected if test.startswith(f"{folder}/")}
    return not now.timed_out and known <= set(now.collected) and any(one.startswith(places) for one in now.collected)
