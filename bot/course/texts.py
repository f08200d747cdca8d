"""What people read on GitHub of a run: its status, its pull request, its check run; pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.course.course import Course, PullState
from bot.course.evidence import Evidence, Used
from bot.course.markdown import code, fenced, folded, plain, quoted, table
from bot.course.mode import Mode
from bot.course.outcomes import said
from bot.facts import Checked
from bot.run import Run, RunState
from bot.wording import count, duration, listed, money
from memory.text import one_line
from stages.errors import ParkCause

_TITLE_AT_MOST: Final = 60
_SHOWN: Final = 10  # tests, attempts or records in a list
_DIFF_AT_MOST: Final = 40_000  # characters of a patch in a comment; GitHub's limit is 65,536 for all of it
_UNCHECKED: Final = (
    "**Nothing checks this commit yet.** Minutes after it was pushed, no check of the repository's CI had begun on it. "
    "It may be that its workflows wait for somebody to approve them, below or on the Actions page; that they run for "
    "no such branch; or that the push was made with the token of a job, for which GitHub starts none: then close this "
    "pull request and open it again."
)
HELP: Final = (
    "`/ticketsmith stop`: end the run, and close its pull request",
    "`/ticketsmith retry`: go on, or begin again, whatever came between",
    "`/ticketsmith requeue NOTE`: try again, and read the note first",
    "`/ticketsmith why`: what memory gave to the run",
    "`/ticketsmith forget LESSON`: forget a lesson, by the id that `why` shows",
    "`/ticketsmith help`: this list",
)


@dataclass(frozen=True, kw_only=True)
class Now:
    """Where a run stands at this moment: `stage` is what it does, `note` what people should know besides.

    What is `passing` is said again soon, and may be left out.
    """

    stage: str = ""
    attempt: int = 0
    note: str = ""
    passing: bool = False


def status(run: Run, course: Course, evidence: Evidence, now: Now, mode: Mode | None = None) -> str:
    """The status comment."""
    lines = [f"**{_headline(run, course, now)}**", ""]
    lines += [now.note, ""] if now.note else []
    if run.state is RunState.ENDED and evidence.told.casefold() not in evidence.summary.casefold():
        lines += [plain(evidence.told), ""]
    lines += table(("run", "attempts", "time", "cost", "memory"), [_figures(run, evidence.used)])
    lines += ["", *_links(course)] if course.branch or course.pull else []
    if evidence.summary and run.state in (RunState.PUBLISHED, RunState.ENDED):
        lines += ["", *quoted(evidence.summary)]
    if mode and not mode.pushes and run.state is RunState.PUBLISHED:
        lines += ["", *_patch(run, mode)]
    if evidence.held:
        lines += ["", *folded(f"{count(len(evidence.held), 'attempt')} held by the gate", _held(evidence))]
    lines += ["", *folded("What you can say", [f"- {line}" for line in HELP])]
    return "\n".join(lines) + "\n"


def announced(run: str, *, waits: bool, paused: str = "") -> str:
    """The status comment before the run is written down. `paused` is why the repository's work is."""
    turn = "It waits for its turn." if waits else "It begins now."
    if paused:
        turn = (
            f"It waits: the work on this repository is paused, because the last tickets failed alike ({paused}). "
            "It goes on as soon as one comes through; `/ticketsmith retry` tries this one at once."
        )
    return f"**Ticketsmith takes this.** {turn}\n\nRun {code(run)}. `/ticketsmith stop` ends it.\n"


def _headline(run: Run, course: Course, now: Now) -> str:
    match run.state:
        case RunState.WORKING:
            attempt = f", attempt {now.attempt}" if now.attempt > 1 else ""
            return f"At work{f': {stage}' if (stage := now.stage.replace('-', ' ')) else ''}{attempt}"
        case RunState.PARKED:
            again = f" It goes on by itself at {run.wake:%Y-%m-%d %H:%M} UTC." if run.wake else ""
            why = plain(run.park_reason.rstrip("."))
            return f"Waits ({(run.park_cause or ParkCause.PROGRAM).value}): {why}.{again}"
        case RunState.PUBLISHED if course.pull_state is PullState.MERGED:
            return "Merged. It is verified on the merged commit."
        case RunState.PUBLISHED if course.hands_off:
            return "A person took the branch over: hands off. `/ticketsmith retry` takes it up again."
        case RunState.PUBLISHED if course.pull:
            return f"The gate passed: see #{course.pull}"
        case RunState.PUBLISHED:
            return "The gate passed"
        case RunState.ENDED:
            return said(run.outcome)


def _figures(run: Run, used: Used) -> tuple[str, ...]:
    memory = f"{count(len(used.lessons), 'lesson')}, {count(len(used.notes), 'note')}"
    return (
        code(run.id),
        str(run.attempt),
        duration(run.spent.minutes * 60),
        f"{money(run.spent.money)}, {count(run.spent.calls, 'call')}, {count(run.spent.tokens, 'token')}",
        f"{memory} (version {used.version})" if used.version is not None else "not asked yet",
    )


def _links(course: Course) -> Iterator[str]:
    if course.pull:
        yield f"- pull request: #{course.pull}"
    if course.branch:
        yield f"- branch: {code(course.branch)}" + (f" at {course.pushed[:12]}" if course.pushed else "")


