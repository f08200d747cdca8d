"""What GitHub asked for: deliveries, the jobs that came of them, and the names of its repositories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0003"
down_revision = "m0002"


def upgrade() -> None:
    _delivery()
    _job()
    op.create_table(
        "github_repository",
        sa.Column("installation", sa.BigInteger(), primary_key=True),
        sa.Column("id", sa.BigInteger(), primary_key=True),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("full_name", sa.String(), nullable=False),
    )


def _delivery() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("installation", sa.BigInteger()),
        sa.Column("repository", sa.BigInteger()),
        sa.Column("sender", sa.BigInteger()),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("received", sa.DateTime(), nullable=False),
    )
    op.create_index("ix_delivery_received", "delivery", ["received"])


def _job() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("installation", sa.BigInteger(), nullable=False),
        sa.Column("repository", sa.BigInteger(), nullable=False),
        sa.Column("full_name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False, unique=True),
        sa.Column("delivery", sa.String(), nullable=False),
        sa.Column("actor_id", sa.BigInteger()),
        sa.Column("actor_login", sa.String(), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("changed", sa.DateTime(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("job_of_issue", "job", ["repository", "number"])
    op.create_index("job_waiting", "job", ["state", "id"])
