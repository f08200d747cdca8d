"""Each kind of fact → the lines that tell it; and a conversation with a model, folded or whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import assert_never

from bot.facts import (
    Asked,
    Checked,
    Decided,
    Ended,
    Fact,
    Found,
    Judged,
    NoteRead,
    Published,
    Summarised,
    Waits,
)
from bot.node import Look, Node, lines_of, node
from bot.wording import count, duration, listed, money
from stages.journal import ModelAnswered, ModelSaid, ToolUsed

_DIFF_LINES = 24
_FIELD_LINES = 6
_RESULT_LINES = 24  # of one tool's result, where conversations are shown whole
_TESTS = 5

Talk = ModelAnswered | ToolUsed | ModelSaid


def tell(fact: Fact, *, verbose: bool) -> Node:
    """One fact that is no part of a conversation."""
    match fact:
        case Decided():
            return node(f"→ {fact.what}{_because(fact.because)}", look=Look.HEAD)
        case Found():
            return node(f"The model's {fact.what}", *_fields(fact, verbose=verbose))
        case Checked():
            return _checked(fact)
        case Judged():
            return _judged(fact, verbose=verbose)
        case Ended():
            return _ended(fact)
        case NoteRead():
            head = f"Requeue note of {fact.author or 'somebody'}, {fact.written:%Y-%m-%d}"
            return node(head, quote=lines_of(fact.text))
        case Waits():
            return node(f"Parked ({fact.cause}): {fact.reason}", look=Look.BAD)
        case Published():
            where = f", patch file {fact.patch_file}" if fact.patch_file else ""
            return node(f"Published: branch {fact.branch} at {fact.commit[:12]}{where}", look=Look.GOOD)
        case Summarised():
            return node("Summary for people", quote=lines_of(fact.text))
        case Asked():
            return node(f"Prompt {fact.entry_point}, {fact.hash[:12]}")
        case ModelAnswered() | ToolUsed() | ModelSaid():
            return next(iter(_whole([fact])))
        case _:
            assert_never(fact)


def prompt(asked: Asked, before: Asked | None, *, verbose: bool) -> Node:
    """A prompt: its context section, unless the prompt before had the same, and its body."""
    head = f"Prompt {asked.entry_point}, {asked.hash[:12]}, memory version {asked.version}"
    if not asked.section:
        return node(head, node("its text was older than transcripts are kept", look=Look.QUIET))
    if before is not None and before.section == asked.section and not verbose:
        section = node("context section: the same as in the prompt before", look=Look.QUIET)
    else:
        chosen = (node("how its notes were chosen:", quote=asked.notes, look=Look.QUIET),) if asked.notes else ()
        section = node("context section, chosen by code:", *chosen, quote=lines_of(asked.section))
    first, *rest = asked.body.rstrip("\n").split("\n")
    if verbose:
        return node(head, section, node("body:", quote=lines_of(asked.body)))
    return node(head, section, node(f"body: {first}" + (f" (+{count(len(rest), 'line')})" if rest else "")))


def conversation(talk: Sequence[Talk], *, verbose: bool) -> Iterator[Node]:
    """What a model did after a prompt: what it cost, then its tool calls as counts, or each of them."""
    answers = [event for event in talk if isinstance(event, ModelAnswered)]
    tools = [event for event in talk if isinstance(event, ToolUsed)]
    if answers:
        yield node(_cost(answers))
    if verbose:
        yield from _whole([event for event in talk if not isinstance(event, ModelAnswered)])
    elif tools:
        used = Counter(event.tool for event in tools)
        refused = sum(event.refused for event in tools)
        names = ", ".join(f"{tool} {times}" for tool, times in used.items())
        yield node(f"{count(len(tools), 'tool call')}: {names}" + (f"; {refused} refused" if refused else ""))


def _whole(talk: Sequence[Talk]) -> Iterator[Node]:
    for event in talk:
        match event:
            case ToolUsed():
                look = Look.BAD if event.refused else Look.PLAIN
                yield node(f"{event.tool} {event.arguments}", look=look, quote=lines_of(event.result, _RESULT_LINES))
            case ModelSaid():
                yield node("the model said:", quote=lines_of(event.text))
            case ModelAnswered():
                yield node(_cost([event]), look=Look.QUIET)


def _cost(answers: Sequence[ModelAnswered]) -> str:
    return ", ".join(
        (
            f"{count(len(answers), 'call')} of {listed(sorted({answer.model for answer in answers}))}",
            f"{sum(answer.tokens_in for answer in answers):,} tokens in",
            f"{sum(answer.tokens_out for answer in answers):,} out",
            money(sum(answer.price for answer in answers)),
            duration(sum(answer.seconds for answer in answers)),
        )
    )


def _checked(fact: Checked) -> Node:
    good = fact.exit_status == 0 and not fact.failing and fact.complete
    status = "killed" if fact.exit_status is None else f"exit {fact.exit_status}"
    tests = fact.passed + fact.failed + fact.skipped
    figures = f", {count(tests, 'test')}: {fact.passed} passed, {fact.failed} failed" if tests else ""
    figures += f", {fact.skipped} skipped" if fact.skipped else ""
    broken = ", timed out" if fact.timed_out else "" if fact.complete else ", incomplete"
    level = f", sandbox {fact.level}" if fact.level else ""
    failing = [f"failed {test}" for test in fact.failing if test != fact.check]
    return node(
        f"{'✓' if good else '✗'} {fact.check} on {fact.on}: {status}{figures}{broken} "
        f"({duration(fact.seconds)}{level})",
        look=Look.GOOD if good else Look.BAD,
        quote=lines_of("\n".join(failing), _TESTS),
    )


def _judged(fact: Judged, *, verbose: bool) -> Node:
    exit_status = f", exit {fact.exit_status}" if fact.exit_status is not None else ""
    head = f"is held: cause {fact.cause}{exit_status}" if fact.cause else "passes"
    edits = [f"{edit.path}:{edit.line} #{edit.digest}" for edit in fact.edits]
    tests = (
        ("failing", fact.failing),
        ("red before, green now", fact.fixed),
        ("red before and still", fact.still_failing),
        ("flips, and says nothing", fact.flaky),
    )
    return node(
        f"Attempt {fact.attempt} {head}",
        *(node(why) for why in fact.why),
        *(node(line) for line in fact.noticed),
        *(node(f"{name}: {listed(ids)}") for name, ids in tests if ids),
        *(
            [node(f"changed lines that tests ran: {fact.covered_lines} of {fact.changed_lines}")]
            if fact.changed_lines
            else ()
        ),
        *([node(f"its edits: {listed(edits)}", quote=_diff(fact.diff, verbose=verbose))] if edits else ()),
        look=Look.BAD if fact.cause else Look.GOOD,
    )


def _diff(diff: str, *, verbose: bool) -> tuple[str, ...]:
    lines = [line for line in diff.split("\n") if not line.startswith(("diff --git ", "index "))]
    return lines_of("\n".join(lines), None if verbose else _DIFF_LINES)


def _ended(fact: Ended) -> Node:
    cause = f" ({fact.cause})" if fact.cause else ""
    final = ", the run's final one" if fact.final else ""
    evidence = f", evidence: {fact.evidence}" if fact.evidence else ""
    times = f", seen {fact.count} times" if fact.count > 1 else ""
    lesson = (
        node(f"lesson {fact.lesson}, {fact.status}{times}, in memory version {fact.version}:", quote=fact.lines)
        if fact.lesson
        else node("teaches nothing of its own", look=Look.QUIET)
    )
    return node(f"Ending: {fact.kind}{cause}{final}{evidence}", lesson, look=Look.HEAD)


def _fields(found: Found, *, verbose: bool) -> Iterator[Node]:
    if not found.fields:
        yield node("its words were older than transcripts are kept", look=Look.QUIET)
    for name, text in found.fields.items():
        lines = lines_of(text, None if verbose else _FIELD_LINES)
        yield node(f"{name}: {lines[0]}") if len(lines) == 1 else node(f"{name}:", quote=lines)


def _because(grounds: str) -> str:
    return f", because {grounds}" if grounds else ""