def _patch(run: Run, mode: Mode) -> list[str]:
    why = f"Nothing was pushed: {plain(mode.why)}." if mode.why else "Nothing was pushed, as the operator wants it."
    if not run.patch_intact:
        return [why, "", "The patch held something like a secret, which was cut out of what is kept: it is not shown."]
    if len(run.patch) > _DIFF_AT_MOST:
        return [why, "", f"The patch has {len(run.patch):,} characters, too many for a comment. Run {code(run.id)}."]
    return [why, "", *folded("The patch", fenced(run.patch, "diff"))]


def _held(evidence: Evidence) -> Iterator[str]:
    for judged in evidence.held[-_SHOWN:]:
        yield f"- attempt {judged.attempt}, {judged.cause}: {plain('; '.join(judged.why)[:600])}"


# --- The pull request ------------------------------------------------------------------------------------------------


def pull_title(run: Run) -> str:
    """From the issue's title, as one line of text."""
    subject = one_line(run.ticket.title)[:_TITLE_AT_MOST].strip()
    return f"Fix: {subject}" if subject else f"Fix issue {run.ticket.number}"


def pull_body(run: Run, course: Course, evidence: Evidence, note: str = "") -> str:
    """Cause, change, evidence, lessons used, and what is left."""
    refers = "Fixes" if evidence.whole else "Refs"
    lines = [f"{refers} #{course.number}", ""]
    lines += [f"_{plain(note)}_", ""] if note else []
    lines += ["## Cause", "", *(quoted(evidence.cause) or ["Not told."]), ""]
    lines += ["## Change", "", *_changed(evidence), *quoted(evidence.summary), ""]
    lines += ["## Evidence", "", "Seen by code: exit statuses and result files, no model's word.", ""]
    lines += [*gate_lines(evidence), "", *_checks(evidence), ""]
    lines += ["## Lessons used", "", *_used(evidence.used), ""]
    lines += ["## What is left", "", *_left(evidence), ""]
    lines += [_UNCHECKED, ""] if course.unchecked and course.unchecked == course.pushed else []
    asked = f"Asked for by {code(course.actor.login)}; nobody should approve alone what they asked for."
    return "\n".join([*lines, "---", f"Run {code(run.id)}, base {run.base[:12]}. {asked}", ""])


def _changed(evidence: Evidence) -> list[str]:
    """Where the patch stands, as code saw it."""
    edits = evidence.judged.edits if evidence.judged else ()
    lines: dict[str, list[str]] = {}
    for edit in edits:
        lines.setdefault(edit.path, []).append(str(edit.line))
    shown = [f"- {code(path)}, line {', '.join(at[:_SHOWN])}" for path, at in list(lines.items())[:_SHOWN]]
    more = [f"- and {count(len(lines) - _SHOWN, 'file')} more"] if len(lines) > _SHOWN else []
    return [*shown, *more, ""] if shown else ["See the diff.", ""]


def gate_lines(evidence: Evidence) -> list[str]:
    """What the gate saw of the last attempt."""
    judged = evidence.judged
    if judged is None:
        return ["- The gate has not judged."]
    groups = (
        ("red before, green now", judged.fixed),
        ("red before, still red", judged.still_failing),
        ("failing", judged.failing),
        ("flips, and says nothing", judged.flaky),
    )
    lines = [f"- {name}: {listed([code(test) for test in tests], _SHOWN)}" for name, tests in groups if tests]
    if judged.changed_lines:
        lines.append(f"- changed lines that tests ran: {judged.covered_lines} of {judged.changed_lines}")
    if evidence.held:
        lines.append(f"- attempts that the gate held before: {len(evidence.held)}")
    return [*lines, *(f"- {plain(line)}" for line in judged.why)]


def _checks(evidence: Evidence) -> list[str]:
    rows = [_check(check) for check in evidence.checks]
    return table(("check", "on", "result", "time"), rows) if rows else []


def _check(check: Checked) -> tuple[str, ...]:
    status = "killed" if check.exit_status is None else f"exit {check.exit_status}"
    tests = f", {check.passed} passed, {check.failed} failed" if check.passed + check.failed else ""
    return (code(check.check), plain(check.on), status + tests, duration(check.seconds))


def _used(used: Used) -> list[str]:
    if not used.lessons and not used.notes:
        return ["None: memory had nothing that fits."]
    lines = [f"- lesson {code(record.id)}: {plain(record.why)}" for record in used.lessons[:_SHOWN]]
    return lines + [f"- note {code(record.id)}, score {record.score:.2f}" for record in used.notes[:_SHOWN]]


def _left(evidence: Evidence) -> list[str]:
    judged = evidence.judged
    lines = [f"- still red, as before: {code(test)}" for test in (judged.still_failing if judged else ())[:_SHOWN]]
    lines += [f"- {plain(line)}" for line in (judged.noticed if judged else ())]
    if judged is not None and not judged.fixed:
        lines.append("- no test that was red is green now: a person has to judge whether this closes the issue")
    return lines or ["Nothing that the gate can see. A person decides whether the issue asks for more."]
