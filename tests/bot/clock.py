"""A clock that tests move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class Clock:
    """The time of the program. Sleeping moves it, and is remembered."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.ahead += timedelta(seconds=seconds)
