"""Folders that are lent to a command: seen in its tree, never written, gone afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory.types import CheckId
from stages.errors import Refused
from stages.lending import Lending
from stages.report import Check, CheckKind
from stages.sandbox import Command
from tests.stages.repositories import put
from tests.stages.sandbox.ways import Way, World

JEST = Check(name=CheckId("jest"), kind=CheckKind.JEST, folder="web", installed=("node_modules",))


def lend(world: World, script: str, place: str = "node_modules") -> Command:
    outside = world.tree.parent / "checkout" / "node_modules"
    put(outside, {"dep/index.js": "dep", "@scope/a/a.js": "a", "file.json": "{}"})
    if not (outside / "sister").is_symlink():
        (outside / "sister").symlink_to("../packages/sister")
    put(world.tree, {"packages/sister/index.js": "this tree's"})
    return Command(arguments=("sh", "-c", script), tree=world.tree, lent=((place, outside.resolve()),))


def test_all_that_is_in_it_is_seen_and_links_between_packages_lead_into_the_tree(way: Way, world: World) -> None:
    script = "cd node_modules && cat dep/index.js @scope/a/a.js file.json sister/index.js"

    ran = way.run(lend(world, script))

    assert (ran.exit_status, ran.output) == (0, "depa{}this tree's")
    assert not (world.tree / "node_modules").exists()


def test_a_command_may_keep_caches_beside_it_and_change_nothing_of_it(walls: Way, world: World) -> None:
    script = "mkdir node_modules/.cache && echo x > node_modules/.cache/x && echo x > node_modules/dep/index.js"

    ran = walls.run(lend(world, script))

    assert ran.exit_status != 0
    assert (world.tree.parent / "checkout/node_modules/dep/index.js").read_text() == "dep"
    assert not (world.tree.parent / "checkout/node_modules/.cache").exists()
    assert walls.run(lend(world, script.rpartition(" && ")[0])).exit_status == 0


@pytest.mark.parametrize("place", ["taken", "link", "file", "../out", "none/node_modules"])
def test_what_is_in_the_tree_already_or_not_in_it_is_no_place(way: Way, world: World, place: str) -> None:
    put(world.tree, {"taken/x": "", "file": ""})
    (world.tree / "link").symlink_to("/tmp")

    with pytest.raises(Refused, match="in the tree"):
        way.run(lend(world, "true", place))


def test_a_folder_of_the_whole_machine_is_not_lent(way: Way, world: World) -> None:
    with pytest.raises(Refused, match="no folder that can be lent"):
        way.run(replace(lend(world, "true"), lent=(("node_modules", Path("/etc")),)))


# --- what is lent ----------------------------------------------------------------------------------------------------


def test_a_check_is_lent_what_the_checkout_has_beside_it(tmp_path: Path) -> None:
    put(tmp_path / "checkout", {"web/node_modules/dep/x": ""})
    put(tmp_path / "tree", {"web/package.json": ""})
    lending = Lending(tmp_path / "checkout")

    assert lending.to(JEST, tmp_path / "tree") == (
        ("web/node_modules", (tmp_path / "checkout/web/node_modules").resolve()),
    )


def test_nothing_is_lent_that_is_missing_tracked_or_elsewhere(tmp_path: Path) -> None:
    put(tmp_path / "checkout", {"web/file": "", "one/node_modules/x": "", ".git/x": ""})
    (tmp_path / "checkout/web/node_modules").symlink_to("/etc")
    (tmp_path / "checkout/loop").symlink_to("loop")
    put(tmp_path / "tree", {"one/node_modules/y": "tracked"})
    lending = Lending(tmp_path / "checkout")

    assert not any(map(lending.has, ("web/node_modules", "gone", "loop", "web/file", ".git", "..")))
    assert lending.has("one/node_modules")
    assert lending.to(replace(JEST, folder="one"), tmp_path / "tree") == ()
