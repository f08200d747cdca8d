"""The kernel's limits for one command."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from typing import Final

from stages.sandbox.command import Bounds

DIES_FIRST: Final = "1000"
"""The most that a process can be worth to a kernel that is out of memory (proc(5), oom_score_adj)."""


def limits(bounds: Bounds, *, reserves: bool = False) -> Mapping[int, int]:
    """Kind of limit → value, never above what we may set ourselves."""
    wanted = {
        # The second counts what can be written, not what is only reserved (setrlimit(2), since Linux 4.7).
        resource.RLIMIT_AS: bounds.reserved_bytes if reserves else bounds.memory_bytes,
        resource.RLIMIT_DATA: bounds.memory_bytes,
        resource.RLIMIT_CPU: bounds.cpu_seconds,
        resource.RLIMIT_FSIZE: bounds.file_bytes,
        resource.RLIMIT_NOFILE: bounds.open_files,
        resource.RLIMIT_NPROC: bounds.processes,
        resource.RLIMIT_CORE: 0,
    }
    return {kind: _at_most(value, resource.getrlimit(kind)[1]) for kind, value in wanted.items()}


def _at_most(value: int, allowed: int) -> int:
    return value if allowed == resource.RLIM_INFINITY else min(value, allowed)
