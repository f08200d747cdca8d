"""The tables of courses. Rows stay behind their stores; what they give out are frozen values."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field

from bot.tables import BotTable
from memory.tables import Moment


class CourseRow(BotTable, table=True):
    """What GitHub knows of one run."""

    __tablename__ = "course"
    __table_args__ = (
        Index("course_of_issue", "repository", "number"),
        Index("course_of_pull", "repository", "pull"),
    )

    run: str = Field(primary_key=True, foreign_key="run.id")
    installation: int = Field(sa_type=BigInteger)
    repository: int = Field(sa_type=BigInteger)  # GitHub's number
    full_name: str  # as it was last
    number: int  # of the issue
    actor_id: int = Field(sa_type=BigInteger)
    actor_login: str
    actor_kind: str
    commanded: bool = False  # by a comment: then no label has to stay
    private: bool = True
    base: str = ""  # the branch that the pull request is for
    branch: str = ""
    pushed: str | None = None  # the commit that we pushed last
    pull: int | None = None
    pull_state: str = ""
    hands_off: bool = False  # a person took the branch over
    ci_rounds: int = 0
    ci_head: str | None = None  # the last commit whose red checks were answered
    unchecked: str | None = None  # the commit of which the pull request says that nothing checks it
    merged: str | None = None  # the merge commit
    merged_at: datetime | None = Field(default=None, sa_type=Moment)


class BreakerRow(BotTable, table=True):
    """Of a repository: what its tickets failed of in a row, and whether its work is paused."""

    __tablename__ = "breaker"

    installation: int = Field(primary_key=True, sa_type=BigInteger)
    repository: int = Field(primary_key=True, sa_type=BigInteger)
    cause: str = ""
    tickets: str = Field(default="[]", sa_type=Text)  # JSON: their numbers
    since: datetime | None = Field(default=None, sa_type=Moment)  # paused
    until: datetime | None = Field(default=None, sa_type=Moment)
    tries: int = 0
    by: int = 0  # the ticket whose failure began the pause
    probe: int | None = None  # the job that tries
    told: bool = False


class CourseStepRow(BotTable, table=True):
    """What a step of a job gave."""

    __tablename__ = "course_step"

    job: int = Field(primary_key=True)
    step: str = Field(primary_key=True)
    result: str = Field(sa_type=Text)  # JSON
    finished: datetime = Field(sa_type=Moment)
