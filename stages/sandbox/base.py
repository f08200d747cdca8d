"""What every level has in common: a checked command goes in, what came of it comes out, and nothing stays behind."""

from __future__ import annotations

import errno
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final, final

from stages.errors import ParkCause, Parked, Refused, Stopped
from stages.sandbox.command import CHANNELS_BELOW, Bounds, Command, Level, Ran
from stages.sandbox.faults import NoNetwork, NoStart, Unusable
from stages.sandbox.growth import Growth, Used
from stages.sandbox.hosts import Host
from stages.sandbox.memory import Memory
from stages.sandbox.orphans import adopted
from stages.sandbox.running import Followed, Guard, Killed, follow
from stages.sandbox.tree import give, user_for
from stages.sandbox.wires import Wires

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_LIVING: Final = frozenset({"proc", "sys", "dev", "run"})  # folders below the root
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder below it is one like others, and no device
_MAY_BE_READ_WHOLE: Final = tuple(map(Path, ("/usr", "/opt", "/nix", "/gnu")))
_CHANGING_PROGRAMS: Final = ("GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH")  # with LD_*: ld.so(8), locale(7)
_REASON_AT_MOST: Final = 600  # characters
_WHY_KILLED: Final[Mapping[Killed | None, bytes]] = {
    Killed.DISK: b"\n(ended, because it put more on disk than a command may)\n",
    Killed.MEMORY: b"\n(ended, because all its processes together took more memory than a command may)\n",
}
_KILLED_THE_LAUNCHER: Final = b"\n(the command ended the process that watched over it, and was ended for that)\n"


def never() -> bool:
    return False


class Sandbox(ABC):
    """Runs commands at one level. Only `probe` and `choose` know which level can be used here."""

    level: ClassVar[Level]

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()

    @final
    def run(self, command: Command, *, stopped: Callable[[], bool] = never) -> Ran:
        """Run a command to its end, and leave no process of it behind.

        The tree is the command's afterwards (`own`): it must be a copy made for commands, never a person's checkout.
        Raises Refused for a command that asks for more than a command may have, Parked when the sandbox itself cannot
        work, Stopped when `stopped`, asked twice a second, says so.
        """
        checked = _checked(command)
        try:
            return self._run(checked, stopped)
        except Unusable as error:
            raise self._parked(str(error)) from error
        except OSError as error:
            cause = ParkCause.DISK if error.errno in (errno.ENOSPC, errno.EDQUOT) else ParkCause.SANDBOX
            raise self._parked(str(error), cause) from error

    @abstractmethod
    def inside(self, tree: Path) -> PurePosixPath:
        """The path at which a command sees this tree."""

    @abstractmethod
    def _started(
        self, command: Command, wires: Wires, user: int | None
    ) -> AbstractContextManager[tuple[Followed, tuple[Path, ...]]]:
        """Start a command, and leave nothing of it; gives the job and the folders on disk that it can fill."""

    def _run(self, command: Command, stopped: Callable[[], bool]) -> Ran:
        begun, user = time.monotonic(), user_for(command.tree)
        if command.hosts and self.level is Level.LANDLOCK:
            raise NoNetwork(hosts=", ".join(command.hosts))
        if user is not None:
            for folder in (
                *([command.tree] if command.tree_writable else []),
                *([command.kept] if command.kept else []),
            ):
                give(folder, user)
        with (
            Wires(command, self._bounds, user) as wires,
            self._orphans_kept(),
            self._started(command, wires, user) as (job, folders),
        ):
            killed = follow(job, wires, self._guard(command, stopped, folders, job.pid))
        if killed is Killed.STOP:
            raise Stopped
        return self._ran(wires, killed, time.monotonic() - begun)

    def _orphans_kept(self) -> AbstractContextManager[None]:
        # The kernel ends a namespace of processes whole, and bwrap leaves the last of it to whoever adopts.
        return nullcontext() if self.level is Level.BUBBLEWRAP else adopted()

    def _guard(self, command: Command, stopped: Callable[[], bool], folders: tuple[Path, ...], pid: int) -> Guard:
        at_most = Used(bytes=self._bounds.tree_bytes, files=self._bounds.tree_files)
        kept = () if command.kept is None else (command.kept,)
        return Guard(
            command.timeout_seconds,
            stopped,
            Growth((*folders, *kept), at_most),
            Memory(pid, at_most=self._bounds.together_bytes),
        )

    def _ran(self, wires: Wires, killed: Killed | None, seconds: float) -> Ran:
        status = wires.told("exit-code")
        failed = wires.told("error")
        if killed is None and (failed or not isinstance(status, int)):
            if failed or not wires.told("started"):
                raise NoStart(reason=str(failed or wires.output.text or "it ended without a status").strip())
            wires.output.add(_KILLED_THE_LAUNCHER)
            status = 128 + signal.SIGKILL  # which the kernel sends to a command without a launcher
        wires.output.add(_WHY_KILLED.get(killed, b""))
        return Ran(
            exit_status=status if killed is None and isinstance(status, int) else None,
            timed_out=killed is Killed.TIME,
            output=wires.output.text,
            reported=wires.reported.data,
            seconds=seconds,
            level=self.level,
            reported_cut=wires.reported.cut,
            filled_disk=killed is Killed.DISK,
            filled_memory=killed is Killed.MEMORY,
            reached=wires.outlet.reached if wires.outlet else (),
            refused=wires.outlet.refused if wires.outlet else (),
        )

    def _parked(self, reason: str, cause: ParkCause = ParkCause.SANDBOX) -> Parked:
        told = f"the {self.level.value} sandbox cannot run a command: {reason[-_REASON_AT_MOST:]}"
        return Parked(cause=cause, reason=told)


