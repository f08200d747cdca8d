"""What is spent on a day is summed over all installations."""

from __future__ import annotations

from alembic import op

revision = "m0006"
down_revision = "m0005"


def upgrade() -> None:
    op.drop_index("spending_of_day", "spending")
    op.create_index("spending_of_day", "spending", ["day"])
