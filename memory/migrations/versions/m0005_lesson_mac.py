"""Who wrote a lesson: the code that only the holder of the key can make; empty in lessons from before."""

import sqlalchemy as sa
from alembic import op

revision = "m0005"
down_revision = "m0004"


def upgrade() -> None:
    """Add the column."""
    op.add_column("lesson", sa.Column("mac", sa.String(), nullable=False, server_default=""))
