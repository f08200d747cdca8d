"""What one run of a check showed, as a tool result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from stages.quoting import prefix, quote_output, shown
from stages.report import CheckReport, LineHits, Outcome, TestOutcome
from stages.roles import broken

ACCOUNTS_AT_MOST: Final = 20
FAILURES_AT_MOST: Final = 200
ACCOUNT_LINES: Final = 25
LINE_AT_MOST: Final = 240  # characters
COVERAGE_AT_MOST: Final = 24_000  # characters


def show(report: CheckReport, *, named: bool) -> str:
    """The first line tells how it ended, the quoted ones which tests failed and why."""
    parts = [f"run {report.check}: {', '.join(_ending(report, named=named))}"]
    failed = [test for test in report.outcomes if test.outcome is Outcome.FAILED]
    parts.extend(_failure(test, whole=place < ACCOUNTS_AT_MOST) for place, test in enumerate(failed[:FAILURES_AT_MOST]))
    if len(failed) > FAILURES_AT_MOST:
        parts.append(f"| +{len(failed) - FAILURES_AT_MOST}")
    if report.output.strip() and (not named or (not failed and not report.passed)):
        parts.append(quote_output(report.output))
    parts.extend(_coverage(report.hits))
    return "\n".join(parts)


def _ending(report: CheckReport, *, named: bool) -> Iterator[str]:
    yield "killed" if report.exit_status is None else f"exit {report.exit_status}"
    if named:
        counts = dict.fromkeys(Outcome, 0)
        for test in report.outcomes:
            counts[test.outcome] += 1
        skipped = counts[Outcome.SKIPPED] + counts[Outcome.XFAILED]
        yield f"{len(report.outcomes)} tests: {counts[Outcome.PASSED]} passed"
        yield f"{counts[Outcome.FAILED]} failed"
        yield f"{skipped} skipped"
    if report.timed_out:
        yield "timed out"
    elif not report.complete:
        yield "incomplete"


def _failure(test: TestOutcome, *, whole: bool) -> str:
    said = test.message.splitlines() or [""]
    head = f"{test.type}: {said[0]}" if said[0] else test.type
    lines = [f"failed {test.id}", f"  {head}"]
    if whole:
        lines.extend(f"    {line}" for line in (test.text or "\n".join(said[1:])).splitlines()[-ACCOUNT_LINES:])
    return prefix(shown(broken(line)[0])[:LINE_AT_MOST] for line in lines)


def _coverage(hits: LineHits) -> list[str]:
    paths = sorted(hits, key=lambda path: (_of_tests(path), path))
    lines = [_lines(path, hits, every=True) for path in paths]
    if sum(map(len, lines)) > COVERAGE_AT_MOST:
        lines = [line for path in paths if (line := _lines(path, hits, every=False))]
    kept, size = list[str](), 0
    for line in lines:
        size += len(line)
        if size > COVERAGE_AT_MOST:
            return [*kept, f"({len(lines) - len(kept)} more files)"]
        kept.append(line)
    return kept


def _lines(path: str, hits: LineHits, *, every: bool) -> str:
    """`| lines 41:1/0 42:1/3 in src/cart.py`: line:failed/passed tests that ran it."""
    counts = " ".join(
        f"{line}:{failed}/{passed}" for line, (failed, passed) in sorted(hits[path].items()) if every or failed
    )
    return f"| lines {counts} in {shown(path)}" if counts else ""


def _of_tests(path: str) -> bool:
    pure = PurePosixPath(path)
    name = pure.name
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py") or "tests" in pure.parts[:-1]
