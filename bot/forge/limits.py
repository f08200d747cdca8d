"""Until when GitHub wants no requests, for each installation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.forge.errors import RateLimited

# GitHub's documentation asks for a minute at least where it names no time; blocks of 72 s were seen.
WITHOUT_A_TIME: Final = timedelta(seconds=90)
AT_MOST: Final = timedelta(hours=2)
FORGOTTEN_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Quota:
    """How many requests an installation has left of how many an hour, and when the next hour begins."""

    left: int
    of: int
    until: datetime

    @property
    def scarce(self) -> bool:
        """True when less than a fifth is left: then work that can wait shall wait."""
        return self.left * 5 < self.of


class Limits:
    """What was learnt from answers. Installations do not share their limits; 0 stands for the App itself."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._until: dict[int, RateLimited] = {}
        self._in_a_row: dict[int, int] = {}
        self._quotas: dict[int, Quota] = {}
        self._lock = threading.Lock()

    def check(self, installation: int) -> None:
        """Raises RateLimited while no request may be sent."""
        with self._lock:
            limited = self._until.get(installation)
        if limited and self._clock() < limited.until:
            raise RateLimited(until=limited.until, said=limited.said)

    def primary(self, installation: int, wait: timedelta, said: str) -> RateLimited:
        """The hour's requests are used up; `wait` is how long it lasts."""
        return self._keep(installation, wait + timedelta(seconds=1), said)

    def secondary(self, installation: int, wait: timedelta | None, said: str) -> RateLimited:
        """Too much at once; without a time to wait, longer each time in a row."""
        with self._lock:
            before = self._until.get(installation)
            if before is None or self._clock() - before.until > FORGOTTEN_AFTER:
                self._in_a_row.pop(installation, None)
            row = self._in_a_row[installation] = self._in_a_row.get(installation, 0) + 1
        return self._keep(installation, WITHOUT_A_TIME * 2 ** min(row - 1, 10) if wait is None else wait, said)

    def went_well(self, installation: int, quota: Quota | None, *, wrote: bool) -> None:
        """A request was answered. Only one that wrote ends a row: it is writes that are too many at once."""
        with self._lock:
            if wrote:
                self._in_a_row.pop(installation, None)
            if quota:
                self._quotas[installation] = quota

    def quota(self, installation: int) -> Quota | None:
        """What the newest answer said; None before the first one."""
        with self._lock:
            return self._quotas.get(installation)

    def _keep(self, installation: int, wait: timedelta, said: str) -> RateLimited:
        limited = RateLimited(until=self._clock() + min(max(wait, timedelta(seconds=1)), AT_MOST), said=said)
        with self._lock:
            self._until[installation] = limited
        return limited
