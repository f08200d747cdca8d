"""What all tests share, where they write, and how they are spread over the cores."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings
from sqlalchemy import create_engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from bot.forge import pygithub
from memory import database, scrub
from memory.secret_values import SecretValues

# How long an example takes says something about the machine; what must be fast is measured by its own tests.
settings.register_profile("machine", deadline=None)
settings.load_profile("machine")

HERE: Final = Path(__file__).parent
WORKERS_AT_MOST: Final = 16
WORKER_BYTES: Final = 2 * 2**30  # of memory; the largest one takes 1.7 GiB
MEMORY: Final = Path("/dev/shm")  # a file system in memory, on Linux
ROOM: Final = 8 * 2**30  # bytes that must be free there, and that the machine must have to spare
# Those that take longest begin first, so that no worker has one left when all others are done.
FIRST: Final = ("test_entry_points.py", "bot/ci/", "bot/course/", "bot/", "test_", "stages/")


@pytest.hookimpl(tryfirst=True)  # before pytest makes its folder
def pytest_configure(config: pytest.Config) -> None:
    """Let tests write into memory: a seventh of their time goes to waits for a disk. `--basetemp` keeps files."""
    if config.option.basetemp or hasattr(config, "workerinput") or not _has_room():
        return
    folder = MEMORY / f"ticketsmith-tests-{os.getpid()}"
    config.option.basetemp = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def _has_room() -> bool:
    spare = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    return min(shutil.disk_usage(MEMORY).free, spare) >= ROOM


@pytest.hookimpl(optionalhook=True)  # tests run without xdist too, in one process
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` is: two for each core, since tests wait for processes and sockets half of their time."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(2 * len(os.sched_getaffinity(0)), memory // WORKER_BYTES, WORKERS_AT_MOST))


@pytest.fixture(scope="session", autouse=True)
def statements_are_compiled_once() -> Iterator[None]:
    """One cache for the databases of all tests: each has its own, and would compile every statement anew.

    The cache is asked by dialect and statement; dialects of one class count as the same one.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda one: hash(type(one)))
        options = {"compiled_cache": dict[object, object]()}
        patch.setattr(database, "create_engine", partial(create_engine, execution_options=options))
        yield


@pytest.fixture(scope="session", autouse=True)
def the_key_is_prepared_once() -> Iterator[None]:
    """The Apps of all tests have one key: to read it takes long, and it has 40,000 forms to be found by."""
    prepared = lru_cache(maxsize=64)(SecretValues)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scrub, "SecretValues", lambda values=(): prepared(tuple(values)))
        patch.setattr(pygithub, "AppKey", cache(pygithub.AppKey))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files; within a file all stay as they are."""
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    place = item.path.relative_to(HERE).as_posix()
    return next((rank for rank, start in enumerate(FIRST) if place.startswith(start)), len(FIRST))
