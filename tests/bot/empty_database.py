"""The database of the program, with its tables and nothing in them."""

from __future__ import annotations

from pathlib import Path

from bot.book import upgrade_runs
from memory.database import upgrade_memory
from tests.empty_database import lay_empty


def lay_empty_database(path: Path) -> Path:
    """Put one where none is yet; gives `path`."""
    return lay_empty(path, upgrade_memory, upgrade_runs)
