"""Reads what the collector reported: signed lines in order, or nothing that counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hmac import compare_digest, digest
from typing import Any, Final

from memory.types import CheckId
from stages.report import LineHits, Outcome, TestOutcome

_ORDER: Final = (Outcome.PASSED, Outcome.XFAILED, Outcome.SKIPPED, Outcome.FAILED)


@dataclass(frozen=True, kw_only=True)
class Results:
    """What the collector reported. `status` is the exit status that it announced; `intact` is False when a line was
    unsigned, missing or out of order.

    `begun` names the test that was running at the end, `reading` the file of tests that was being read.
    """

    outcomes: tuple[TestOutcome, ...] = ()
    collected: tuple[CheckId, ...] = ()
    hits: LineHits = field(default_factory=dict)
    status: int | None = None
    intact: bool = True
    begun: CheckId | None = None
    reading: CheckId | None = None


def read_results(reported: bytes, key: bytes) -> Results:
    """What is signed with `key`, up to the first line that is not."""
    outcomes: dict[CheckId, TestOutcome] = {}
    asserts: dict[CheckId, int] = {}
    results = Results()
    for event in _events(reported, key):
        match event:
            case None:
                results = replace(results, intact=False)
            case {"event": "collected", "tests": list() as tests}:
                asserts |= {_id(test): int(count) for test, count in tests}
                results = replace(results, reading=None)
            case {"event": "reading", "file": str() as file}:
                results = replace(results, reading=_id(file))
            case {"event": "begin", "test": str() as test}:
                results = replace(results, begun=_id(test))
            case {"event": "test", "test": str() as test}:
                outcome = _outcome(event, asserts.get(_id(test), 0))
                outcomes[outcome.id] = _worse(outcomes.get(outcome.id), outcome)
                results = replace(results, begun=None)
            case {"event": "lines", "hits": dict() as hits}:
                results = replace(results, hits=_hits(hits))
            case {"event": "end", "status": int() as status}:
                results = replace(results, status=status)
            case _:
                continue
    return replace(results, outcomes=tuple(outcomes.values()), collected=tuple(asserts))


def _events(reported: bytes, key: bytes) -> Iterator[dict[str, Any] | None]:
    lines = reported.split(b"\n")
    whole = lines.pop() == b""
    for number, line in enumerate(lines):
        code, _, text = line.partition(b" ")
        if not compare_digest(digest(key, b"%d:%b" % (number, text), "sha256").hex().encode(), code):
            yield None
            return
        yield json.loads(text)
    if not whole:
        yield None


def _outcome(event: Mapping[str, Any], asserts: int) -> TestOutcome:
    return TestOutcome(
        id=_id(event["test"]),
        outcome=Outcome(event["outcome"]),
        type=_text(event["type"]),
        message=_text(event["message"]),
        text=_text(event["text"]),
        asserts=asserts,
        seconds=float(event["seconds"]),
        hidden=int(event["hidden"]),
    )


def _worse(one: TestOutcome | None, other: TestOutcome) -> TestOutcome:
    """A test that is reported twice ended as its worse report says."""
    if one is None:
        return other
    return max(one, other, key=lambda outcome: _ORDER.index(outcome.outcome))


def _hits(hits: Mapping[str, Mapping[str, list[int]]]) -> LineHits:
    return {_text(path): {int(line): (ran[0], ran[1]) for line, ran in lines.items()} for path, lines in hits.items()}


def _id(name: str) -> CheckId:
    return CheckId(_text(name))


def _text(text: str) -> str:
    """Without lone surrogates, which no file and no database takes."""
    return text.encode("utf-8", "backslashreplace").decode()
