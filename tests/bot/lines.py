"""The command line in this process: what a person types, and what comes back."""

from __future__ import annotations

import json
import shlex
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner, Result

from bot.cli import ticketsmith
from tests.bot.kit import Bed, bed

AGENT: Final = """\
prompt=$(cat)
at() { case "$prompt" in *"
# $1: "*) return 0;; esac; return 1; }
title=$(printf '%s\\n' "$prompt" | sed -n '/^Ticket:$/{n;s/^| //p;q}')
at Triage && echo '{"ownership": "ours", "reason": "price.txt"}'
at Diagnose && printf '{"quote": "%s", "cause": "Wrong.", "files": ["price.txt"], "reproduction": "price"}' "$title"
at Develop && echo 3 > price.txt && echo '{"summary": "Three."}'
at Refix && printf '3\\n\\n' > price.txt && echo '{"summary": "Three, and a line break."}'
at Review && echo '{"findings": []}'
at Verify && echo '{"check": "price"}'
at Summarise && echo '{"text": "It is 3 now."}'
exit 0
"""
"""A program that answers as the scripted model does."""
NOTE: Final = {".github/ticketsmith/notes/price.md": "# Price\n\nThe price of mugs is wrong until spring.\n"}


@dataclass
class Line:
    """A repository, a ticket file, and the environment of the person who types."""

    ground: Bed
    environment: dict[str, str | None] = field(default_factory=dict)

    @property
    def ticket(self) -> Path:
        return self.ground.folder / "price.md"

    @property
    def database(self) -> Path:
        return self.ground.home / "ticketsmith.sqlite"

    def type(self, *arguments: str | Path, **environment: str) -> Result:
        env = {**self.environment, **environment}
        return CliRunner().invoke(ticketsmith, [str(one) for one in arguments], env=env, prog_name="ticketsmith")

    def fix(self, *more: str | Path, script: str = AGENT) -> Result:
        """`fix` of the usual ticket, answered by a program, in plain processes."""
        return self.type("fix", self.ticket, *self.at, *self.by(script), *more)

    @property
    def at(self) -> tuple[str, ...]:
        return ("--repo", str(self.ground.repository.folder))

    @staticmethod
    def by(script: str = AGENT) -> tuple[str, ...]:
        return ("--agent", shlex.join(["sh", "-c", script]), "--sandbox", "plain")

    def json(self, *arguments: str | Path) -> Any:
        done = self.type(*arguments, "--json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.json("runs", "list")
        return found


def line(folder: Path, files: Mapping[str, str] | None = None) -> Line:
    folder.chmod(0o755)
    typed = Line(bed(folder, files))
    typed.ticket.write_text("---\nauthor: mira\n---\n# The price is wrong\n\nprice.txt says 1, we agreed on 3.\n")
    typed.environment = {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": None,
        "XDG_STATE_HOME": None,
        "OPENAI_API_KEY": None,
        "TICKETSMITH_HOME": str(typed.ground.home),
        "TICKETSMITH_MODEL": None,
        "TICKETSMITH_AGENT": None,
        "TICKETSMITH_CONFIG": None,
    }
    return typed


def complaint(done: Result) -> str:
    """The one sentence of a program that cannot go on. Fails on a traceback and on more than one error line."""
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    lines = [text for text in done.stderr.splitlines() if text.startswith("Error: ")]
    assert len(lines) == 1, done.output
    assert "Traceback" not in done.output
    return lines[0].removeprefix("Error: ")


def count(database: Path, table: str) -> int:
    """Rows of a table, seen from a connection of its own; 0 where there is no database."""
    if not database.exists():
        return 0
    with sqlite3.connect(database) as connection:
        known = connection.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone()
        found: tuple[int] = connection.execute(f'select count(*) from "{table}"').fetchone() if known else (0,)
    return found[0]
