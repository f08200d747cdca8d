"""The tables of the engine: workers that are alive, how often a job was taken, and what is done now and then."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field

from bot.tables import BotTable
from memory.tables import Moment


class WorkerLeaseRow(BotTable, table=True):
    """A process that works; `beat` rises as long as it lives."""

    __tablename__ = "worker_lease"

    id: str = Field(primary_key=True)
    beat: int


class TakenJobRow(BotTable, table=True):
    """How often a job was taken, and when it is taken again."""

    __tablename__ = "taken_job"

    job: int = Field(primary_key=True)
    round: int = 0  # times that it was put into the queue
    takes: int = 0  # since it last came further
    progress: int = 0  # steps that were finished when it was last taken
    since: datetime | None = Field(default=None, sa_type=Moment)  # the first of these takes
    wake: datetime | None = Field(default=None, sa_type=Moment)


class ChoreRow(BotTable, table=True):
    """Something that one worker does now and then for all."""

    __tablename__ = "chore"

    name: str = Field(primary_key=True)
    done: datetime = Field(sa_type=Moment)
