"""The log of endings, for a place without a database: one line of JSON for each, in any order, only ever added to.

A line holds what a table holds of an ending, and nothing else: slots, no text of a ticket, a model or a command. Two
logs are merged by taking the lines of both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import TypeAdapter, ValidationError

from memory.columns import ending_json, ending_of, paths_json, paths_of, signatures_json, signatures_of
from memory.errors import MemoryFault
from memory.recording import Recorded, RecordedEnding
from memory.slots import kind_of
from memory.types import CommitId, EndingId, EndingKind, Evidence, RunEnding, RunId, Scope, TicketId

FORMAT: Final = 1
LINE_AT_MOST: Final = 64 * 1024  # characters


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line: where it stands in time, what it is called, and the line itself. Of another format, only kept."""

    at: str
    final: bool
    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Restored:
    """How many endings a log held that are known now, and how many could not be taken."""

    known: int
    refused: int


class Records(Protocol):
    """Where endings are written down."""

    def record(self, ending: RunEnding, /) -> Recorded: ...


@dataclass(frozen=True, kw_only=True)
class _Columns:
    """An ending as the line holds it."""

    v: int
    id: str
    run: str
    ticket: str
    author: str
    kind: EndingKind
    final: bool
    commit: str
    at: datetime
    evidence: Evidence
    environment: str
    signatures: list[Any]
    paths: list[Any]
    refers_to: str | None
    body: dict[str, Any]


_COLUMNS: Final = TypeAdapter(_Columns)
_HEAD: Final = ("v", "id", "at", "final")


def written(endings: Iterable[RecordedEnding]) -> str:
    """The log of these endings."""
    return merged("".join(f"{_line(one)}\n" for one in endings))


def merged(*logs: str) -> str:
    """All lines of these logs, each once, in one order whatever the order of the logs. What is no line is left out."""
    lines = {line.id: line for log in reversed(logs) for line in _lines(log)}
    ordered = sorted(lines.values(), key=lambda line: (line.at, line.final, line.id))
    return "".join(f"{line.text}\n" for line in ordered)


def endings_in(log: str, scope: Scope) -> tuple[tuple[EndingId, RunEnding], ...]:
    """The endings of a log, as endings of this repository; lines that cannot be read are left out."""
    found = ((line, _ending(line.text, scope)) for line in _lines(merged(log)))
    return tuple((EndingId(line.id), ending) for line, ending in found if ending is not None)


def restore(store: Records, log: str, scope: Scope) -> Restored:
    """Write the endings of a log down, with their lessons; what is there already is only found again.

    Raises the errors of the store; an ending that contradicts itself or another one is refused, and counted.
    """
    names: dict[EndingId, EndingId] = {}
    known = refused = 0
    for old, ending in endings_in(log, scope):
        refers_to = names.get(ending.refers_to, ending.refers_to) if ending.refers_to else None
        try:
            names[old] = store.record(replace(ending, refers_to=refers_to)).ending
            known += 1
        except MemoryFault as fault:
            if type(fault).__module__ == "memory.database":
                raise
            refused += 1
    return Restored(known=known, refused=refused)


def _line(recorded: RecordedEnding) -> str:
    ending, kind = recorded.ending, kind_of(recorded.ending.ending)
    return json.dumps(
        {
            "v": FORMAT,
            "id": recorded.id,
            "at": ending.at.isoformat(),
            "final": ending.final,
            "run": ending.run,
            "ticket": ending.ticket,
            "author": ending.author,
            "kind": kind.value,
            "commit": ending.commit,
            "evidence": ending.evidence.value,
            "environment": ending.environment,
            "signatures": json.loads(signatures_json(ending.signatures)),
            "paths": json.loads(paths_json(ending.paths)),
            "refers_to": ending.refers_to,
            "body": json.loads(ending_json(kind, ending.ending)),
        },
        ensure_ascii=True,
        separators=(",", ":"),
    )


def _lines(log: str) -> Iterator[Line]:
    for text in log.split("\n"):
        if not text or len(text) > LINE_AT_MOST:
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _has_head(value):
            yield Line(at=value["at"], final=value["final"], id=value["id"], text=text)


def _has_head(value: Mapping[str, object]) -> bool:
    kinds = (int, str, str, bool)
    return all(isinstance(value.get(name), kind) for name, kind in zip(_HEAD, kinds, strict=True))


def _ending(text: str, scope: Scope) -> RunEnding | None:
    try:
        columns = _COLUMNS.validate_json(text)
        if columns.v != FORMAT or columns.at.tzinfo is None:
            return None
        return RunEnding(
            scope=scope,
            run=RunId(columns.run),
            ticket=TicketId(columns.ticket),
            author=columns.author,
            ending=ending_of(columns.kind, json.dumps(columns.body)),
            final=columns.final,
            commit=CommitId(columns.commit),
            at=columns.at,
            evidence=columns.evidence,
            environment=columns.environment,
            signatures=signatures_of(json.dumps(columns.signatures)),
            paths=paths_of(json.dumps(columns.paths)),
            refers_to=EndingId(columns.refers_to) if columns.refers_to else None,
        )
    except (ValidationError, ValueError, TypeError, AttributeError):
        return None
