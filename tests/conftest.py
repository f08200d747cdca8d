"""What all tests share, and how they are spread over the cores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

# How long an example takes says something about the machine; what must be fast is measured by its own tests.
settings.register_profile("machine", deadline=None)
settings.load_profile("machine")

HERE: Final = Path(__file__).parent
WORKERS_AT_MOST: Final = 16
WORKER_BYTES: Final = 2 * 2**30  # of memory; the largest one takes 1.7 GiB
# Those that take longest begin first, so that no worker has one left when all others are done.
FIRST: Final = ("test_entry_points.py", "bot/ci/", "bot/course/", "bot/", "test_", "stages/")


@pytest.hookimpl(optionalhook=True)  # tests run without xdist too, in one process
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` is: two for each core, since tests wait for processes and sockets half of their time."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(2 * len(os.sched_getaffinity(0)), memory // WORKER_BYTES, WORKERS_AT_MOST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files; within a file all stay as they are."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    place = item.path.relative_to(HERE).as_posix()
    return next((rank for rank, start in enumerate(FIRST) if place.startswith(start)), len(FIRST))
