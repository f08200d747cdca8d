"""What the notes and rules of a repository were read from last: the same again means that nothing changed."""

import sqlalchemy as sa
from alembic import op

revision = "m0004"
down_revision = "m0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "source_state",
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("installation", "repository", "state", "notes", "tuning")
        ),
        sa.PrimaryKeyConstraint("installation", "repository"),
    )
