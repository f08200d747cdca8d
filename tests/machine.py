"""How fast this machine is just now: limits of processor time grow where it is slower than the reference."""

from __future__ import annotations

import re
import statistics
from time import thread_time
from typing import Final

REFERENCE_SECONDS: Final = 0.0005
"""Inferred, not measured: `_work` takes 0.0007 s at best where hostile text takes 1.4 times what FIGURES says.

So a limit of 50 ms is some 70 ms on such a machine. To be measured where the figures are, and put here.
"""
SLOWER_AT_MOST: Final = 5
_TEXT: Final = "\n".join(f"  File 'a{number}.py', line {number}, in f{number}" for number in range(700))
_PATTERN: Final = re.compile(r"^\s*(?:at|in|File) '([\w./]+)'(?:, line (\d+))?(?:, in (\w+))?", re.MULTILINE)


def at_most(seconds: float) -> float:
    """A limit for CPU seconds, longer where the machine is slower just now; never shorter.

    Asked right after what it limits.
    """
    slower = statistics.median(_work() for _ in range(5)) / REFERENCE_SECONDS
    return seconds * min(max(1.0, slower), SLOWER_AT_MOST)


def _work() -> float:
    """CPU seconds of work like that of the parsers: one pattern over a text, and a loop over what it finds."""
    begun = thread_time()
    for found in _PATTERN.finditer(_TEXT):
        _ = sum(map(len, found.groups(""))) + len(found[0].split())
    for line in _TEXT.splitlines():
        _ = line.strip().partition("'")[2].lower()
    return thread_time() - begun
