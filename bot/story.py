"""The record of a run → a tree that lets a reader follow why each thing happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from bot.facts import Asked, EventRecord
from bot.node import Look, Node, lines_of, node
from bot.record import RunRecord
from bot.run import Run, RunState
from bot.telling import Talk, conversation, prompt, tell
from bot.wording import count, duration, money, short
from stages.journal import ModelAnswered, ModelSaid, ToolUsed

WHAT_FOR: Final = {
    "baseline": "what the checks say before anything is changed",
    "ticket": "the error that the ticket shows",
    "memory": "which state of memory this run reads",
    "triage": "is it a matter for this repository?",
    "diagnose": "the cause, and a test that shows it",
    "rediagnose": "the cause again, after a hold",
    "reproduce": "the failure shown on the base commit, by code",
    "develop": "a patch",
    "refix": "a better patch, after a hold",
    "gate": "code judges the patch by exit statuses and the diff",
    "review": "a second look at a patch that the gate passed",
    "summarise": "what people are told",
    "publish": "the patch goes onto a branch",
    "verify": "does the fix hold where it was merged?",
    "end": "how it ended",
}

_TITLE_AT_MOST: Final = 200  # characters


@dataclass
class _Stage:
    """One step's passage, while the story is put together."""

    generation: int
    name: str
    attempt: int
    began: datetime
    finished: datetime | None = None
    recorded: bool = False  # as a step of its own
    events: list[EventRecord] = field(default_factory=list)


def story(record: RunRecord, *, verbose: bool = False) -> Node:
    """The run as a tree: its outcome and cost, then each step in order, then what can be done next.

    Without `verbose`, the bodies of prompts are cut to their first line, tool calls to counts, and a long title.
    """
    run = record.run
    stages = _stages(record)
    several = any(stage.generation > 1 for stage in stages)
    told = tuple(
        _stage(number, stage, run, before, verbose=verbose, several=several)
        for number, (stage, before) in enumerate(zip(stages, _prompts_before(stages), strict=True), 1)
    )
    return Node(
        text=title(run), look=Look.HEAD, below=(*_about(run, verbose=verbose), *told, *_unread(record), *_next(run))
    )


def title(run: Run) -> str:
    """Outcome, time, cost and level in one line."""
    spent = run.spent
    state = run.outcome if run.state is RunState.ENDED and run.outcome else run.state.value
    parts = [
        f"Run {run.id}: {state}",
        duration(spent.minutes * 60),
        money(spent.money),
        count(spent.calls, "model call"),
        count(spent.tokens, "token"),
        *([f"sandbox {run.level}"] if run.level else ()),
    ]
    return " · ".join(parts)


def _about(run: Run, *, verbose: bool) -> Iterator[Node]:
    ticket = run.ticket
    by = f" by {ticket.author}" if ticket.author else ""
    yield node(f"Ticket {ticket.id}{by}: {ticket.title if verbose else short(ticket.title, _TITLE_AT_MOST)}")
    version = "not pinned yet" if run.memory_version is None else f"version {run.memory_version}"
    yield node(
        f"Repository {run.scope.repository} at {run.base[:12]} · model {run.model or 'none'} · memory {version} · "
        f"begun {run.created:%Y-%m-%d %H:%M} UTC" + (f" for {run.actor}" if run.actor else "")
    )
    if run.state is RunState.PARKED:
        cause = run.park_cause.value if run.park_cause else "unknown"
        yield node(f"Parked ({cause}): {run.park_reason}", look=Look.BAD)
    if run.stop_requested and run.open:
        yield node("Asked to stop", look=Look.BAD)


def _stages(record: RunRecord) -> list[_Stage]:
    """Steps, each with its events, in the order in which they began."""
    found: dict[tuple[int, str, int], _Stage] = {}
    for step in record.steps:
        found[step.generation, step.name, step.attempt] = _Stage(
            step.generation, step.name, step.attempt, step.started, step.finished, recorded=True
        )
    for event in record.events:
        key = (event.generation, event.step, event.attempt)
        stage = found.setdefault(key, _Stage(*key, began=event.at))
        stage.began = min(stage.began, event.at)
        stage.events.append(event)
    return sorted(found.values(), key=lambda stage: (stage.generation, stage.began))


def _prompts_before(stages: Sequence[_Stage]) -> Iterator[Asked | None]:
    """For each step, the last prompt before it."""
    last: Asked | None = None
    for stage in stages:
        yield last
        last = next((event.fact for event in reversed(stage.events) if isinstance(event.fact, Asked)), last)


def _stage(number: int, stage: _Stage, run: Run, before: Asked | None, *, verbose: bool, several: bool) -> Node:
    name = stage.name.replace("-", " ").capitalize() or "Run"
    attempt = f", attempt {stage.attempt}" if stage.attempt > 1 or _counts(stage) else ""
    generation = f" (generation {stage.generation})" if several else ""
    what_for = f" – {WHAT_FOR[stage.name]}" if stage.name in WHAT_FOR else ""
    return Node(
        text=f"{number} {name}{attempt}{generation}{what_for}{_time(stage, run)}",
        look=Look.HEAD,
        below=tuple(_facts(stage.events, before, verbose=verbose)),
    )


def _counts(stage: _Stage) -> bool:
    """Whether the step is one of those that every attempt has."""
    return stage.name in ("develop", "refix", "gate", "review")


def _time(stage: _Stage, run: Run) -> str:
    if stage.finished:
        return f" · {duration((stage.finished - stage.began).total_seconds())}"
    if not stage.recorded:
        return ""
    return " · not finished" if run.state is RunState.WORKING else " · interrupted"


def _facts(events: Sequence[EventRecord], before: Asked | None, *, verbose: bool) -> Iterator[Node]:
    """Each prompt with the conversation that it began, and each fact in its place."""
    asked: Asked | None = None
    talk: list[Talk] = []
    for event in events:
        match event.fact:
            case ModelAnswered() | ToolUsed() | ModelSaid() as said:
                talk.append(said)
            case fact:
                yield from _asked(asked, before, talk, verbose=verbose)
                before, asked, talk = asked or before, None, []
                if isinstance(fact, Asked):
                    asked = fact
                else:
                    yield tell(fact, verbose=verbose)
    yield from _asked(asked, before, talk, verbose=verbose)


def _asked(asked: Asked | None, before: Asked | None, talk: Sequence[Talk], *, verbose: bool) -> Iterator[Node]:
    answers = tuple(conversation(talk, verbose=verbose))
    if asked is None:
        yield from answers
    else:
        told = prompt(asked, before, verbose=verbose)
        yield Node(text=told.text, look=told.look, below=(*told.below, *answers))


def _unread(record: RunRecord) -> Iterator[Node]:
    for note in record.notes:
        if note.read_by is None:
            yield node(f"Requeue note of {note.author or 'somebody'}, not read yet:", quote=lines_of(note.text))


def _next(run: Run) -> Iterator[Node]:
    """What a person can do now."""
    match run.state:
        case RunState.WORKING:
            yield node(f"Next: if no process works on it, `ticketsmith runs retry {run.id}` goes on from its last step")
        case RunState.PARKED:
            yield node(f"Next: mend what it waits for, then `ticketsmith runs retry {run.id}`")
        case RunState.PUBLISHED:
            branch = f"merge {run.branch}" if run.branch else "merge the patch"
            yield node(f"Next: {branch}, then `ticketsmith runs verify {run.id}`")
        case RunState.ENDED:
            return
