"""The table of what was sent. Rows stay behind the ledger; what it gives out are frozen values."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from bot.tables import BotTable
from memory.tables import Moment


class OutboxRow(BotTable, table=True):
    """One effect on GitHub: written down before it is tried, and again when it was read back."""

    __tablename__ = "outbox"
    __table_args__ = (Index("outbox_of_run", "run"),)

    key: str = Field(primary_key=True)
    run: str  # or `job-N`, for an answer that belongs to no run
    step: str
    kind: str
    installation: int = Field(sa_type=BigInteger)
    repository: int = Field(sa_type=BigInteger)  # GitHub's number
    subject: str  # what it is about: the number of an issue, a branch, a commit
    state: str
    artefact: str = ""  # GitHub's number of it, or a commit
    digest: str = ""  # of the text that it has
    intended: datetime = Field(sa_type=Moment)
    done: datetime | None = Field(default=None, sa_type=Moment)  # when it was read back last
