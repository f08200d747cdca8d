"""The record of what happened in runs, for people: scrubbed and cut when written, its transcripts kept for a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

from pydantic import TypeAdapter
from sqlmodel import col, func, select
from sqlmodel.sql.expression import Select

from bot.book import Book
from bot.facts import KINDS, Asked, Decided, Ended, EventRecord, Fact, Found, Judged, NoteRead, Published, Summarised
from bot.run import RunState
from bot.tables import EventRow, RunRow, StepRow
from memory.types import RunId
from stages.journal import ModelSaid, ToolUsed

CHARACTERS_AT_MOST: Final = 64 * 1024  # of each text in an event

_KIND_OF: Final = {fact: kind for kind, fact in KINDS.items()}
_ONCE: Final = tuple(_KIND_OF[fact] for fact in (Decided, Judged, Ended, NoteRead, Published, Summarised))
_TRANSCRIPT: Final = tuple(_KIND_OF[fact] for fact in (Asked, ToolUsed, ModelSaid, Found))


class EventStore:
    """All SQL of events."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def add(self, run: RunId, step: str, attempt: int, facts: Sequence[tuple[datetime, Fact]]) -> None:
        """Write facts down, in this order, after those that the run has already.

        What code decided is written once for each step: a run that is resumed decides the same again.
        """
        rows = [(at, kind_of_fact(fact), self._data(fact)) for at, fact in facts]
        with self._book.writing() as session:
            last = select(func.max(EventRow.seq)).where(EventRow.run == run).scalar_subquery()
            generation, seq = session.exec(
                select(RunRow.generation, func.coalesce(last, 0)).where(RunRow.id == run)
            ).one()
            once = any(kind in _ONCE for _, kind, _ in rows)
            decided = set(session.exec(_decided(run, generation, step, attempt))) if once else set()
            for at, kind, data in rows:
                if (kind, data) in decided:
                    continue
                seq += 1
                row = EventRow(
                    run=run, seq=seq, generation=generation, step=step, attempt=attempt, kind=kind, data=data, at=at
                )
                session.add(row)

    def of(self, run: RunId) -> tuple[EventRecord, ...]:
        """What happened in a run, in order."""
        with self._book.reading() as session:
            rows = session.exec(select(EventRow).where(EventRow.run == run).order_by(col(EventRow.seq))).all()
            return tuple(
                EventRecord(
                    seq=row.seq,
                    generation=row.generation,
                    step=row.step,
                    attempt=row.attempt,
                    at=row.at,
                    fact=_fact(row),
                )
                for row in rows
            )

    def prune(self, before: datetime) -> int:
        """Blank what models were told and answered before this moment, and give how many events that were.

        What code saw and decided stays, and so do the hashes of prompts, the names of tools and the cost. Results of
        steps, which hold a model's words, go with their runs when these have ended.
        """
        old = select(EventRow).where(EventRow.at < before, col(EventRow.kind).in_(_TRANSCRIPT))
        over = select(RunRow.id).where(RunRow.state == RunState.ENDED.value, RunRow.updated < before)
        with self._book.writing() as session:
            blanked = 0
            for row in session.exec(old):
                data = self._data(_blank(_fact(row)))
                blanked += data != row.data
                row.data = data
            for step in session.exec(select(StepRow).where(col(StepRow.run).in_(over))):
                step.result = None
            return blanked

    def _data(self, fact: Fact) -> str:
        return self._book.clean_json(
            _adapter(kind_of_fact(fact)).dump_python(fact, mode="json"), at_most=CHARACTERS_AT_MOST
        )[0]


def kind_of_fact(fact: Fact) -> str:
    """The name under which a fact is stored."""
    return _KIND_OF[type(fact)]


def _reached(run: RunId) -> Select[int, int]:
    """The generation of a run, and the number of its last event."""
    last = select(func.max(EventRow.seq)).where(EventRow.run == run).scalar_subquery()
    return select(RunRow.generation, func.coalesce(last, 0)).where(RunRow.id == run)


def _decided(run: RunId, generation: int, step: str, attempt: int) -> Select[str, str]:
    return select(EventRow.kind, EventRow.data).where(
        EventRow.run == run,
        EventRow.generation == generation,
        EventRow.step == step,
        EventRow.attempt == attempt,
        col(EventRow.kind).in_(_ONCE),
    )


@cache
def _adapter(kind: str) -> TypeAdapter[Fact]:
    return TypeAdapter(KINDS[kind])


def _fact(row: EventRow) -> Fact:
    return _adapter(row.kind).validate_json(row.data)


def _blank(fact: Fact) -> Fact:
    match fact:
        case Asked():
            return replace(fact, section="", body="", notes=())
        case ToolUsed():
            return replace(fact, arguments="", result="")
        case ModelSaid():
            return replace(fact, text="")
        case Found():
            return replace(fact, fields={})
        case _:
            return fact
