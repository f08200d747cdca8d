"""What keeps the tickets of a repository back, and pull requests that nothing checks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0007"
down_revision = "m0006"


def upgrade() -> None:
    op.add_column("course", sa.Column("unchecked", sa.String()))
    op.create_table(
        "breaker",
        sa.Column("installation", sa.BigInteger(), primary_key=True),
        sa.Column("repository", sa.BigInteger(), primary_key=True),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("tickets", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime()),
        sa.Column("until", sa.DateTime()),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=False),
        sa.Column("probe", sa.Integer()),
        sa.Column("told", sa.Boolean(), nullable=False),
    )
