"""Runs of GitHub issues: when a parked one is woken, who may write for it, and what each job has done."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0002"
down_revision = "m0001"


def upgrade() -> None:
    op.add_column("run", sa.Column("wake", sa.DateTime()))
    op.add_column("run", sa.Column("epoch", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("run", sa.Column("stop_cause", sa.String(), nullable=False, server_default=""))
    op.create_table(
        "worker_lease",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("beat", sa.Integer(), nullable=False),
    )
    _taken_job()
    _course()


def _taken_job() -> None:
    op.create_table(
        "taken_job",
        sa.Column("job", sa.Integer(), primary_key=True),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("takes", sa.Integer(), nullable=False),
        sa.Column("progress", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime()),
        sa.Column("wake", sa.DateTime()),
    )
    op.create_table(
        "chore",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("done", sa.DateTime(), nullable=False),
    )
    op.create_table(
        "course_step",
        sa.Column("job", sa.Integer(), primary_key=True),
        sa.Column("step", sa.String(), primary_key=True),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=False),
    )


def _course() -> None:
    op.create_table(
        "course",
        sa.Column("run", sa.String(), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("installation", sa.BigInteger(), nullable=False),
        sa.Column("repository", sa.BigInteger(), nullable=False),
        sa.Column("full_name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("actor_id", sa.BigInteger(), nullable=False),
        sa.Column("actor_login", sa.String(), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("commanded", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("base", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("pushed", sa.String()),
        sa.Column("pull", sa.Integer()),
        sa.Column("pull_state", sa.String(), nullable=False),
        sa.Column("hands_off", sa.Boolean(), nullable=False),
        sa.Column("ci_rounds", sa.Integer(), nullable=False),
        sa.Column("ci_head", sa.String()),
        sa.Column("merged", sa.String()),
        sa.Column("merged_at", sa.DateTime()),
    )
    op.create_index("course_of_issue", "course", ["repository", "number"])
    op.create_index("course_of_pull", "course", ["repository", "pull"])
