"""The tables of runs. Rows stay behind the stores; what they give out are frozen values."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, MetaData, Text, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from memory.tables import Moment

OPEN_RUN = "open_run_of_ticket"


class BotTable(SQLModel):
    """What the tables of runs have in common: one set of names, apart from that of memory."""

    metadata = MetaData()


class RunRow(BotTable, table=True):
    __tablename__ = "run"
    __table_args__ = (
        # One open run per ticket, whoever asks at the same moment.
        Index(
            OPEN_RUN,
            "installation",
            "repository",
            "ticket",
            unique=True,
            sqlite_where=text("state <> 'ended'"),
            postgresql_where=text("state <> 'ended'"),
        ),
    )

    id: str = Field(primary_key=True)
    installation: str
    repository: str
    ticket: str
    ticket_json: str = Field(sa_type=Text)
    place: str
    state: str = Field(index=True)
    park_cause: str | None = None
    park_reason: str = ""
    generation: int
    attempt: int = 0
    memory_version: int | None = None
    base: str
    model: str
    level: str
    attempts_at_most: int | None
    sandbox: str
    actor: str = ""
    branch: str = ""
    commit: str | None = None
    patch: str = Field(default="", sa_type=Text)
    patch_intact: bool = True
    outcome: str = ""
    stop_requested: bool = False
    stop_cause: str = ""
    wake: datetime | None = Field(default=None, sa_type=Moment)
    epoch: int = 0
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    minutes: float = 0.0
    created: datetime = Field(sa_type=Moment)
    updated: datetime = Field(sa_type=Moment)


class SpendingRow(BotTable, table=True):
    __tablename__ = "spending"
    __table_args__ = (Index("spending_of_day", "day"),)

    run: str = Field(primary_key=True)
    day: str = Field(primary_key=True)  # ISO date, UTC
    installation: str
    repository: str
    actor: str
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    minutes: float = 0.0


class StepRow(BotTable, table=True):
    __tablename__ = "step"

    run: str = Field(primary_key=True, foreign_key="run.id")
    generation: int = Field(primary_key=True)
    name: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    result: str | None = Field(default=None, sa_type=Text)  # JSON
    intact: bool = True  # False when scrubbing changed the result: it is no longer what the step gave
    started: datetime = Field(sa_type=Moment)
    finished: datetime | None = Field(default=None, sa_type=Moment)


class EventRow(BotTable, table=True):
    __tablename__ = "event"
    __table_args__ = (UniqueConstraint("run", "seq"), Index("event_kind_at", "kind", "at"))

    id: int | None = Field(default=None, primary_key=True)
    run: str = Field(foreign_key="run.id")
    seq: int  # order within the run
    generation: int
    step: str
    attempt: int
    kind: str
    data: str = Field(sa_type=Text)  # JSON
    at: datetime = Field(sa_type=Moment)


class RequeueNoteRow(BotTable, table=True):
    __tablename__ = "requeue_note"
    __table_args__ = (Index("requeue_note_of_ticket", "installation", "repository", "ticket"),)

    id: int | None = Field(default=None, primary_key=True)
    installation: str
    repository: str
    ticket: str
    text: str = Field(sa_type=Text)
    author: str
    at: datetime = Field(sa_type=Moment)
    read_by: str | None = Field(default=None, foreign_key="run.id")
    read_in_attempt: int | None = None
