"""What is counted of what a command puts on disk, and what cannot mislead the count."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stages.sandbox.growth import Growth, Used
from tests.stages.sandbox.ways import as_ordinary_user, new_world

MIB = 2**20
FEW = Used(bytes=2 * MIB, files=1_000)


class Disk:
    """A filesystem that nobody else uses."""

    def __init__(self) -> None:
        self._used = Used(bytes=0, files=0)

    def used(self, folder: Path) -> Used:
        return self._used

    def loses(self, *, mebibytes: int = 0, files: int = 0) -> None:
        self._used = Used(bytes=self._used.bytes + mebibytes * MIB, files=self._used.files + files)


@pytest.fixture
def disk() -> Disk:
    return Disk()


def make(folder: Path, files: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(files):
        os.mknod(folder / str(number))


def looked(growth: Growth) -> bool:
    """What the count says, which takes several looks for many files."""
    until = time.monotonic() + 10
    while not (big := growth.too_big()) and growth.at_work and time.monotonic() < until:
        time.sleep(0.01)
    growth.close()
    return big


def test_growth_is_counted_only_where_room_was_lost(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(bytes(3 * MIB))
    growth = Growth((tmp_path,), FEW)

    before = looked(growth)
    (tmp_path / "new").write_bytes(bytes(8 * MIB))
    os.sync()  # what is only reserved is not lost yet

    assert not before
    assert looked(growth)


def test_files_count_although_they_are_empty(tmp_path: Path, disk: Disk) -> None:
    growth = Growth((tmp_path,), FEW, disk.used)

    make(tmp_path / "many", 1_100)
    disk.loses(files=1_101)

    assert looked(growth)


def test_what_others_put_on_the_same_disk_does_not_count(tmp_path: Path, disk: Disk) -> None:
    make(tmp_path, 900)
    growth = Growth((tmp_path,), FEW, disk.used)

    disk.loses(mebibytes=100, files=10**6)

    assert not looked(growth)


def test_no_link_leads_the_count_elsewhere(tmp_path: Path, disk: Disk) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    make(tmp_path / "outside", 1_100)
    (tree / "link").symlink_to(tmp_path / "outside")
    growth = Growth((tree,), FEW, disk.used)

    disk.loses(mebibytes=8)

    assert sum(len(names) for _, _, names in os.walk(tree, followlinks=True)) == 1_100
    assert not looked(growth)


def test_a_tree_that_became_a_link_is_not_counted(tmp_path: Path, disk: Disk) -> None:
    tree = tmp_path / "tree"
    make(tree, 1_100)
    growth = Growth((tree,), FEW, disk.used)

    tree.rename(tmp_path / "away")
    tree.symlink_to(tmp_path / "away")
    disk.loses(mebibytes=8)

    assert not looked(growth)


def deep(tree: Path) -> None:
    for _ in range(150):
        tree /= "d"
    tree.mkdir(parents=True)


def closed(tree: Path) -> None:
    (tree / "shut").mkdir(mode=0)


def nameless(tree: Path) -> None:
    (tree / "shut").mkdir()
    (tree / "shut" / "file").touch()
    (tree / "shut").chmod(0o444)


def plain(tree: Path) -> None:
    (tree / "open").mkdir()


@pytest.mark.parametrize(
    ("hide", "lost", "big"),
    [(deep, 8, True), (closed, 8, True), (nameless, 8, True), (closed, 2, False), (plain, 8, False)],
)
def test_what_cannot_be_looked_at_counts_as_all_that_was_lost(
    hide: Callable[[Path], None], lost: int, big: bool, disk: Disk
) -> None:
    def work(tree: Path) -> bool:
        growth = Growth((tree,), FEW, disk.used)
        hide(tree)
        disk.loses(mebibytes=lost)
        return looked(growth)

    with new_world() as world:
        assert as_ordinary_user(lambda: work(world.tree)) is big


def test_a_look_is_short_and_goes_on_at_the_next(tmp_path: Path, disk: Disk) -> None:
    make(tmp_path, 20)
    growth = Growth((tmp_path,), Used(bytes=MIB, files=19), disk.used, look_seconds=0.0)
    disk.loses(files=20)

    first, second = growth.too_big(), growth.too_big()

    assert (first, second, growth.at_work) == (False, False, True)
    assert looked(growth)


def test_no_descriptor_is_left_by_a_count_that_was_not_finished(tmp_path: Path, disk: Disk) -> None:
    make(tmp_path, 20)
    before = os.listdir("/proc/self/fd")
    growth = Growth((tmp_path,), FEW, disk.used, look_seconds=0.0)
    disk.loses(mebibytes=2)
    growth.too_big()

    during = os.listdir("/proc/self/fd")
    growth.close()

    assert len(during) > len(before)
    assert os.listdir("/proc/self/fd") == before
