"""Everything that is known of a run, in one value: for showing it, and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from bot.book import Book
from bot.events import EventStore, kind_of_fact
from bot.facts import EventRecord
from bot.requeue import RequeueNotes
from bot.run import RequeueNote, Run, StepRecord
from bot.runs import RunStore
from bot.steps import StepStore

_ANY: Final = TypeAdapter(Any)


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """A run with its steps, what happened in them, and the requeue notes of its ticket."""

    run: Run
    steps: tuple[StepRecord, ...] = ()
    events: tuple[EventRecord, ...] = ()
    notes: tuple[RequeueNote, ...] = ()


def read_record(book: Book, given: str) -> RunRecord:
    """The record of the run with this id, or beginning of an id. Raises NoSuchRun and AmbiguousRun."""
    run = RunStore(book).get(given)
    return RunRecord(
        run=run,
        steps=StepStore(book).of(run.id),
        events=EventStore(book).of(run.id),
        notes=RequeueNotes(book).of(run.scope, run.ticket.id),
    )


def record_json(record: RunRecord) -> str:
    """The whole record: `run`, `steps`, `events` (each with its `kind`), `notes`."""
    events = [{**_plain(event), "kind": kind_of_fact(event.fact)} for event in record.events]
    return _text({**_plain(record), "events": events})


def _plain(value: object) -> dict[str, Any]:
    plain: dict[str, Any] = _ANY.dump_python(value, mode="json")
    return plain


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
