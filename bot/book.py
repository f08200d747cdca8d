"""What the stores of runs share: the database, the scrubber, and the clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

from sqlalchemy import Engine
from sqlmodel import Session

from bot.config import Settings
from bot.storable import storable
from memory.database import BUSY_SECONDS, open_database, reading, upgrade, upgrade_memory, writing
from memory.scrub import Scrubber

_SCHEMA: Final = "bot_schema"


def upgrade_runs(engine: Engine) -> None:
    """The tables of runs, up to date. Raises as `memory.database.upgrade`."""
    upgrade(engine, files("bot").joinpath("migrations"), _SCHEMA)


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_book(settings: Settings, *, hidden: Sequence[str] = (), busy_seconds: float = BUSY_SECONDS) -> Book:
    """The database of these settings, with its tables up to date. Raises the errors of `memory.database`.

    `hidden` are secrets beside those of the settings; `busy_seconds` is how long a locked database is waited for.
    """
    engine = open_database(settings.database, busy_seconds=busy_seconds)
    upgrade_memory(engine)
    upgrade_runs(engine)
    return Book(engine, Scrubber((*settings.secrets(), *hidden)))


class Book:
    """Where runs are written down: nothing goes in unscrubbed, and each write is one transaction."""

    def __init__(self, engine: Engine, scrubber: Scrubber, *, now: Callable[[], datetime] = utc_now) -> None:
        self.engine, self._scrubber, self.now = engine, scrubber, now

    def reading(self) -> AbstractContextManager[Session]:
        """A session that sees one state of the tables. Raises the errors of `memory.database`."""
        return reading(self.engine)

    def writing(self) -> AbstractContextManager[Session]:
        """A session in one transaction: all of it is kept, or nothing. Raises the errors of `memory.database`."""
        return writing(self.engine)

    def clean(self, text: str) -> str:
        """The text without secrets, and without what a table cannot hold."""
        return self._scrubber.scrub(storable(text))

    def clean_json(self, value: object, *, at_most: int | None = None) -> tuple[str, bool]:
        """JSON of a value of lists, dicts and plain things, and whether cleaning left it as it was.

        Each text in it is cleaned, then cut to `at_most` characters.
        """
        cleaned = self._clean_value(value, at_most)
        return json.dumps(cleaned, ensure_ascii=False, separators=(",", ":")), cleaned == value

    def _clean_value(self, value: Any, at_most: int | None) -> Any:
        match value:
            case str():
                return cut(self.clean(value), at_most)
            case list():
                return [self._clean_value(item, at_most) for item in value]
            case dict():
                return {self.clean(key): self._clean_value(item, at_most) for key, item in value.items()}
            case _:
                return value


def cut(text: str, at_most: int | None) -> str:
    """Head and tail of a long text, and how much is missing between them."""
    if at_most is None or len(text) <= at_most:
        return text
    half = at_most // 2
    return f"{text[:half]}\n(cut: {len(text) - 2 * half} characters)\n{text[-half:]}"
