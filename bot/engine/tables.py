"""The table of workers that are alive."""

from __future__ import annotations

from sqlmodel import Field

from bot.tables import BotTable


class WorkerLeaseRow(BotTable, table=True):
    """A process that works, and when it last said so, in seconds of the database's clock."""

    __tablename__ = "worker_lease"

    id: str = Field(primary_key=True)
    beat: float
