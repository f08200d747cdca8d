"""Endings and stores to write tests with."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import event

from memory.authorship import Authorship
from memory.database import open_database, upgrade_memory
from memory.scrub import Scrubber
from memory.store import MemoryStore
from memory.types import (
    CheckId,
    CommitId,
    Drop,
    DropCause,
    Edit,
    Ending,
    EndingId,
    ErrorSignature,
    Evidence,
    Hold,
    HoldCause,
    Injection,
    LeftOut,
    MemoryQuery,
    NotOurs,
    NotOursCause,
    PassAfterHold,
    Record,
    Refix,
    RepositoryId,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Verify,
    VerifyOutcome,
    Where,
)
from tests.empty_database import lay_empty

SHOP = Scope(installation="1", repository=RepositoryId("github.com/acme/shop"))
COMMIT = CommitId("4be1f0a9" * 5)
AT = datetime(2026, 11, 3, 12, tzinfo=UTC)
DAY = timedelta(days=1)
AUTHOR = Authorship(b"of these tests, and of no others")
EDIT = Edit(path="src/cart.py", line=41, digest="7b1d90c2aa41")
TEST = CheckId("tests/test_cart.py::test_empty")

HOLD = Hold(where=Where.GATE, cause=HoldCause.CHECK, attempt=1, failing=(TEST,), exit_status=1, edits=(EDIT,))
REFIX = Refix(attempt=2, edits=(EDIT,), now_passing=(TEST,))
PASS = PassAfterHold(attempt=2, answers=(), edits=(EDIT,))
DROP = Drop(cause=DropCause.NOT_REPRODUCIBLE)
NOT_OURS = NotOurs(cause=NotOursCause.ALREADY_FIXED, proof=(TEST,))
WORKED = Verify(outcome=VerifyOutcome.WORKED, edits=(EDIT,), checks=(TEST,), commit=COMMIT)
RECURRED = Verify(outcome=VerifyOutcome.RECURRED, edits=(EDIT,))
EVERY_KIND: Mapping[str, Ending] = {
    "hold": HOLD,
    "refix": REFIX,
    "pass-after-hold": PASS,
    "drop": DROP,
    "verify": WORKED,
    "not-ours": NOT_OURS,
}


def key(level: str, digit: str = "9") -> str:
    return f"es1:{level}:{digit * 20}"


def signature(levels: str = "xfct", digit: str = "9") -> ErrorSignature:
    return ErrorSignature(
        kind="trace",
        language="python",
        type="TypeError",
        template="unsupported operand",
        keys={level: key(level, digit) for level in levels},
    )


SIGNATURE = signature()


def ended(
    ending: Ending,
    *,
    run: str = "run1",
    ticket: str = "shop#1",
    author: str = "ada",
    at: datetime = AT,
    evidence: Evidence = Evidence.EXIT_STATUS,
    signatures: tuple[ErrorSignature, ...] = (SIGNATURE,),
    final: bool | None = None,
    scope: Scope = SHOP,
    refers_to: EndingId | None = None,
) -> RunEnding:
    return RunEnding(
        scope=scope,
        run=RunId(run),
        ticket=TicketId(ticket),
        author=author,
        ending=ending,
        final=isinstance(ending, Drop | NotOurs | Verify) if final is None else final,
        commit=COMMIT,
        at=at,
        evidence=evidence,
        signatures=signatures,
        refers_to=refers_to,
    )


def query(
    ticket: str = "shop#9",
    *,
    signatures: tuple[ErrorSignature, ...] = (),
    scope: Scope = SHOP,
    at: datetime = AT,
) -> MemoryQuery:
    return MemoryQuery(
        scope=scope,
        ticket=TicketId(ticket),
        entry_point="diagnose",
        title="The cart breaks",
        signatures=signatures,
        at=at,
    )


def injection(run: RunId, *, shown: tuple[Record, ...] = (), left_out: tuple[LeftOut, ...] = ()) -> Injection:
    return Injection(
        scope=SHOP,
        run=run,
        entry_point="diagnose",
        prompt_hash="0" * 64,
        version=1,
        rule="coverage",
        shown=shown,
        left_out=left_out,
        at=AT,
    )


def make_store(file: Path, *secrets: str) -> MemoryStore:
    engine = open_database(lay_empty(file, upgrade_memory), busy_seconds=20)
    engine.dispose()
    # A killed process loses nothing that the system has taken; waiting for the disk would only make tests slow.
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))
    upgrade_memory(engine)  # of a file that was there
    return MemoryStore(engine, Scrubber(secrets), AUTHOR)


def tables(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything in the file, read through a connection of its own."""
    with sqlite3.connect(file) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
