"""Who triggered a run, and what was spent on which day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0004"
down_revision = "m0003"


def upgrade() -> None:
    op.add_column("run", sa.Column("actor", sa.String(), nullable=False, server_default=""))
    op.create_table(
        "spending",
        sa.Column("run", sa.String(), primary_key=True),
        sa.Column("day", sa.String(), primary_key=True),
        sa.Column("installation", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("money", sa.Float(), nullable=False),
        sa.Column("minutes", sa.Float(), nullable=False),
    )
    op.create_index("spending_of_day", "spending", ["installation", "day"])
