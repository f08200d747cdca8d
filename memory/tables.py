"""Rows of memory. They never leave the store; what crosses its border are the values of `memory.types`.

A row with `live_from` and `live_until` holds for the versions `live_from <= version < live_until` of its repository
and is never changed, except that `live_until` is set once, and a lesson signed again then.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar

from sqlalchemy import Dialect
from sqlalchemy.types import DateTime, TypeDecorator
from sqlmodel import Field, SQLModel


class Moment(TypeDecorator[datetime]):
    """A point in time: UTC in the table, aware outside."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, _: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Scoped(SQLModel):
    """A row of one repository."""

    installation: str
    repository: str


class VersionRow(Scoped, table=True):
    """A published state. Numbers count per repository, from 1."""

    __tablename__ = "memory_version"

    installation: str = Field(primary_key=True)
    repository: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    digest: str
    source_commit: str | None
    published_at: datetime = Field(sa_type=Moment)


class EndingRow(Scoped, table=True):
    """How an attempt or a run ended. `slot` tells the endings of one kind in one run apart."""

    __tablename__ = "ending"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_autoincrement": True}

    number: int | None = Field(default=None, primary_key=True)
    id: str
    run: str
    ticket: str
    author: str
    kind: str
    slot: str
    final: bool
    body: str
    commit_id: str
    at: datetime = Field(sa_type=Moment)
    evidence: str
    environment: str
    signatures: str
    paths: str
    refers_to: str | None
    lesson: str | None
    version: int


class LessonRow(Scoped, table=True):
    """One state of a lesson: a change of count or status is a new row with the same `lesson`."""

    __tablename__ = "lesson"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    lesson: str
    kind: str
    body: str
    status: str
    run: str
    ticket: str
    commit_id: str
    signatures: str
    environment: str
    paths: str
    maintainer: str
    supersedes: str | None
    count: int
    first_seen: datetime = Field(sa_type=Moment)
    last_seen: datetime = Field(sa_type=Moment)
    expires: datetime | None = Field(sa_type=Moment)
    live_from: int
    live_until: int | None
    mac: str = ""  # over all of the others, see `memory.authorship`


class KeyRow(Scoped, table=True):
    """A key of a lesson's signature: what another failure is compared with."""

    __tablename__ = "lesson_key"

    key: str = Field(primary_key=True)
    lesson: str = Field(primary_key=True)
    repository: str = Field(primary_key=True)
    installation: str = Field(primary_key=True)
    algo: str = Field(primary_key=True)
    level: str = Field(primary_key=True)
    live_from: int


class SignaturePassRow(Scoped, table=True):
    """The keys of the repository's lessons were made anew for an algorithm, as far as texts were left."""

    __tablename__ = "signature_pass"

    installation: str = Field(primary_key=True)
    repository: str = Field(primary_key=True)
    algo: str = Field(primary_key=True)
    version: int
    lessons: int
    without: int
    at: datetime = Field(sa_type=Moment)


class EvidenceRow(Scoped, table=True):
    """One ending that a lesson rests on."""

    __tablename__ = "lesson_evidence"

    ending: str = Field(primary_key=True, foreign_key="ending.id")
    lesson: str
    run: str
    ticket: str
    author: str
    evidence: str
    at: datetime = Field(sa_type=Moment)
    live_from: int


class NoteRow(Scoped, table=True):
    """A note as it stood from one version to another. `source` is the digest of what was read, `digest` of this."""

    __tablename__ = "note"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    path: str
    shared: bool
    changed: str
    source: str
    digest: str
    text: str
    live_from: int
    live_until: int | None


class SourceStateRow(Scoped, table=True):
    """What the live notes and rules were made from; a cache."""

    __tablename__ = "source_state"

    installation: str = Field(primary_key=True)
    repository: str = Field(primary_key=True)
    state: str
    notes: str
    tuning: str


class ChunkRow(SQLModel, table=True):
    """A part of a note that can be shown on its own."""

    __tablename__ = "note_chunk"

    note: int = Field(primary_key=True, foreign_key="note.id")
    ordinal: int = Field(primary_key=True)
    name: str
    anchor: str
    heading: str
    text: str
    changed: str
    scope: str


class TuningRow(Scoped, table=True):
    """The rules of the maintainers, one line each."""

    __tablename__ = "tuning"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    text: str
    live_from: int
    live_until: int | None


class CalibrationRow(Scoped, table=True):
    """What was measured for a version; later ones carry it until the next."""

    __tablename__ = "calibration"

    installation: str = Field(primary_key=True)
    repository: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    algorithm: str
    basis: str
    level: float
    threshold: float
    notes: int
    false_hits: int
    false_of: int
    found_hits: int
    found_of: int
    right_hits: int
    right_of: int
    at: datetime = Field(sa_type=Moment)


class InjectionRow(Scoped, table=True):
    """One prompt: which memory it was given."""

    __tablename__ = "injection"
    __table_args__: ClassVar[dict[str, object]] = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    run: str
    entry_point: str
    prompt_hash: str
    version: int
    rule: str
    looked_for: str = ""
    at: datetime = Field(sa_type=Moment)


class InjectedRow(SQLModel, table=True):
    """One candidate of a prompt: shown, or left out and why."""

    __tablename__ = "injected"

    injection: int = Field(primary_key=True, foreign_key="injection.id")
    position: int = Field(primary_key=True)
    record: str
    shown: bool
    why: str
    score: float | None
