"""The one lane in which everything goes out: writes to an installation are spaced, and never too many."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.forge.errors import RateLimited

# GitHub's documentation of secondary limits: a second between writes, 80 a minute and 500 an hour that make content.
APART: Final = timedelta(seconds=1)
A_MINUTE_AT_MOST: Final = 80
AN_HOUR_AT_MOST: Final = 500


@dataclass
class _Track:
    lock: threading.Lock = field(default_factory=threading.Lock)
    sent: deque[datetime] = field(default_factory=deque)  # of the last hour


class Lane:
    """For one process; installations do not wait for each other."""

    def __init__(self, clock: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._clock, self._sleep = clock, sleep
        self._tracks: dict[int, _Track] = {}
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return self._clock()

    def rest(self, seconds: float) -> None:
        """Give GitHub time to show what it has taken."""
        self._sleep(seconds)

    @contextmanager
    def turn(self, installation: int) -> Iterator[None]:
        """Wait for a turn to send one thing; nobody else sends to the installation meanwhile.

        Raises RateLimited where the wait is longer than a minute: then a run waits, and not a worker.
        """
        with self._lock:
            track = self._tracks.setdefault(installation, _Track())
        with track.lock:
            now = self._clock()
            while track.sent and not now - timedelta(hours=1) < track.sent[0] <= now:
                track.sent.popleft()  # over an hour ago, or from before the clock was set back
            if len(track.sent) >= AN_HOUR_AT_MOST:
                raise RateLimited(until=track.sent[0] + timedelta(hours=1), said="we wrote enough for an hour")
            if (wait := _wait(track.sent, now)) > timedelta():
                self._sleep(wait.total_seconds())
            try:
                yield
            finally:
                track.sent.append(self._clock())


def _wait(sent: deque[datetime], now: datetime) -> timedelta:
    if not sent:
        return timedelta()
    wait = min(sent[-1] + APART - now, APART)
    if len(sent) >= A_MINUTE_AT_MOST:
        wait = max(wait, sent[-A_MINUTE_AT_MOST] + timedelta(minutes=1) - now)
    return wait
