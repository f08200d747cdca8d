"""One thread that writes what arrives: many deliveries in one transaction, each answered after it is kept."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Self

from sqlalchemy.exc import SQLAlchemyError

from bot.job import Added, Arrival, Decision
from bot.jobs import Jobs
from bot.log import Log
from memory.database import DatabaseFault

GROUP_AT_MOST: Final = 256  # deliveries of one transaction
WAITING_AT_MOST: Final = 2_000  # deliveries that are not written yet; more are sent away


class InboxFull(Exception):
    """More arrives than can be written."""


@dataclass(frozen=True)
class _Entry:
    arrival: Arrival
    decision: Decision
    kept: Future[Added] = field(default_factory=Future)


class Inbox:
    """Keeps deliveries while it is open, as a context. `woken` is called after each group that holds a new job."""

    def __init__(self, jobs: Jobs, log: Log, *, woken: Callable[[], None] = lambda: None) -> None:
        self._jobs, self._log, self._woken = jobs, log, woken
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="inbox", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is there, and end."""
        self._queue.put(None)
        self._thread.join()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def waiting(self) -> int:
        """Deliveries that are not written yet."""
        return self._queue.qsize()

    def put(self, arrival: Arrival, decision: Decision) -> Future[Added]:
        """What became of it, once it is on the disk. The future raises DatabaseFault; one that was cancelled is not
        written. Raises InboxFull.
        """
        if self.waiting >= WAITING_AT_MOST:
            raise InboxFull
        entry = _Entry(arrival, decision)
        self._queue.put(entry)
        return entry.kept

    def _write(self) -> None:
        going = True
        while going:
            group, going = self._group()
            self._keep([entry for entry in group if entry.kept.set_running_or_notify_cancel()])

    def _group(self) -> tuple[list[_Entry], bool]:
        """What is there, once something is; False with it when it is time to end."""
        group: list[_Entry] = []
        entry = self._queue.get()
        while entry is not None:
            group.append(entry)
            if len(group) == GROUP_AT_MOST:
                return group, True
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _keep(self, group: list[_Entry]) -> None:
        if not group:
            return
        try:
            added = self._jobs.add_all([(entry.arrival, entry.decision) for entry in group])
        except DatabaseFault as fault:
            self._log.error("deliveries not kept", count=len(group), why=str(fault))
            for entry in group:
                entry.kept.set_exception(fault)
        except SQLAlchemyError as error:
            self._one_by_one(group, error)
        else:
            for entry, one in zip(group, added, strict=True):
                entry.kept.set_result(one)
            if any(one is Added.STORED and entry.decision.job for entry, one in zip(group, added, strict=True)):
                self._woken()

    def _one_by_one(self, group: list[_Entry], error: SQLAlchemyError) -> None:
        """Something in one of them cannot be written: the others are."""
        if len(group) > 1:
            for entry in group:
                self._keep([entry])
            return
        self._log.error("delivery not kept", id=group[0].arrival.id, why=type(error).__name__)
        group[0].kept.set_exception(error)
