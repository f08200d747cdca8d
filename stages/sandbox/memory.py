"""How much memory all processes of a command take together.

The kernel's limits count for each process alone, and what lies in files in memory for none. Fields are those of
proc(5): RssAnon and VmSwap of each process, and what Shmem of the whole machine has grown by.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from stages.sandbox.launcher import below

_LOOK_EVERY_SECONDS: Final = 0.1
_SHARE_OF_THE_MACHINE: Final = 0.75
_TAKEN: Final = re.compile(rb"^(?:RssAnon|VmSwap):\s+(\d+) kB", re.MULTILINE)
# Pages that a fork shares are whole in the count above, and in shares here.
_TAKEN_IN_SHARES: Final = re.compile(rb"^(?:Pss_Anon|SwapPss):\s+(\d+) kB", re.MULTILINE)
_OF_THE_MACHINE: Final = re.compile(rb"^(MemTotal|Shmem):\s+(\d+) kB", re.MULTILINE)
_KIB: Final = 1024


class Memory:
    """Tells when the processes below `top`, and it itself, take more than `at_most` bytes."""

    def __init__(self, top: int, *, at_most: int) -> None:
        self._top, self._look_at = top, time.monotonic() + _LOOK_EVERY_SECONDS
        machine = _machine()
        self._at_most = min(at_most, int(_SHARE_OF_THE_MACHINE * machine[b"MemTotal"]))
        self._in_files_before = machine[b"Shmem"]

    def too_much(self) -> bool:
        now = time.monotonic()
        if now < self._look_at:
            return False
        self._look_at = now + _LOOK_EVERY_SECONDS
        processes = tuple(_family(self._top))
        # Nobody else's files in memory can be told from the command's: what others add counts too.
        in_files = max(0, _machine()[b"Shmem"] - self._in_files_before)
        if in_files + sum(_sum("status", _TAKEN, pid) for pid in processes) <= self._at_most:
            return False
        return in_files + sum(_in_shares(pid) for pid in processes) > self._at_most


def _in_shares(pid: int) -> int:
    return _sum("smaps_rollup", _TAKEN_IN_SHARES, pid) or _sum("status", _TAKEN, pid)


def _sum(file: str, pattern: re.Pattern[bytes], pid: int) -> int:
    return sum(int(found) for found in pattern.findall(_read(f"/proc/{pid}/{file}"))) * _KIB


def _family(top: int) -> Iterator[int]:
    """The process and all below it."""
    if not Path(f"/proc/{top}/task/{top}/children").exists():  # a kernel without CONFIG_PROC_CHILDREN
        yield from (top, *below(top))
        return
    todo = [top]
    while todo:
        pid = todo.pop()
        yield pid
        for thread in _threads(pid):
            todo += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return []


def _machine() -> Mapping[bytes, int]:
    found = {name: int(size) * _KIB for name, size in _OF_THE_MACHINE.findall(_read("/proc/meminfo"))}
    return {b"MemTotal": 0, b"Shmem": 0} | found


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it has ended
        return b""
