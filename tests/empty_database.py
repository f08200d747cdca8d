"""Databases with their tables and nothing in them, made once: to make one takes longer than most of what tests do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from sqlalchemy import Engine

from memory.database import open_database

Upgrade: TypeAlias = Callable[[Engine], None]


def lay_empty(path: Path, *upgrades: Upgrade) -> Path:
    """Put one with the tables of these upgrades where none is yet; gives `path`."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_empty(upgrades))
    return path


@cache
def _empty(upgrades: tuple[Upgrade, ...]) -> bytes:
    with TemporaryDirectory() as folder:
        made = Path(folder) / "t.sqlite"
        engine = open_database(made)
        for upgrade in upgrades:
            upgrade(engine)
        engine.dispose()
        return made.read_bytes()
