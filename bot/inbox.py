"""What writes what arrives: many deliveries in one transaction, each answered after it is kept.

It works in the server's own thread. A thread of its own would have to be handed the interpreter at each call of the
database: on a machine that is busy, that takes longer than the writing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final, Self

from sqlalchemy.exc import SQLAlchemyError

from bot.job import Added, Arrival, Decision
from bot.jobs import Jobs
from bot.log import Log
from memory.database import DatabaseFault, DatabaseLocked

GROUP_AT_MOST: Final = 256  # deliveries of one transaction
WAITING_AT_MOST: Final = 2_000  # deliveries that are not written yet; more are sent away
AGAIN_SECONDS: Final = 0.01  # until a database that somebody else writes to is tried again
# What a driver raises for a value that it cannot take.
_UNWRITABLE: Final = (SQLAlchemyError, ArithmeticError, ValueError, TypeError)


class NotKept(Exception):
    """A delivery cannot be written now: more arrives than can be, or the database does not take it."""


@dataclass(frozen=True)
class _Entry:
    arrival: Arrival
    decision: Decision
    kept: asyncio.Future[Added]


class Inbox:
    """Keeps deliveries while it is open, as a context. The database of `jobs` must not wait for a lock itself."""

    def __init__(self, jobs: Jobs, log: Log) -> None:
        self._jobs, self._log = jobs, log
        self._waiting: deque[_Entry] = deque()
        self._some, self._closing = asyncio.Event(), False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what is there, and end."""
        self._closing = True
        self._some.set()
        assert self._task is not None
        await self._task

    @property
    def alive(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def waiting(self) -> int:
        """Deliveries that are not written yet."""
        return len(self._waiting)

    def put(self, arrival: Arrival, decision: Decision) -> asyncio.Future[Added]:
        """What became of it, once it is on the disk; who cancels it first has it not written.

        The future raises NotKept, and so does this where too many wait.
        """
        if self.waiting >= WAITING_AT_MOST:
            raise NotKept
        entry = _Entry(arrival, decision, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        self._some.set()
        return entry.kept

    async def _write(self) -> None:
        while not self._closing or self._waiting:
            await self._some.wait()
            self._some.clear()
            while self._waiting:
                count = min(len(self._waiting), GROUP_AT_MOST)
                await self._keep([self._waiting.popleft() for _ in range(count)])
                await asyncio.sleep(0)  # answers go out, and the next deliveries come in

    async def _keep(self, group: list[_Entry]) -> None:
        """Write them; those whose senders are sent away meanwhile are not."""
        while wanted := [entry for entry in group if not entry.kept.done()]:
            try:
                self._add(wanted)
            except DatabaseLocked:
                await asyncio.sleep(AGAIN_SECONDS)
            except DatabaseFault as fault:
                self._fail(wanted, str(fault))
            except _UNWRITABLE as error:
                if len(wanted) > 1:  # something in one of them cannot be written: the others are
                    for entry in wanted:
                        await self._keep([entry])
                else:
                    self._fail(wanted, type(error).__name__)

    def _add(self, wanted: list[_Entry]) -> None:
        added = self._jobs.add_all([(entry.arrival, entry.decision) for entry in wanted])
        for entry, one in zip(wanted, added, strict=True):
            entry.kept.set_result(one)

    def _fail(self, entries: list[_Entry], why: str) -> None:
        self._log.error("deliveries not kept", count=len(entries), why=why)
        for entry in entries:
            entry.kept.set_exception(NotKept())
