"""The journal of one run: what its agent tells it and what the runner records, on the way to the tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from bot.book import utc_now
from bot.events import EventStore
from bot.facts import Fact
from bot.witness import asked
from memory.types import RunId
from stages.journal import Event
from stages.prompt import Prompt

WAIT_AT_MOST: Final = timedelta(seconds=1)  # before a tool call is written down; one commit each would cost more

_HELD_AT_MOST = 64  # events


class RunJournal:
    """A `stages.journal.Journal`. `watcher` is told of each fact at once, for a display of progress.

    Prompts and what code records are written before this returns; tool calls and a model's words at most a second
    later, or with the next prompt, fact or step.
    """

    def __init__(
        self,
        store: EventStore,
        run: RunId,
        *,
        now: Callable[[], datetime] = utc_now,
        watcher: Callable[[Fact], None] = lambda _: None,
    ) -> None:
        self._store, self._run, self._now, self._watcher = store, run, now, watcher
        self._step, self._attempt = "", 1
        self._held: list[tuple[datetime, Fact]] = []

    def at(self, step: str, *, attempt: int = 1) -> None:
        """What happens from now on belongs to this step."""
        self.flush()
        self._step, self._attempt = step, attempt

    def record(self, *facts: Fact) -> None:
        """Write down what code saw or decided."""
        for fact in facts:
            self._hold(fact)
        self.flush()

    def asked(self, prompt: Prompt) -> None:
        self.record(asked(prompt))

    def happened(self, event: Event) -> None:
        self._hold(event)
        waited = self._now() - self._held[0][0]
        if waited >= WAIT_AT_MOST or len(self._held) >= _HELD_AT_MOST:
            self.flush()

    def flush(self) -> None:
        """Write down what is still held."""
        if self._held:
            self._store.add(self._run, self._step, self._attempt, self._held)
            self._held = []

    def _hold(self, fact: Fact) -> None:
        self._held.append((self._now(), fact))
        self._watcher(fact)
