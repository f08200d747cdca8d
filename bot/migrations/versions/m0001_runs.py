"""The tables of runs: runs, their steps, what happened in them, and requeue notes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0001"
down_revision = None


def upgrade() -> None:
    _run()
    _step()
    _event()
    _requeue_note()


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("installation", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("ticket", sa.String(), nullable=False),
        sa.Column("ticket_json", sa.Text(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("park_cause", sa.String()),
        sa.Column("park_reason", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("memory_version", sa.Integer()),
        sa.Column("base", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=False),
        sa.Column("attempts_at_most", sa.Integer(), nullable=True),
        sa.Column("sandbox", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("commit", sa.String()),
        sa.Column("patch", sa.Text(), nullable=False),
        sa.Column("patch_intact", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("stop_requested", sa.Boolean(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("money", sa.Float(), nullable=False),
        sa.Column("minutes", sa.Float(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("updated", sa.DateTime(), nullable=False),
    )
    op.create_index("ix_run_state", "run", ["state"])
    still_open = sa.text("state <> 'ended'")
    op.create_index(
        "open_run_of_ticket",
        "run",
        ["installation", "repository", "ticket"],
        unique=True,
        sqlite_where=still_open,
        postgresql_where=still_open,
    )


def _step() -> None:
    op.create_table(
        "step",
        sa.Column("run", sa.String(), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("generation", sa.Integer(), primary_key=True),
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("attempt", sa.Integer(), primary_key=True),
        sa.Column("result", sa.Text()),
        sa.Column("intact", sa.Boolean(), nullable=False),
        sa.Column("started", sa.DateTime(), nullable=False),
        sa.Column("finished", sa.DateTime()),
    )


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("run", sa.String(), sa.ForeignKey("run.id"), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("step", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.UniqueConstraint("run", "seq"),
    )
    op.create_index("event_kind_at", "event", ["kind", "at"])


def _requeue_note() -> None:
    op.create_table(
        "requeue_note",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("installation", sa.String(), nullable=False),
        sa.Column("repository", sa.String(), nullable=False),
        sa.Column("ticket", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("read_by", sa.String(), sa.ForeignKey("run.id")),
        sa.Column("read_in_attempt", sa.Integer()),
    )
    op.create_index("requeue_note_of_ticket", "requeue_note", ["installation", "repository", "ticket"])
