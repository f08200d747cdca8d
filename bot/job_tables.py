"""The tables of deliveries and jobs. Rows stay behind the store."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field

from bot.tables import BotTable
from memory.tables import Moment


class DeliveryRow(BotTable, table=True):
    """What arrived, for as long as it may be sent again; its content is not kept."""

    __tablename__ = "delivery"

    id: str = Field(primary_key=True)
    event: str
    action: str
    installation: int | None = Field(sa_type=BigInteger)
    repository: int | None = Field(sa_type=BigInteger)
    sender: int | None = Field(sa_type=BigInteger)
    digest: str
    reason: str
    received: datetime = Field(sa_type=Moment, index=True)


class JobRow(BotTable, table=True):
    __tablename__ = "job"
    __table_args__ = (
        Index("job_of_issue", "repository", "number"),
        Index("job_waiting", "state", "id"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    installation: int = Field(sa_type=BigInteger)
    repository: int = Field(sa_type=BigInteger)  # GitHub's number
    full_name: str
    number: int
    subject: str = Field(unique=True)
    delivery: str  # without a foreign key: deliveries are forgotten earlier
    actor_id: int | None = Field(sa_type=BigInteger)
    actor_login: str
    actor_kind: str
    at: datetime = Field(sa_type=Moment)
    data: str = Field(sa_type=Text)  # JSON
    state: str
    outcome: str
    changed: datetime = Field(sa_type=Moment)


class GithubRepositoryRow(BotTable, table=True):
    """GitHub's number of a repository → whose memory it has (first seen: it stays after renames), and its name now."""

    __tablename__ = "github_repository"

    installation: int = Field(primary_key=True, sa_type=BigInteger)
    id: int = Field(primary_key=True, sa_type=BigInteger)
    repository: str
    full_name: str
