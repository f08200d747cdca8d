"""Where everything is written down and read, and the one call of recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.events import EventStore
from bot.requeue import RequeueNotes
from bot.runs import RunStore
from bot.steps import StepStore
from memory.recall import Recall
from memory.store import MemoryStore
from memory.types import MemoryContext, MemoryQuery, MemoryVersion
from memory.upkeep import Upkeep


@dataclass(frozen=True, kw_only=True)
class Stores:
    """The stores of one database; `work` is the folder of clones and locks."""

    runs: RunStore
    steps: StepStore
    events: EventStore
    notes: RequeueNotes
    memory: MemoryStore
    recall: Recall
    upkeep: Upkeep
    work: Path
    now: Callable[[], datetime]

    def context(self, query: MemoryQuery, version: MemoryVersion) -> MemoryContext:
        """What memory has to say for one call of one entry point. Raises IndexUnusable."""
        return self.recall(query, version)
