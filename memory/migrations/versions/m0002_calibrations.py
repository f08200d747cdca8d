"""Calibrations, and the words that a prompt's notes were searched with."""

import sqlalchemy as sa
from alembic import op

revision = "m0002"
down_revision = "m0001"


def upgrade() -> None:
    """Make the table, and add the column."""
    op.create_table(
        "calibration",
        sa.Column("installation", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("algorithm", sa.String(), nullable=False),
        sa.Column("basis", sa.String(), nullable=False),
        sa.Column("level", sa.Float(), nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("notes", "false_hits", "false_of", "found_hits", "found_of", "right_hits", "right_of")
        ),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("installation", "repository", "version"),
    )
    op.add_column("injection", sa.Column("looked_for", sa.String(), nullable=False, server_default=""))
