"""Follows a started command to its end, and ends it when time, disk, memory or a person says so."""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from enum import StrEnum
from typing import ClassVar, Final, Protocol

from stages.sandbox.faults import Undying
from stages.sandbox.growth import Growth
from stages.sandbox.memory import Memory
from stages.sandbox.orphans import end_orphans
from stages.sandbox.wires import Wires

_LOOK_EVERY_SECONDS: Final = 0.1
_ASK_EVERY_SECONDS: Final = 0.5  # a person's stop is a row in a table
_DIES_WITHIN_SECONDS: Final = 10.0
_READ_ON_SECONDS: Final = 5.0


class Killed(StrEnum):
    """Why the sandbox ended a command."""

    TIME = "time"
    DISK = "disk"
    MEMORY = "memory"
    STOP = "stop"


class Followed(Protocol):
    """What is followed to its end: a started command. `pid` is a process of ours that all of it is below."""

    @property
    def pid(self) -> int: ...

    def look(self) -> bool:
        """True once it has ended."""

    def finish(self) -> None:
        """Leave nothing of it behind, whatever happened."""


class Job(ABC):
    """A started command, by the process that we are the parent of."""

    _at_work: ClassVar[set[int]] = set()

    def __init__(self, pid: int, wires: Wires) -> None:
        self.pid, self._wires = pid, wires
        self._descriptor = os.pidfd_open(pid)
        self.ended, self._failed = False, False
        self._at_work.add(pid)
        wires.pump.wake_for(self._descriptor)

    @abstractmethod
    def kill(self) -> None:
        """Kill every process of the command; ours then ends by itself."""

    def look(self) -> bool:
        """True once our process has ended; it is no zombie then."""
        if not self.ended and (end := os.waitid(os.P_PIDFD, self._descriptor, os.WEXITED | os.WNOHANG)) is not None:
            self.ended, self._failed = True, end.si_status != 0
            self._at_work.discard(self.pid)
            self._wires.pump.forget(self._descriptor)
            os.close(self._descriptor)
        return self.ended

    def finish(self) -> None:
        """Leave nothing behind, whatever happened.

        Raises Undying when that cannot be done.
        """
        if not self.look():
            self._end()
        if self._failed:  # one that ended well has left nothing itself
            end_orphans(self._at_work)
            self._failed = False

    def _end(self) -> None:
        self.kill()
        if not self._gone_within(_DIES_WITHIN_SECONDS):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            if not self._gone_within(_DIES_WITHIN_SECONDS):
                raise Undying(seconds=2 * _DIES_WITHIN_SECONDS)

    def _gone_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self.look() and time.monotonic() < until:
            self._wires.pump.turn(_LOOK_EVERY_SECONDS)
        return self.ended


class Guard:
    """Says when a command must end."""

    def __init__(self, seconds: float, stopped: Callable[[], bool], growth: Growth, memory: Memory) -> None:
        self._until = time.monotonic() + seconds
        self._stopped, self._ask_at = stopped, 0.0
        self._growth, self._memory = growth, memory

    def verdict(self) -> Killed | None:
        now = time.monotonic()
        if now >= self._until:
            return Killed.TIME
        if now >= self._ask_at:
            self._ask_at = now + _ASK_EVERY_SECONDS
            if self._stopped():
                return Killed.STOP
        if self._memory.too_much():
            return Killed.MEMORY
        return Killed.DISK if self._growth.too_big() else None

    def close(self) -> None:
        self._growth.close()

    @property
    def patience(self) -> float:
        """Seconds until the next look."""
        return max(0.0, min(_LOOK_EVERY_SECONDS, self._until - time.monotonic()))


def follow(job: Followed, wires: Wires, guard: Guard) -> Killed | None:
    """Carry data both ways until the command has ended; gives why it was killed, or None when it ended by itself."""
    killed: Killed | None = None
    with closing(guard):
        while killed is None and not job.look():
            wires.pump.turn(guard.patience)
            killed = None if job.look() else guard.verdict()
    job.finish()
    wires.pump.drain_rest(_READ_ON_SECONDS)
    return killed
