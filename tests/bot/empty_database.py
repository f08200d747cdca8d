"""A database with its tables and nothing in them, made once: to make one takes longer than most of what tests do."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.app import App
from bot.config import Settings


def lay_empty_database(path: Path) -> Path:
    """Put one where none is yet; gives `path`."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_empty())
    return path


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "t.sqlite"
        app = App(Settings(home=made.parent, database=made))
        app.book.engine.dispose()
        return made.read_bytes()
