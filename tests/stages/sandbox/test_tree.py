"""Trees: whose they are, and that every one can be taken away."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stages.sandbox import own, remove
from stages.sandbox.tree import FIRST_USER, user_for
from tests.stages.sandbox.ways import as_ordinary_user, new_world

DEEP = 1_100  # beyond what a path, the stack or the table of descriptors allows


def make_deep(tree: Path) -> None:
    folder = os.open(tree, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("deeper", dir_fd=folder)
        inner = os.open("deeper", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


def test_a_tree_deeper_than_any_path_is_taken_away(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    make_deep(tree)

    with pytest.raises((OSError, RecursionError)):
        shutil.rmtree(tree)
    remove(tree)

    assert not tree.exists()


def test_a_tree_with_closed_folders_is_taken_away_by_an_ordinary_user() -> None:
    def work(base: Path) -> list[str]:
        tree = base / "tree" / "mine"
        (tree / "closed" / "inner").mkdir(parents=True)
        (tree / "closed" / "inner" / "file").touch()
        for folder in (tree / "closed" / "inner", tree / "closed", tree):
            folder.chmod(0)
        remove(tree)
        return os.listdir(base / "tree")

    with new_world() as world:
        assert as_ordinary_user(lambda: work(world.base)) == []


def test_taking_away_never_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").touch()
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "link").symlink_to(tmp_path / "outside")

    remove(tree)
    with pytest.raises(NotADirectoryError):
        remove(tmp_path / "link")

    assert (tmp_path / "outside" / "file").exists()


def test_a_tree_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path / "nothing")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs commands under another user")
def test_root_gives_the_tree_and_nothing_outside_to_its_user(tmp_path: Path) -> None:
    (tmp_path / "outside").touch()
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "file").touch()
    (tree / "link").symlink_to(tmp_path / "outside")
    os.link(tmp_path / "outside", tree / "second-name")

    own(tree)

    user = user_for(tree)
    assert user is not None
    assert FIRST_USER <= user < FIRST_USER + 2**16
    owners = {path.name: path.lstat().st_uid for path in (tree, *tree.rglob("*"), tmp_path / "outside")}
    assert owners == {"tree": user, "sub": user, "file": user, "link": user, "second-name": 0, "outside": 0}


def test_an_ordinary_user_keeps_the_tree() -> None:
    with new_world() as world:
        before = world.tree.stat().st_uid
        assert as_ordinary_user(lambda: user_for(world.tree)) is None
        as_ordinary_user(lambda: own(world.tree))
        assert world.tree.stat().st_uid == before
