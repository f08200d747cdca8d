"""A run that is stopped before or after anything that it writes down comes to the same end as one that was not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from memory.database import DatabaseFull
from memory.types import RunId
from tests.bot.boundaries import act_at_the_next, opened, pursue, what_came
from tests.bot.children import in_child
from tests.bot.kit import Bed, bed
from tests.bot.small_disk import fill, small_disk, why_none


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What comes of the run that nobody stops."""
    ground = bed(tmp_path_factory.mktemp("whole"))
    run = opened(ground)
    pursue(ground, run)  # here, so that no child has to import and to compile what this one did
    return what_came(ground, run)


def points(seen: Path, take: Callable[[], object]) -> Iterator[str]:
    """Take the run on in one process after the other; gives where each was stopped, until one was not."""
    known = list[str]()
    while True:
        take()
        found = seen.read_text().splitlines() if seen.exists() else []
        if found == known:
            return
        yield from found[len(known) :]
        known = found


def assert_everywhere(places: list[str]) -> None:
    assert len(places) > 40
    assert {"before record PassAfterHold False", "after finish publish 2"} <= set(places)


def test_r16_a_run_that_is_killed_at_every_boundary_ends_as_without_a_kill(
    undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    ground, seen = bed(tmp_path), tmp_path / "seen"
    run = opened(ground)

    def until_killed() -> None:
        act_at_the_next(seen, lambda: os.kill(os.getpid(), signal.SIGKILL))
        pursue(ground, run)

    assert_everywhere(list(points(seen, lambda: in_child(until_killed))))
    assert what_came(ground, run) == undisturbed


def test_a_run_that_is_interrupted_at_every_boundary_ends_as_without(
    undisturbed: dict[str, Any], tmp_path: Path
) -> None:
    ground, seen = bed(tmp_path), tmp_path / "seen"
    run = opened(ground)

    def until_interrupted() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        act_at_the_next(seen, lambda: os.kill(os.getpid(), signal.SIGINT))
        with suppress(KeyboardInterrupt):
            pursue(ground, run)
        assert not list((ground.home / "work").glob(f"{run}-*"))

    assert_everywhere(list(points(seen, lambda: in_child(until_interrupted))))
    assert what_came(ground, run) == undisturbed


@pytest.fixture
def apart(tmp_path: Path) -> tuple[Bed, Path]:
    """A repository whose home lies on a disk of its own, and the folder that keeps the home between processes."""
    if reason := why_none(tmp_path):
        pytest.skip(reason)
    return bed(tmp_path), tmp_path / "kept"


def moved(ground: Bed, kept: Path) -> RunId:
    """A run that was opened, with the home in the folder that keeps it."""
    run = opened(ground)
    ground.home.rename(kept)
    ground.home.mkdir()
    return run


def back(ground: Bed, kept: Path) -> None:
    ground.home.rmdir()
    kept.rename(ground.home)


def test_home_and_repository_may_lie_on_two_disks(undisturbed: dict[str, Any], apart: tuple[Bed, Path]) -> None:
    ground, kept = apart
    run = moved(ground, kept)

    def on_another_disk() -> None:
        with small_disk(ground.home, kept, megabytes=32):
            pursue(ground, run)

    in_child(on_another_disk)
    back(ground, kept)
    assert what_came(ground, run) == undisturbed


def test_a_run_whose_disk_is_full_from_any_boundary_on_ends_as_with_room(
    undisturbed: dict[str, Any], apart: tuple[Bed, Path], tmp_path: Path
) -> None:
    (ground, kept), seen = apart, tmp_path / "seen"
    run = moved(ground, kept)

    def until_full() -> None:
        """Database, work folder and what is left for people share the disk."""
        with small_disk(ground.home, kept, megabytes=32):
            act_at_the_next(seen, lambda: fill(ground.home))
            with suppress(DatabaseFull):
                pursue(ground, run)

    assert_everywhere(list(points(seen, lambda: in_child(until_full))))
    back(ground, kept)
    assert what_came(ground, run) == undisturbed
