"""What a run left behind on its way, as values: the way from the database of one job into that of the next.

Along go finished steps, notes of people, what people are shown, and which memory each prompt was given. Prompts,
answers and tool calls stay where they were. The memory version is no part of it: its number means nothing in another
database, so each job pins the memory anew, and reads what was learnt since.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError
from sqlmodel import col, select

from bot.app import App
from bot.errors import WrongInput
from bot.events import kind_of_fact
from bot.facts import KINDS, Checked, Decided, EventRecord, Fact, Found, Judged, Summarised
from bot.run import Run
from bot.steps import KNOWN
from bot.tables import RequeueNoteRow, StepRow
from memory.types import Injection

CARRIED: Final = (Judged, Checked, Decided, Found, Summarised)
"""What people are shown of a run."""
PINNED_ANEW: Final = "memory"
_TEXT_AT_MOST: Final = 8 * 1024 * 1024  # characters of what a step gave
_FACTS: Final = {kind: TypeAdapter(fact) for kind, fact in KINDS.items() if fact in CARRIED}

Number = Annotated[int, Field(ge=0, le=10_000)]


class TrailUnusable(WrongInput):
    """What was left of the run cannot be used: {reason}."""


@dataclass(frozen=True, kw_only=True)
class Carried:
    """One fact of the run, as the table of events holds it."""

    kind: Annotated[str, Field(max_length=20)]
    at: datetime
    step: Annotated[str, Field(max_length=100)]
    attempt: Number
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CarriedStep:
    """One step. Without a result it was not finished, or is to be done anew."""

    generation: Number
    name: Annotated[str, Field(max_length=100)]
    attempt: Number
    result: Annotated[str, Field(max_length=_TEXT_AT_MOST)] | None
    started: datetime
    finished: datetime | None


@dataclass(frozen=True, kw_only=True)
class CarriedNote:
    """What a person said for the next attempt; `read_in` is the attempt of this run that read it."""

    text: Annotated[str, Field(max_length=100_000)]
    author: Annotated[str, Field(max_length=200)]
    at: datetime
    read_in: Number | None


@dataclass(frozen=True, kw_only=True)
class Trail:
    """All of it."""

    facts: Annotated[tuple[Carried, ...], Field(max_length=5_000)] = ()
    steps: Annotated[tuple[CarriedStep, ...], Field(max_length=1_000)] = ()
    notes: Annotated[tuple[CarriedNote, ...], Field(max_length=200)] = ()
    injections: Annotated[tuple[Injection, ...], Field(max_length=500)] = ()


def trail_of(app: App, run: Run) -> Trail:
    """What the database holds of the run."""
    return Trail(
        facts=_facts(app.stores.events.of(run.id), run.generation),
        steps=_steps(app, run),
        notes=_notes(app, run),
        injections=app.stores.memory.injections(run.scope, run.id),
    )


def lay(app: App, run: Run, trail: Trail) -> None:
    """Write it down as that of this run, in the place of what is there. Raises TrailUnusable."""
    unknown = [step.name for step in trail.steps if step.name not in KNOWN]
    if unknown:
        raise TrailUnusable(reason="it has a step that this version does not know")
    with app.book.writing() as session:
        for row in session.exec(select(StepRow).where(col(StepRow.run) == run.id)):
            session.delete(row)
        for note in session.exec(select(RequeueNoteRow).where(*_of_ticket(run))):
            session.delete(note)
        session.flush()
        session.add_all(_step_row(app, run, step) for step in trail.steps if step.name != PINNED_ANEW)
        session.add_all(_note_row(app, run, note) for note in trail.notes)
    for (step, attempt), facts in groupby(trail.facts, key=lambda one: (one.step, one.attempt)):
        app.stores.events.add(run.id, step, attempt, [(one.at, _fact(one)) for one in facts])
    known = set(app.stores.memory.injections(run.scope, run.id))
    own = (replace(injection, scope=run.scope, run=run.id) for injection in trail.injections)
    app.stores.memory.audit(*(one for one in own if one not in known))


# --- Out of the tables -----------------------------------------------------------------------------------------------


def _facts(records: Sequence[EventRecord], generation: int) -> tuple[Carried, ...]:
    return tuple(
        Carried(
            kind=kind_of_fact(record.fact),
            at=record.at,
            step=record.step,
            attempt=record.attempt,
            data=_FACTS[kind_of_fact(record.fact)].dump_python(record.fact, mode="json"),
        )
        for record in records
        if record.generation == generation and isinstance(record.fact, CARRIED)
    )


def _steps(app: App, run: Run) -> tuple[CarriedStep, ...]:
    query = select(StepRow).where(StepRow.run == run.id, StepRow.name != PINNED_ANEW)
    with app.book.reading() as session:
        return tuple(
            CarriedStep(
                generation=row.generation,
                name=row.name,
                attempt=row.attempt,
                result=row.result if row.intact else None,
                started=row.started,
                finished=row.finished if row.intact else None,
            )
            for row in session.exec(query.order_by(col(StepRow.started), col(StepRow.name), col(StepRow.attempt)))
        )


def _notes(app: App, run: Run) -> tuple[CarriedNote, ...]:
    query = select(RequeueNoteRow).where(*_of_ticket(run)).order_by(col(RequeueNoteRow.id))
    with app.book.reading() as session:
        return tuple(
            CarriedNote(
                text=row.text,
                author=row.author,
                at=row.at,
                read_in=row.read_in_attempt if row.read_by == run.id else None,
            )
            for row in session.exec(query)
            if row.read_by in (None, run.id)
        )


def _of_ticket(run: Run) -> tuple[Any, ...]:
    return (
        RequeueNoteRow.installation == run.scope.installation,
        RequeueNoteRow.repository == run.scope.repository,
        RequeueNoteRow.ticket == run.ticket.id,
    )


# --- Into the tables -----------------------------------------------------------------------------------------------


def _step_row(app: App, run: Run, step: CarriedStep) -> StepRow:
    result, intact = _clean(app, step.result)
    return StepRow(
        run=run.id,
        generation=step.generation,
        name=step.name,
        attempt=step.attempt,
        result=result,
        intact=intact,
        started=step.started,
        finished=step.finished if intact else None,
    )


def _clean(app: App, result: str | None) -> tuple[str | None, bool]:
    """As a step's result is written down everywhere: without secrets, and not used again where one was in it."""
    if result is None:
        return None, True
    try:
        return app.book.clean_json(json.loads(result))
    except (ValueError, RecursionError) as error:
        raise TrailUnusable(reason="what a step gave is no JSON") from error


def _note_row(app: App, run: Run, note: CarriedNote) -> RequeueNoteRow:
    return RequeueNoteRow(
        installation=run.scope.installation,
        repository=run.scope.repository,
        ticket=run.ticket.id,
        text=app.book.clean(note.text),
        author=app.book.clean(note.author),
        at=note.at,
        read_by=None if note.read_in is None else run.id,
        read_in_attempt=note.read_in,
    )


def _fact(one: Carried) -> Fact:
    if one.kind not in _FACTS:
        raise TrailUnusable(reason="it carries a fact of another kind")
    try:
        fact: Fact = _FACTS[one.kind].validate_python(one.data)
    except ValidationError as error:
        raise TrailUnusable(reason=f"a fact in it is no {one.kind}") from error
    return fact
