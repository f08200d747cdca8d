"""The one call of record: an ending is written down with its lesson, and a final one closes the run."""

from __future__ import annotations

from bot import witness
from bot.journal import RunJournal
from bot.run import Run, RunState
from bot.stores import Stores
from memory.lessons import render
from memory.recording import Recorded
from memory.types import RunEnding


def learn(stores: Stores, ending: RunEnding) -> Recorded:
    """Ending, lesson and memory version in one transaction. Doing it again is harmless."""
    return stores.memory.record(ending)


def write_down(stores: Stores, ending: RunEnding, journal: RunJournal | None = None) -> Recorded:
    """Learn, then write it into the run's own record. Doing it again is harmless."""
    recorded = learn(stores, ending)
    lesson = recorded.lesson
    told = witness.ended(
        ending,
        version=recorded.version.number,
        lesson=lesson,
        lines=render(lesson, "this run") if lesson else (),
    )
    if journal is None:
        journal = RunJournal(stores.events, ending.run, now=stores.now)
        journal.at("end")
    journal.record(told)
    if ending.final:
        stores.runs.set_state(ending.run, RunState.ENDED, outcome=witness.outcome_of(ending.ending))
    return recorded


def already_over(stores: Stores, run: Run) -> bool:
    """Close a run whose final ending was written before its process died."""
    finals = [recorded.ending for recorded in stores.memory.endings(run.scope, run.id) if recorded.ending.final]
    for ending in finals:
        write_down(stores, ending)
    return bool(finals)
