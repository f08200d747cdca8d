"""Who may write for a run: the process that took it last, until the program is told to leave."""

from __future__ import annotations

import threading

from bot.errors import Fenced, Interrupted
from bot.run import Run
from bot.runs import RunStore
from memory.types import RunId


class Fence:
    """One process's right to write for the runs that it took."""

    def __init__(self, runs: RunStore, leaving: threading.Event) -> None:
        self._runs, self._leaving = runs, leaving
        self._epochs: dict[RunId, int] = {}

    def take(self, run: RunId) -> Run:
        """Begin an epoch: what earlier holders of the run still want to write is refused. Raises RunIsOver."""
        taken = self._runs.take(run)
        self._epochs[run] = taken.epoch
        return taken

    def check(self, run: RunId) -> None:
        """Raises Fenced when another process took the run since, and Interrupted when this one is to leave."""
        if self._leaving.is_set():
            raise Interrupted(run=run)
        if run in self._epochs and self._runs.epoch(run) != self._epochs[run]:
            raise Fenced(run=run)
