"""Limits of processor time: measured without coverage, and longer where the machine is slower than the reference."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any, Final

REFERENCE_SECONDS: Final = 0.00073
"""What `_work` takes, median of 300, on the quiet machine of FIGURES: without coverage no limit is longer there."""
SLOWER_AT_MOST: Final = 5
_TEXT: Final = "\n".join(f"  File 'a{number}.py', line {number}, in f{number}" for number in range(700))
_PATTERN: Final = re.compile(r"^\s*(?:at|in|File) '([\w./]+)'(?:, line (\d+))?(?:, in (\w+))?", re.MULTILINE)


def at_most(seconds: float) -> float:
    """A limit for CPU seconds, longer where the machine is slower just now; never shorter.

    Asked right after what it limits, in the same process: coverage makes both slower.
    """
    return seconds * slower()


def slower() -> float:
    """How many times slower than the reference this process is just now: 1 to `SLOWER_AT_MOST`."""
    return min(max(1.0, statistics.median(_work() for _ in range(5)) / REFERENCE_SECONDS), SLOWER_AT_MOST)


def best_of(tries: int, work: Callable[[], object], *, enough: float = 0.0) -> float:
    """CPU seconds of this thread: the least of so many tries, or the first that is less than enough."""
    best = float("inf")
    for _ in range(tries):
        begun = thread_time()
        work()
        best = min(best, thread_time() - begun)
        if best < enough:
            break
    return best


def measured(program: str, given: object = None) -> tuple[Any, float]:
    """What a program prints as JSON, and how much `slower` its process was then; `given` is its input, as JSON.

    In a process of its own: measuring coverage makes everything several times slower.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nfrom tests.machine import slower\nprint(slower())"],
        input=json.dumps(given),
        env={name: value for name, value in os.environ.items() if not name.startswith("COV")},
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    told, factor = done.stdout.splitlines()
    return json.loads(told), float(factor)


def _work() -> float:
    """CPU seconds of work like that of the parsers: one pattern over a text, and a loop over what it finds."""
    begun = thread_time()
    for found in _PATTERN.finditer(_TEXT):
        _ = sum(map(len, found.groups(""))) + len(found[0].split())
    for line in _TEXT.splitlines():
        _ = line.strip().partition("'")[2].lower()
    return thread_time() - begun
