"""A wall that raises, says nothing or hangs stays a wall: what it guards does not happen (requirements S 5.9)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memory.scrub import Scrubber
from stages.agents.tools import Tools
from stages.errors import ParkCause, Parked, Refused, Stopped
from stages.gate import decide
from stages.jail import Jail
from stages.policy import Policy
from stages.prompt import EntryPoint
from stages.sandbox import Command, Sandbox
from stages.sandbox.bubblewrap import PROGRAMS, Bubblewrap
from stages.workspace import Workspace
from tests.fakes import budget
from tests.stages.benches import CART, Bench
from tests.stages.repositories import FIXED, SHOP, workspace
from tests.stages.sandbox.ways import new_world

FAULTS = ("raises", "says nothing", "hangs")


class Broken(Exception):
    """A fault that nobody foresaw."""


@dataclass
class Fault:
    """Does what its name says, wherever it is asked; `release` ends a hang."""

    kind: str
    release: threading.Event = field(default_factory=threading.Event)

    def __call__(self, *_: object, **__: object) -> None:
        if self.kind == "raises":
            raise Broken
        if self.kind == "hangs":
            self.release.wait(30)
            raise Stopped


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Fault:
    return Fault(request.param)


def comes_to_nothing(fault: Fault, work: Callable[[], object], happened: Callable[[], bool]) -> None:
    """`work` ends with an error, or does not end, and either way what is guarded has not happened."""
    ends = list[BaseException | None]()

    def begin() -> None:
        try:
            work()
            ends.append(None)
        except BaseException as error:  # noqa: BLE001 - looked at below
            ends.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join(1.0 if fault.kind == "hangs" else 60.0)
    assert not happened()
    fault.release.set()
    thread.join(60.0)
    assert not happened()
    assert [type(end) for end in ends] != [type(None)], "it ended as if all were well"


# --- the sandbox -----------------------------------------------------------------------------------------------------

BWRAP = {"raises": "echo boom >&2; exit 1", "says nothing": "exit 0", "hangs": "exec sleep 60"}


def with_bwrap(folder: Path, script: str) -> Sandbox:
    """The sandbox with another program in place of bubblewrap."""
    folder.mkdir()
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Bubblewrap(path=f"{folder}:{PROGRAMS}")


def test_sec_5_9_no_command_runs_when_its_sandbox_fails(fault: Fault, tmp_path: Path) -> None:
    with new_world() as world:
        command = Command(arguments=("touch", "ran"), tree=world.tree, timeout_seconds=2)
        ends_well = Bubblewrap().run(command).exit_status == 0 and (world.tree / "ran").exists()
        (world.tree / "ran").unlink()
        began = time.monotonic()

        with pytest.raises(Parked) as parked:
            with_bwrap(tmp_path / "bin", BWRAP[fault.kind]).run(command)

        assert ends_well, "with a sandbox that works it runs: the control"
        assert parked.value.cause is ParkCause.SANDBOX
        assert not (world.tree / "ran").exists()
        assert time.monotonic() - began < 20


@pytest.mark.parametrize("missing", ["bwrap", "setpriv"])
def test_sec_5_9_no_command_runs_when_a_program_of_its_sandbox_is_gone(missing: str, tmp_path: Path) -> None:
    if missing == "setpriv" and os.geteuid() != 0:
        pytest.skip("only root becomes another user with it")
    for name in {"bwrap", "setpriv"} - {missing}:
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    with new_world() as world, pytest.raises(Parked, match=f"{missing} is not installed"):
        Bubblewrap(path=str(tmp_path)).run(Command(arguments=("touch", "ran"), tree=world.tree))

    assert not (world.tree / "ran").exists()


# --- the jail --------------------------------------------------------------------------------------------------------


class FaultyJail(Jail):
    """A jail whose every method is the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(Path("/nonexistent"))
        self.read = self.write = self.remove = self.list = fault  # type: ignore[method-assign,assignment]


def use(space: Workspace, tool: str, arguments: Mapping[str, object]) -> str:
    return Tools(EntryPoint.DEVELOP, space, budget()).use(tool, arguments).text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": "canary.txt"}),
        ("edit", {"path": "src/shop/cart.py", "old": "sum", "new": "max"}),
        ("search", {"text": "canary"}),
    ],
)
def test_sec_5_9_no_tool_gives_or_changes_a_file_when_the_jail_fails(
    fault: Fault, tool: str, arguments: dict[str, object], tmp_path: Path
) -> None:
    space = workspace(tmp_path, {**SHOP, "canary.txt": "canary"})
    before = (space.tree / CART).read_bytes()
    works = use(space, tool, arguments)
    assert "canary" in works or works.startswith("edited"), "with a jail that works it does: the control"
    space.reset()
    space._jail = FaultyJail(fault)
    shown = list[str]()

    comes_to_nothing(
        fault,
        lambda: shown.append(use(space, tool, arguments)),
        lambda: any("canary" in text for text in shown) or (space.tree / CART).read_bytes() != before,
    )


def test_sec_5_9_what_the_jail_did_not_write_is_in_no_patch(tmp_path: Path) -> None:
    space = workspace(tmp_path, SHOP)
    space._jail = FaultyJail(Fault("raises"))

    with pytest.raises(Broken):
        space.write(CART, FIXED.encode())

    assert not space.patch()


def test_sec_5_9_the_jail_never_waits_for_what_it_opens(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    began = time.monotonic()

    with pytest.raises(Refused):
        Jail(tmp_path).read("pipe")

    assert time.monotonic() - began < 5


# --- policy, leak check and gate -------------------------------------------------------------------------------------


class FaultyPolicy(Policy):
    """A policy whose list of patterns is the fault."""

    fault: Fault

    def __getattribute__(self, name: str) -> object:
        if name == "protected":
            return object.__getattribute__(self, "fault")()
        return object.__getattribute__(self, name)


def faulty_policy(fault: Fault) -> Policy:
    policy = object.__new__(FaultyPolicy)
    for name, value in {"files_at_most": 20, "bytes_at_most": 200_000, "lines_at_most": None, "fault": fault}.items():
        object.__setattr__(policy, name, value)
    object.__setattr__(policy, "binary_allowed", False)
    return policy


class FaultyScrubber(Scrubber):
    """A leak check that is the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(())
        self.leaks = fault  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("wall", ["policy", "leak check"])
def test_sec_5_9_nothing_runs_and_no_verdict_is_given_when_a_wall_of_the_gate_fails(
    fault: Fault, wall: str, bench: Bench
) -> None:
    bench.space.reset()
    patch = bench.patch({CART: FIXED})
    verdicts = list[object]()
    faulty = (faulty_policy(fault), None) if wall == "policy" else (None, FaultyScrubber(fault))

    comes_to_nothing(
        fault,
        lambda: verdicts.append(decide(bench.judge(patch, policy=faulty[0], scrubber=faulty[1]))),
        lambda: bool(verdicts) or (bench.spaces._folder / "gate").exists(),
    )
