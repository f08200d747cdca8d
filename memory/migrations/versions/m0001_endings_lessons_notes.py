"""Endings, lessons, notes, tuning and the injection audit."""

import sqlalchemy as sa
from alembic import op

revision = "m0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    _versions()
    _endings()
    _lessons()
    _notes()
    _injections()


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=null)


def _moment(name: str, *, null: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(), nullable=null)


def _scope() -> tuple[sa.Column[str], sa.Column[str]]:
    return _text("installation"), _text("repository")


def _versions() -> None:
    op.create_table(
        "memory_version",
        *_scope(),
        _number("number"),
        _text("digest"),
        _text("source_commit", null=True),
        _moment("published_at"),
        sa.PrimaryKeyConstraint("installation", "repository", "number"),
    )


def _endings() -> None:
    op.create_table(
        "ending",
        _number("number"),
        _text("id"),
        *_scope(),
        *(_text(name) for name in ("run", "ticket", "author", "kind", "slot")),
        sa.Column("final", sa.Boolean(), nullable=False),
        _text("body"),
        _text("commit_id"),
        _moment("at"),
        *(_text(name) for name in ("evidence", "environment", "signatures", "paths")),
        _text("refers_to", null=True),
        _text("lesson", null=True),
        _number("version"),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("id"),
        sa.ForeignKeyConstraint(["refers_to"], ["ending.id"]),
        sqlite_autoincrement=True,
    )
    op.create_index("ending_once", "ending", ["installation", "repository", "run", "slot", "kind"], unique=True)
    final = sa.text("final")
    op.create_index(
        "ending_final_once",
        "ending",
        ["installation", "repository", "run"],
        unique=True,
        sqlite_where=final,
        postgresql_where=final,
    )
    op.create_index("ending_of_run", "ending", ["run", "repository"])


def _lessons() -> None:
    op.create_table(
        "lesson",
        _number("id"),
        *_scope(),
        *(_text(name) for name in ("lesson", "kind", "body", "status", "run", "ticket", "commit_id")),
        *(_text(name) for name in ("signatures", "environment", "paths", "maintainer")),
        _text("supersedes", null=True),
        _number("count"),
        _moment("first_seen"),
        _moment("last_seen"),
        _moment("expires", null=True),
        _number("live_from"),
        _number("live_until", null=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    live = sa.text("live_until IS NULL")
    op.create_index(
        "lesson_live_once",
        "lesson",
        ["installation", "repository", "lesson"],
        unique=True,
        sqlite_where=live,
        postgresql_where=live,
    )
    # The most telling column stands first: without statistics the planner takes any index on the scope for a good one.
    op.create_index("lesson_history", "lesson", ["lesson", "repository", "live_from"])
    op.create_index("lesson_supersedes", "lesson", ["supersedes", "repository", "live_from"])
    op.create_index("lesson_of_scope", "lesson", ["repository", "live_from"])
    _what_lessons_rest_on()


def _what_lessons_rest_on() -> None:
    op.create_table(
        "lesson_key",
        *_scope(),
        *(_text(name) for name in ("lesson", "algo", "level", "key")),
        _number("live_from"),
        sa.PrimaryKeyConstraint("key", "lesson", "repository", "installation", "algo", "level"),
        sa.CheckConstraint("level IN ('x', 'f', 'c', 't')"),
    )
    op.create_index("lesson_key_lesson", "lesson_key", ["lesson", "repository"])
    op.create_table(
        "lesson_evidence",
        _text("ending"),
        *_scope(),
        *(_text(name) for name in ("lesson", "run", "ticket", "author", "evidence")),
        _moment("at"),
        _number("live_from"),
        sa.PrimaryKeyConstraint("ending"),
        sa.ForeignKeyConstraint(["ending"], ["ending.id"]),
    )
    for column in ("lesson", "ticket", "run"):
        op.create_index(f"lesson_evidence_{column}", "lesson_evidence", [column, "repository"])


def _notes() -> None:
    op.create_table(
        "note",
        _number("id"),
        *_scope(),
        _text("path"),
        sa.Column("shared", sa.Boolean(), nullable=False),
        *(_text(name) for name in ("changed", "source", "digest", "text")),
        _number("live_from"),
        _number("live_until", null=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("note_live", "note", ["installation", "repository", "live_until"])
    op.create_table(
        "note_chunk",
        _number("note"),
        _number("ordinal"),
        *(_text(name) for name in ("name", "anchor", "heading", "text", "changed", "scope")),
        sa.PrimaryKeyConstraint("note", "ordinal"),
        sa.ForeignKeyConstraint(["note"], ["note.id"]),
    )
    op.create_table(
        "tuning",
        _number("id"),
        *_scope(),
        _text("text"),
        _number("live_from"),
        _number("live_until", null=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("tuning_live", "tuning", ["installation", "repository", "live_from"])


def _injections() -> None:
    op.create_table(
        "injection",
        _number("id"),
        *_scope(),
        *(_text(name) for name in ("run", "entry_point", "prompt_hash")),
        _number("version"),
        _text("rule"),
        _moment("at"),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("injection_of_run", "injection", ["run", "repository"])
    op.create_table(
        "injected",
        _number("injection"),
        _number("position"),
        _text("record"),
        sa.Column("shown", sa.Boolean(), nullable=False),
        _text("why"),
        sa.Column("score", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("injection", "position"),
        sa.ForeignKeyConstraint(["injection"], ["injection.id"]),
    )
    op.create_index("injected_record", "injected", ["record"])
