"""What was sent to GitHub: written down before it is tried, and again when it was read back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0005"
down_revision = "m0004"


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("installation", sa.BigInteger(), nullable=False),
        sa.Column("repository", sa.BigInteger(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("artefact", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("intended", sa.DateTime(), nullable=False),
        sa.Column("done", sa.DateTime()),
    )
    op.create_index("outbox_of_run", "outbox", ["run"])
