"""What a run has to show: gathered from its records, for people on GitHub."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.conclusion import HOW_IT_ENDED
from bot.facts import Checked, Decided, EventRecord, Fact, Found, Judged, Summarised
from bot.run import Run
from bot.stores import Stores
from memory.types import Injection, Record


@dataclass(frozen=True, kw_only=True)
class Used:
    """What memory put before the model's eyes: lessons and notes, each once; rules of the maintainers are counted."""

    lessons: tuple[Record, ...] = ()
    notes: tuple[Record, ...] = ()
    version: int | None = None


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """`cause` and `summary` are a model's words; all else was seen by code. `judged` is the gate's last verdict, `told`
    how the run came to its end.
    """

    cause: str = ""
    summary: str = ""
    told: str = ""
    judged: Judged | None = None
    checks: tuple[Checked, ...] = ()
    held: tuple[Judged, ...] = ()  # attempts that did not pass
    used: Used = Used()

    @property
    def whole(self) -> bool:
        """True when a test that was red is green, and nothing that was to be repaired is left red."""
        return self.judged is not None and bool(self.judged.fixed) and not self.judged.still_failing


def gather(stores: Stores, run: Run) -> Evidence:
    """The evidence of a run."""
    facts = [event.fact for event in _of_generation(stores.events.of(run.id), run.generation)]
    judged = [fact for fact in facts if isinstance(fact, Judged)]
    said = [fact for fact in facts if isinstance(fact, Found) and fact.what == "diagnosis"]
    summed_up = [fact for fact in facts if isinstance(fact, Summarised)]
    told = [fact.because for fact in facts if isinstance(fact, Decided) and fact.what == HOW_IT_ENDED]
    return Evidence(
        cause=said[-1].fields.get("cause", "") if said else "",
        summary=summed_up[-1].text if summed_up else "",
        told=told[-1] if told else "",
        judged=judged[-1] if judged else None,
        checks=_last_of_each(facts),
        held=tuple(fact for fact in judged if fact.cause),
        used=used(stores.memory.injections(run.scope, run.id)),
    )


def used(injections: Sequence[Injection]) -> Used:
    """The lessons and notes of these prompts."""
    shown = {record.id: record for injection in injections for record in injection.shown}
    chosen = [record for record in shown.values() if not record.id.startswith("tuning:")]
    return Used(
        lessons=tuple(record for record in chosen if record.score is None),  # notes are scored, lessons are matched
        notes=tuple(record for record in chosen if record.score is not None),
        version=max((one.version for one in injections), default=None),
    )


def _of_generation(events: Sequence[EventRecord], generation: int) -> Sequence[EventRecord]:
    return [event for event in events if event.generation == generation]


def _last_of_each(facts: Sequence[Fact]) -> tuple[Checked, ...]:
    found = {(fact.check, fact.on): fact for fact in facts if isinstance(fact, Checked)}
    return tuple(found.values())
