"""What the job that works hands to the job that publishes: a file. Whoever reads it trusts nothing in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from bot.errors import WrongInput
from bot.events import EventStore, kind_of_fact
from bot.facts import KINDS, Checked, Decided, EventRecord, Fact, Found, Judged, Summarised
from memory.types import RunId
from stages.errors import ParkCause

FORMAT: Final = 1
BUNDLE_AT_MOST: Final = 32 * 1024 * 1024  # bytes
CARRIED: Final = (Judged, Checked, Decided, Found, Summarised)
"""What people are shown of a run. Prompts, answers and tool calls stay where they were."""


class BundleUnusable(WrongInput):
    """The bundle {path} cannot be used: {reason}."""


class BundleState(StrEnum):
    PUBLISHED = "published"  # a patch passed the gate
    PARKED = "parked"
    ENDED = "ended"
    REFUSED = "refused"  # nothing was begun


@dataclass(frozen=True, kw_only=True)
class Carried:
    """One fact of the run, as the table of events holds it."""

    kind: Annotated[str, Field(max_length=20)]
    at: datetime
    step: Annotated[str, Field(max_length=100)]
    attempt: Annotated[int, Field(ge=0, le=1_000)]
    data: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """`said` is the outcome, what a parked run waits for, or why nothing was begun, which is told when `tell` is set.

    `diff` is the patch against `base`; `log` holds the endings of the run.
    """

    version: Annotated[int, Field(ge=FORMAT, le=FORMAT)] = FORMAT
    repository: Annotated[int, Field(ge=0, lt=2**63)]
    number: Annotated[int, Field(gt=0, lt=2**63)]
    state: BundleState
    said: Annotated[str, Field(max_length=20_000)] = ""
    tell: bool = False
    cause: ParkCause | None = None
    run: Annotated[str, Field(pattern=r"^([0-9A-HJKMNP-TV-Z]{12})?$")] = ""
    base: Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")] = ""
    attempt: Annotated[int, Field(ge=0, le=1_000)] = 0
    diff: str = ""
    facts: Annotated[tuple[Carried, ...], Field(max_length=5_000)] = ()
    log: str = ""


_BUNDLE: Final = TypeAdapter(Bundle)
_FACTS: Final = {kind: TypeAdapter(fact) for kind, fact in KINDS.items() if fact in CARRIED}


def write_bundle(path: Path, bundle: Bundle) -> None:
    """Raises OSError."""
    path.write_bytes(_BUNDLE.dump_json(bundle, indent=1) + b"\n")


def read_bundle(path: Path) -> Bundle:
    """Raises BundleUnusable."""
    try:
        with path.open("rb") as file:
            data = file.read(BUNDLE_AT_MOST + 1)
    except OSError as error:
        raise BundleUnusable(path=path, reason=error.strerror or "unknown error") from error
    if len(data) > BUNDLE_AT_MOST:
        raise BundleUnusable(path=path, reason=f"it has more than {BUNDLE_AT_MOST} bytes")
    try:
        return _BUNDLE.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(one) for one in first["loc"])[:80]
        raise BundleUnusable(path=path, reason=f"{place or 'it'} is not as it should be ({first['type']})") from error


def carried(records: Sequence[EventRecord], generation: int) -> tuple[Carried, ...]:
    """The facts that go along."""
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


def unpack(events: EventStore, run: RunId, facts: Sequence[Carried]) -> None:
    """Write them down as facts of this run. Raises BundleUnusable for what is none."""
    for one in facts:
        if one.kind not in _FACTS:
            raise BundleUnusable(path="", reason="it carries a fact of another kind")
        try:
            fact: Fact = _FACTS[one.kind].validate_python(one.data)
        except ValidationError as error:
            raise BundleUnusable(path="", reason=f"a fact in it is no {one.kind}") from error
        events.add(run, one.step, one.attempt, [(one.at, fact)])
