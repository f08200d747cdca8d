"""What lost its launcher: a command of our own user can kill the process that would have ended what it started.

While a command runs, processes below us that lose their parent become our children (prctl(2),
PR_SET_CHILD_SUBREAPER), so that they can be found and ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from stages.sandbox.faults import Undying
from stages.sandbox.launcher import call, childless, children, subreaper

_PR_GET_CHILD_SUBREAPER: Final = 37
_DIE_WITHIN_SECONDS: Final = 10.0
_LOOK_EVERY_SECONDS: Final = 0.01


class _Adoption:
    """How many commands need it now: the kernel keeps one switch for the whole process."""

    def __init__(self) -> None:
        self._commands, self._lock = 0, threading.Lock()

    def change(self, by: int) -> None:
        with self._lock:
            self._commands += by
            subreaper(on=self._commands > 0)


_ADOPTION: Final = _Adoption()


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """Orphans below us become our children in here."""
    _ADOPTION.change(1)
    try:
        yield
    finally:
        _ADOPTION.change(-1)


def adopts() -> bool:
    """Whether processes below us that lose their parent become our children: always those of the first process."""
    told = ctypes.c_int()
    call(ctypes.CDLL(None, use_errno=True).prctl, _PR_GET_CHILD_SUBREAPER, ctypes.byref(told), 0, 0, 0)
    return told.value != 0 or os.getpid() == 1


def end_orphans(ours: Collection[int]) -> None:
    """Kill the commands' processes that became our children, and all below them. `ours` are launchers at work.

    Raises Undying when they do not die.
    """
    if not adopts() or childless():  # there is none: no need to look through all processes of the machine
        return
    until = time.monotonic() + _DIE_WITHIN_SECONDS
    while left := _orphans(ours):
        for number in (signal.SIGSTOP, signal.SIGKILL):  # frozen first, so that none is born behind our back
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            left = _orphans(ours)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # one further below
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > until:
            raise Undying(seconds=_DIE_WITHIN_SECONDS)
        time.sleep(_LOOK_EVERY_SECONDS)


def _orphans(ours: Collection[int]) -> list[int]:
    family = children()
    todo = [pid for pid in family.get(os.getpid(), []) if pid not in ours and _is_of_a_command(pid)]
    found = []
    while todo:
        found.append(todo.pop())
        todo += family.get(found[-1], [])
    return found


def _is_of_a_command(pid: int) -> bool:
    """No other child of ours has both: a session apart, and never a new privilege. A command cannot lose either."""
    try:
        apart = os.getsid(pid) != os.getsid(0)
        return apart and "\nNoNewPrivs:\t1\n" in Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return False
