"""When the keys of a repository's lessons were made anew for an algorithm of signatures."""

import sqlalchemy as sa
from alembic import op

revision = "m0003"
down_revision = "m0002"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "signature_pass",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("installation", "repository", "algo")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("version", "lessons", "without")),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("installation", "repository", "algo"),
    )
