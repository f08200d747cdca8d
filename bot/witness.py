"""What stages showed and code decided, written down as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from bot.facts import Asked, Checked, Ended, Found, Judged
from bot.why import notes_told
from memory.slots import kind_of
from memory.types import Drop, Ending, Evidence, Hold, Lesson, NotOurs, PassAfterHold, Refix, RunEnding, Verify
from stages.diagnosis import Diagnosed
from stages.gate import Finding, GateReport, Held, Passed, Verdict
from stages.patch import Patch
from stages.prompt import Prompt
from stages.report import CheckReport, Outcome


def asked(prompt: Prompt) -> Asked:
    """A prompt as it is sent, with how its notes were chosen."""
    return Asked(
        entry_point=prompt.entry_point.value,
        section=prompt.section,
        body=prompt.body,
        hash=prompt.hash,
        version=prompt.version,
        notes=notes_told(prompt.context),
    )


def checked(report: CheckReport, on: str) -> Checked:
    """The figures of a report; `on` says what was checked."""
    count = {outcome: sum(test.outcome is outcome for test in report.outcomes) for outcome in Outcome}
    return Checked(
        check=report.check,
        on=on,
        exit_status=report.exit_status,
        passed=count[Outcome.PASSED],
        failed=count[Outcome.FAILED],
        skipped=count[Outcome.SKIPPED] + count[Outcome.XFAILED],
        failing=report.failing,
        complete=report.complete,
        timed_out=report.timed_out,
        seconds=report.seconds,
        level=report.level,
    )


def found(diagnosed: Diagnosed) -> Found:
    """A diagnosis in the model's words, and the test that code ran."""
    shown = diagnosed.reproduction
    quoted = {"quote": diagnosed.quote} if diagnosed.quote else {}
    fields = {"cause": diagnosed.cause, **quoted, "files": ", ".join(diagnosed.files)}
    if shown is not None:
        fields["reproduction"] = f"{shown.test}, {'written for this ticket' if shown.path else 'known before'}"
    elif diagnosed.absent is not None:
        fields["reproduction"] = f"none: {diagnosed.absent.value}"
    return Found(what="diagnosis", fields=fields)


def findings(said: Iterable[Finding]) -> tuple[Found, ...]:
    """What a review said, one fact for each finding, and what came of the test that it names."""
    return tuple(Found(what="findings", fields=dict(_of_finding(one))) for one in said)


def _of_finding(finding: Finding) -> Iterator[tuple[str, str]]:
    yield "at", f"{finding.path}:{finding.line}"
    yield "text", finding.text
    if finding.check:
        yield "check", f"{finding.check} {'fails alone with the patch' if finding.fails else 'was not seen to fail'}"
    if finding.rule:
        yield "rule", finding.rule


def noticed(report: GateReport) -> tuple[str, ...]:
    """What the gate allowed and people should look at first: one line each."""
    return (
        *(f"look at this first: {notice}" for notice in report.notices),
        *(f"judged with the base's version of {path}, which the patch changes" for path in report.restored),
    )


def judged(attempt: int, verdict: Verdict, patch: Patch, report: GateReport | None = None) -> Judged:
    """A verdict, with the patch that it is about, and how much of that tests ran."""
    match verdict:
        case Passed():
            return Judged(
                attempt=attempt,
                fixed=verdict.fixed,
                still_failing=verdict.still_failing,
                flaky=verdict.flaky,
                changed_lines=report.changed_lines if report else 0,
                covered_lines=report.covered_lines if report else 0,
                noticed=noticed(report) if report else (),
                edits=patch.edits,
                diff=patch.diff,
            )
        case Held():
            return Judged(
                attempt=attempt,
                cause=verdict.cause.value,
                failing=verdict.failing,
                exit_status=verdict.exit_status,
                why=verdict.why,
                noticed=noticed(report) if report else (),
                edits=patch.edits,
                diff=patch.diff,
            )


def ended(ending: RunEnding, *, version: int, lesson: Lesson | None, lines: tuple[str, ...] = ()) -> Ended:
    """A recorded ending with its lesson, whose `lines` are as prompts will show them."""
    return Ended(
        kind=kind_of(ending.ending).value,
        cause=_cause_of(ending.ending),
        final=ending.final,
        evidence="" if ending.evidence is Evidence.NONE else ending.evidence.value,
        version=version,
        lesson=lesson.id if lesson else "",
        status=lesson.status.value if lesson else "",
        count=lesson.count if lesson else 0,
        lines=lines,
    )


def outcome_of(ending: Ending) -> str:
    """An ending in words for lists: `drop: budget`."""
    kind, cause = kind_of(ending).value, _cause_of(ending)
    return f"{kind}: {cause}" if cause else kind


def _cause_of(ending: Ending) -> str:
    match ending:
        case Hold() | Drop() | NotOurs():
            return ending.cause.value
        case Verify():
            return ending.outcome.value
        case Refix() | PassAfterHold():
            return ""
        case _:
            assert_never(ending)
