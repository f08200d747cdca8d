"""Commands that ask for more than a command may have, and interpreters that can be run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from stages.errors import ParkCause, Parked, Refused
from stages.sandbox import Command, Level, NotAnInterpreter, decided_by, needed_by
from stages.sandbox.plain import Plain
from tests.stages.sandbox.ways import Way, World

TRUE = ("true",)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"arguments": ()}, "empty"),
        ({"arguments": ("",)}, "empty"),
        ({"arguments": ("a\0b",)}, "zero byte"),
        ({"environment": {"A": "a\0b"}}, "zero byte"),
        ({"environment": {"A=B": "c"}}, "environment variable"),
        ({"environment": {"": "c"}}, "environment variable"),
        ({"environment": {"LD_PRELOAD": "/tree/own.so"}}, "variable would change"),
        ({"environment": {"GLIBC_TUNABLES": "x"}}, "variable would change"),
        ({"folder": "a\0b"}, "zero byte"),
        ({"folder": ".."}, "no folder of the tree"),
        ({"folder": "/etc"}, "no folder of the tree"),
        ({"folder": "nowhere"}, "no folder of the tree"),
        ({"folder": "link"}, "no folder of the tree"),
        ({"folder": "loop"}, "no folder of the tree"),
        ({"lent": (("loop/x", Path("/usr/share/doc")),)}, "no place in the tree"),
        ({"channel": 2}, "channels"),
        ({"channel": 100}, "channels"),
        ({"channel": 3, "secret_channel": 3}, "channels"),
        ({"secret": b"key"}, "no channel"),
        ({"tree": Path("/tmp")}, "no folder for a tree"),
        ({"tree": Path("/etc/hostname")}, "no folder for a tree"),
        *(
            ({"readable": (Path(path),)}, "too much")
            for path in ("/", "/etc", "/home", "/proc/1", "/sys/kernel", "/dev/null", "/dev/shm")
        ),
        ({"readable": (Path("/opt/nonexistent"),)}, "does not exist"),
    ],
)
def test_a_command_that_asks_for_too_much_is_refused(changes: dict[str, object], problem: str, world: World) -> None:
    (world.tree / "link").symlink_to("/usr")
    (world.tree / "loop").symlink_to("loop")
    command = replace(Command(arguments=TRUE, tree=world.tree), **changes)  # type: ignore[arg-type]

    with pytest.raises(Refused, match=problem):
        Plain().run(command)


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no folder in memory here")
def test_a_folder_that_lies_in_memory_can_be_read_like_any_other(way: Way, world: World) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "said").write_text("here")
        command = Command(arguments=("cat", f"{folder}/said"), tree=world.tree, readable=(Path(folder),))

        assert way.sandbox().run(command).output == "here"


def test_f54_a_tree_that_is_not_there_any_more_parks_the_run(world: World) -> None:
    with pytest.raises(Parked, match="somebody removed it") as parked:
        Plain().run(Command(arguments=TRUE, tree=world.tree / "gone"))

    assert parked.value.cause is ParkCause.ENVIRONMENT


@pytest.mark.parametrize("above", ["tree", "base"])
def test_a_readable_path_never_holds_the_tree(above: str, world: World) -> None:
    with pytest.raises(Refused, match="too much"):
        Plain().run(Command(arguments=TRUE, tree=world.tree, readable=(getattr(world, above),)))


def test_our_own_interpreter_runs_with_its_packages(way: Way, world: World) -> None:
    python = Path(sys.executable)

    ran = way.run(
        Command(
            arguments=(str(python), "-c", "import pytest, sys; print(sys.prefix)"),
            tree=world.tree,
            readable=needed_by(python),
        )
    )

    assert ran.output == f"{sys.prefix}\n"


def test_a_chain_of_links_to_an_interpreter_needs_only_the_links(world: World) -> None:
    home = world.base / "home"
    (home / "bin").mkdir(parents=True)
    (home / "secret").write_text("")
    (home / "bin" / "python").symlink_to(sys.executable)

    needed = needed_by(home / "bin" / "python")

    assert home / "bin" / "python" in needed
    assert not any((home / "secret").is_relative_to(path) for path in needed)


def test_an_environment_whose_interpreter_is_the_systems_needs_itself_only(world: World) -> None:
    system = Path("/usr/bin/python3")
    if not system.exists():
        pytest.skip("there is no interpreter of the system here")
    environment = world.base / "environment"
    subprocess.run([system, "-m", "venv", "--without-pip", str(environment)], check=True)

    needed = needed_by(environment / "bin" / "python")

    assert {path.parent for path in needed} == {environment}


def test_an_environment_in_a_checkout_opens_only_itself(world: World) -> None:
    (world.sibling / "bin").mkdir()
    (world.sibling / "lib").mkdir()
    (world.sibling / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    (world.sibling / "bin" / "python").symlink_to("/usr/bin/env")

    needed = needed_by(world.sibling / "bin" / "python")

    assert sorted(path.name for path in needed) == ["bin", "lib", "pyvenv.cfg"]


def test_an_interpreter_that_does_not_exist_is_an_error(world: World) -> None:
    with pytest.raises(FileNotFoundError):
        needed_by(world.base / "bin" / "python")


@pytest.mark.parametrize("kind", ["a folder", "a file", "a home that is none"])
def test_nothing_but_an_interpreter_is_made_readable(kind: str, world: World) -> None:
    (world.sibling / "bin").mkdir()
    python = world.sibling / "bin" / "python"
    if kind == "a folder":
        python.mkdir()
    elif kind == "a file":
        python.write_text("key")
    else:
        (world.base / "other").mkdir()
        (world.base / "other" / "python3").write_text("key")
        (world.sibling / "pyvenv.cfg").write_text(f"home = {world.base / 'other'}\n")
        python.symlink_to("/usr/bin/env")

    with pytest.raises(NotAnInterpreter, match="no Python interpreter"):
        needed_by(python)


def test_every_link_on_the_way_to_an_interpreter_is_told(world: World) -> None:
    (world.base / "one").symlink_to("./two/../two")
    (world.base / "two").symlink_to(world.base / "home")
    (world.base / "home" / "bin").mkdir(parents=True)
    (world.base / "home" / "bin" / "python").symlink_to(sys.executable)

    steps = decided_by(world.base / "one" / "bin" / "python")

    below = {str(step.relative_to(world.base)) for step in steps if step.is_relative_to(world.base)}
    assert below == {".", "one", "two", "home", "home/bin", "home/bin/python"}
    assert Path(sys.executable) in steps


def test_a_readable_link_stays_a_link_and_leads_to_what_it_meant(walls: Way, world: World) -> None:
    (world.base / "more").mkdir()
    (world.base / "more" / "text").write_text("meant")
    (world.base / "link").symlink_to("more")
    script = "import os; print(os.path.islink(path), open(path + '/text').read())"
    command = world.attack(script, path=str(world.base / "link"))

    ran = walls.run(replace(command, readable=(*command.readable, world.base / "link")))

    assert ran.output == "True meant\n"


def test_sec_5_15_a_readable_link_opens_what_it_leads_to_not_what_its_text_reads_like(walls: Way, world: World) -> None:
    kept = world.base / "kept"
    for folder, whose in (("deep/place", "the link's"), ("place", "somebody else's")):
        (kept / folder).mkdir(parents=True)
        (kept / folder / "key").write_text(whose)
    (kept / "deep/er").mkdir()
    (kept / "jump").symlink_to("deep/er")
    (kept / "link").symlink_to("jump/../place")  # which reads like `place`
    script = (
        "for name in ('link', 'place'):\n  try: print(open(f'{kept}/{name}/key').read())\n  except OSError: print(0)"
    )
    command = world.attack(script, kept=str(kept))

    ran = walls.run(replace(command, readable=(*command.readable, kept / "link")))

    assert ran.output == "the link's\n0\n"


def test_no_other_level_than_bubblewrap_hides_the_place_of_the_tree(way: Way, world: World) -> None:
    inside = str(way.sandbox().inside(world.tree))

    assert inside == ("/tree" if way.level is Level.BUBBLEWRAP else str(world.tree))