def _checked(command: Command) -> Command:
    tree = command.tree.resolve()
    if not tree.exists():  # nobody asked for that: the system clears what is old away, and it is made anew
        raise Parked(cause=ParkCause.ENVIRONMENT, reason=f"the work folder is gone, somebody removed it: {tree}")
    for problem in _problems(command, tree):
        raise Refused(reason=f"this command cannot run: {problem}")
    readable = tuple(sorted({path.absolute() for path in command.readable}))
    return replace(command, tree=tree, readable=readable)


def _problems(command: Command, tree: Path) -> Iterator[str]:
    if not command.arguments or not command.arguments[0]:
        yield "it is empty"
    texts = (command.folder, *command.arguments, *command.staying, *command.environment, *command.environment.values())
    if any("\0" in text for text in texts):
        yield "a zero byte stands in its folder, arguments or environment"
        return
    if any(name.startswith("LD_") or name in _CHANGING_PROGRAMS for name in command.environment):
        yield "a variable would change the programs that make the sandbox"
    if any(not name or "=" in name for name in command.environment):
        yield "the name of an environment variable is empty or holds ="
    if not tree.is_dir() or len(tree.parts) <= 2:
        yield f"{tree} is no folder for a tree"
    inside = tree / command.folder
    if inside != tree and not (inside.is_dir() and inside.resolve().is_relative_to(tree)):
        yield f"{command.folder} is no folder of the tree"
    yield from _channel_problems(command)
    yield from _path_problems(command, tree)
    yield from _lent_problems(command, tree)
    yield from _kept_problems(command, tree)
    for host in command.hosts:
        Host.parse(host)


def _channel_problems(command: Command) -> Iterator[str]:
    channels = [number for number in (command.channel, command.secret_channel) if number is not None]
    if len(set(channels)) < len(channels) or any(not 3 <= number < CHANNELS_BELOW for number in channels):
        yield f"its channels are not two numbers from 3 to {CHANNELS_BELOW - 1}"
    if command.secret and command.secret_channel is None:
        yield "its secret has no channel"


def _path_problems(command: Command, tree: Path) -> Iterator[str]:
    for given in command.readable:
        if not given.exists():
            yield f"{given} does not exist"
            continue
        for path in {given.absolute(), given.resolve()}:
            whole = len(path.parts) <= 2 and path not in _MAY_BE_READ_WHOLE
            if whole or tree.is_relative_to(path) or _is_living(path):
                yield f"{given} is too much to read"


def _is_living(path: Path) -> bool:
    """Whether it belongs to the running system: devices, processes, sockets."""
    return not _LIVING.isdisjoint(path.parts[1:2]) and _IN_MEMORY not in path.parents


def _lent_problems(command: Command, tree: Path) -> Iterator[str]:
    for place, folder in command.lent:
        here = tree / place
        if not folder.is_dir() or len(folder.parts) <= 2 or tree.is_relative_to(folder):
            yield f"{folder} is no folder that can be lent"
        # A link on the way would make the sandbox work outside of the tree.
        if not here.parent.is_dir() or here.parent.resolve() != here.parent or not here.is_relative_to(tree):
            yield f"{place} is no place in the tree"
        elif here.is_symlink() or (here.exists() and not (here.is_dir() and _is_empty(here))):
            yield f"something is at {place} in the tree already"


def _kept_problems(command: Command, tree: Path) -> Iterator[str]:
    kept = command.kept
    if kept is None:
        return
    # A link on the way would open what it leads to.
    if not kept.is_dir() or kept.resolve() != kept or len(kept.parts) <= 2 or tree.is_relative_to(kept):
        yield f"{kept} is no folder that a command may keep"
    if kept.is_relative_to(tree):
        yield f"{kept} lies in the tree"


def _is_empty(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        return next(entries, None) is None
