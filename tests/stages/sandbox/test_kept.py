"""A folder that a command may fill beside its tree, and that a later one may only read (requirements S 12, 33)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stages.errors import Refused
from stages.sandbox import Bounds, Command
from tests.stages.sandbox.ways import Way, World

MIB = 2**20


@pytest.fixture
def kept(world: World) -> Path:
    folder = world.base / "kept"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


def shell(world: World, script: str, **changes: object) -> Command:
    return replace(Command(arguments=("sh", "-c", script), tree=world.tree), **changes)  # type: ignore[arg-type]


def test_a_kept_folder_is_written_where_it_lies_and_read_later(every_way: Way, world: World, kept: Path) -> None:
    wrote = every_way.run(
        shell(world, f"echo made > {kept}/new && mkdir {kept}/sub && echo in > {kept}/sub/x", kept=kept)
    )
    read = every_way.run(shell(world, f"cat {kept}/new {kept}/sub/x", readable=(kept,)))

    assert (wrote.exit_status, wrote.output) == (0, "")
    assert (read.exit_status, read.output) == (0, "made\nin\n")


def test_sec_33_who_may_read_what_is_kept_cannot_change_it(walls: Way, world: World, kept: Path) -> None:
    walls.run(shell(world, f"echo made > {kept}/new", kept=kept))
    attacks = f"echo evil > {kept}/new; rm -f {kept}/new; echo evil > {kept}/more; mv {kept}/new {kept}/old; true"

    walls.run(shell(world, attacks, readable=(kept,)))

    assert {path.name: path.read_text() for path in kept.iterdir()} == {"new": "made\n"}
    walls.run(shell(world, attacks, kept=kept))
    assert (kept / "more").exists(), "with the folder open for writing the attack works"


def test_nothing_beside_a_kept_folder_can_be_written(walls: Way, world: World, kept: Path) -> None:
    script = (
        f"echo x > {kept}/../beside; echo x > {world.sibling}/new; ln -s {world.sibling} {kept}/out; cat {kept}/out/*"
    )

    ran = walls.run(shell(world, script, kept=kept))

    assert "canary" not in ran.output
    assert not (world.base / "beside").exists()
    assert [path.name for path in world.sibling.iterdir()] == ["answer.txt"]


def test_what_is_kept_has_a_size_too(way: Way, world: World, kept: Path) -> None:
    fills = f"i=0; while :; do head -c 4194304 /dev/zero > {kept}/$i; i=$((i + 1)); sleep 0.01; done"

    ran = way.run(shell(world, fills, kept=kept), Bounds(tree_bytes=24 * MIB))

    assert (ran.exit_status, ran.filled_disk) == (None, True)


@pytest.mark.parametrize("kind", ["missing", "a link", "in the tree", "above the tree", "a file", "the machine's"])
def test_what_is_no_folder_to_keep_is_refused(kind: str, way: Way, world: World) -> None:
    (world.base / "link").symlink_to(world.sibling)
    (world.tree / "sub").mkdir()
    (world.base / "file").touch()
    folders = {
        "missing": world.base / "none",
        "a link": world.base / "link",
        "in the tree": world.tree / "sub",
        "above the tree": world.base,
        "a file": world.base / "file",
        "the machine's": Path("/usr"),
    }

    with pytest.raises(Refused, match="this command cannot run"):
        way.run(shell(world, "true", kept=folders[kind]))
