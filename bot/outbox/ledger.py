"""What was meant to be sent, and what was read back: after a crash nothing is sent twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlmodel import col, select

from bot.book import Book
from bot.forge.types import RepositoryRef
from bot.outbox.tables import OutboxRow


class Kind(StrEnum):
    COMMENT = "comment"
    PULL = "pull"
    CHECK = "check"
    PUSH = "push"
    DELETED_BRANCH = "deleted branch"
    CLOSED_PULL = "closed pull"


class State(StrEnum):
    INTENDED = "intended"  # nobody knows yet whether it is there
    DONE = "done"  # it was read back


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One thing that is to be on GitHub, once. `key` is its marker there."""

    key: str
    run: str
    step: str
    kind: Kind
    ref: RepositoryRef
    subject: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What the ledger knows of an effect. `fresh`: it was written down just now, so nothing can be there yet."""

    effect: Effect
    state: State
    artefact: str
    digest: str
    fresh: bool
    done: datetime | None


class Ledger:
    """All SQL of the outbox. With `whole` False other processes, whose ledgers are gone, may have sent things too."""

    def __init__(self, book: Book, *, whole: bool = True) -> None:
        self._book, self._whole = book, whole

    def intend(self, effect: Effect) -> Entry:
        """Write down what will be tried, before it is; or give what is known of it. Raises as `memory.database`."""
        with self._book.writing() as session:
            row = session.get(OutboxRow, effect.key)
            if row is not None:
                return _entry(effect, row, fresh=False)
            row = OutboxRow(
                key=effect.key,
                run=effect.run,
                step=effect.step,
                kind=effect.kind.value,
                installation=effect.ref.installation,
                repository=effect.ref.id,
                subject=effect.subject,
                state=State.INTENDED.value,
                intended=self._book.now(),
            )
            session.add(row)
            return _entry(effect, row, fresh=self._whole)

    def done(self, effect: Effect, artefact: object, text: str = "") -> None:
        """It is there: it was read back, with this text."""
        with self._book.writing() as session:
            row = session.get_one(OutboxRow, effect.key)
            row.state, row.artefact, row.digest = State.DONE.value, str(artefact), digest(text)
            row.done = self._book.now()
            session.add(row)

    def lost(self, effect: Effect) -> None:
        """It was there, and somebody took it away."""
        with self._book.writing() as session:
            row = session.get_one(OutboxRow, effect.key)
            row.state, row.artefact, row.digest, row.done = State.INTENDED.value, "", "", None
            session.add(row)

    def of_run(self, run: str) -> tuple[Entry, ...]:
        """What was sent for a run, in the order in which it was meant."""
        with self._book.reading() as session:
            query = select(OutboxRow).where(OutboxRow.run == run).order_by(col(OutboxRow.intended), OutboxRow.key)
            return tuple(_entry(_effect(row), row, fresh=False) for row in session.exec(query))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _effect(row: OutboxRow) -> Effect:
    ref = RepositoryRef(installation=row.installation, id=row.repository, full_name="")
    return Effect(key=row.key, run=row.run, step=row.step, kind=Kind(row.kind), ref=ref, subject=row.subject)


def _entry(effect: Effect, row: OutboxRow, *, fresh: bool) -> Entry:
    return Entry(
        effect=effect, state=State(row.state), artefact=row.artefact, digest=row.digest, fresh=fresh, done=row.done
    )
