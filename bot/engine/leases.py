"""Who works: each process says so again and again, and whoever falls silent is taken for dead."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NewType

from sqlmodel import select

from bot.book import Book
from bot.engine.tables import WorkerLeaseRow

WorkerId = NewType("WorkerId", str)

BEAT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 30.0
"""Three beats: one that is late is no death."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process that no other one can be taken for: its machine (with the space of its process ids), id and birth."""

    machine: str
    pid: int
    born: str

    @classmethod
    def this(cls) -> Process:
        return cls(machine=_machine(), pid=os.getpid(), born=_born(os.getpid()))

    def worker(self) -> WorkerId:
        """A new id for it: two workers in one process are two."""
        return WorkerId(f"{self.machine}/{self.pid}/{self.born}/{secrets.token_hex(4)}")


def is_gone(worker: WorkerId) -> bool:
    """True when the worker was a process of this machine that is no more; of another machine nothing is known."""
    machine, pid, born, _ = worker.rsplit("/", 3)
    return machine == _machine() and _born(int(pid)) != born


class Leases:
    """All SQL of leases. What is late is measured by `clock`, which never jumps, and by nobody's calendar."""

    def __init__(
        self, book: Book, *, silent_seconds: float = SILENT_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._book, self._silent, self._clock = book, silent_seconds, clock
        self._seen: dict[WorkerId, tuple[int, float]] = {}

    def beat(self, worker: WorkerId) -> None:
        """Say that the worker lives."""
        with self._book.writing() as session:
            row = session.get(WorkerLeaseRow, worker)
            if row is None:
                session.add(WorkerLeaseRow(id=worker, beat=1))
            else:
                row.beat += 1

    def dead(self) -> tuple[WorkerId, ...]:
        """Those that are gone, and those that were not heard for too long while we listened."""
        with self._book.reading() as session:
            beats = {WorkerId(row.id): row.beat for row in session.exec(select(WorkerLeaseRow)).all()}
        now = self._clock()
        before, self._seen = self._seen, {}
        for worker, beat in beats.items():
            known = before.get(worker)
            self._seen[worker] = known if known and known[0] == beat else (beat, now)
        return tuple(worker for worker, (_, since) in self._seen.items() if is_gone(worker) or self._late(now - since))

    def drop(self, worker: WorkerId) -> None:
        """Forget a worker: it has left, or its work was taken over."""
        with self._book.writing() as session:
            if row := session.get(WorkerLeaseRow, worker):
                session.delete(row)

    def _late(self, seconds: float) -> bool:
        return seconds > self._silent


def _machine() -> str:
    try:
        space = os.readlink("/proc/self/ns/pid")  # containers may share a name, and count their processes alike
    except OSError:
        space = ""
    return f"{socket.gethostname()}:{space.strip('pid:[]')}"


def _born(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty when there is none."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return status.rpartition(")")[2].split()[19]
