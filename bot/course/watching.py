"""Progress of a run, shown in its status comment."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Final

from bot.progress import Progress
from bot.terminal import Terminal

SHOWN_EVERY_SECONDS: Final = 60.0
"""A stage is shown when the one before was shown so long ago: a run has a budget of requests."""


class Watching(Progress):
    """Tells `show` of each stage, not too often. It is not told of the very first one: that was announced."""

    def __init__(
        self,
        show: Callable[[str, int], None],
        *,
        every_seconds: float = SHOWN_EVERY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(Terminal(io.StringIO()))
        self._show, self._every, self._now = show, every_seconds, clock
        self._shown = clock()

    def stage(self, name: str) -> None:
        super().stage(name)
        if (now := self._now()) - self._shown >= self._every:
            self._shown = now
            self._show(name, self._attempt)
