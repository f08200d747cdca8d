"""What a command is, what came of it, the levels of isolation and the bounds of every command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

CHANNELS_BELOW: Final = 100
"""Numbers of channels lie from 3 to this one; what the sandbox opens for itself lies above while it starts."""

_MIB: Final = 2**20


class Level(StrEnum):
    """How strongly a command is kept apart."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"  # weaker: no process, mount or IPC namespace of its own, no sized temporary folder
    PLAIN = "plain"  # a cleaned environment, another user where we are root, and limits; nothing else


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command in a tree.

    `tree` is the one folder that it may write; `folder` is where it starts, relative to `tree`. Which path the command
    sees as that of its tree, `Sandbox.inside` tells. `readable` are further paths that it may read, at the paths that
    they have outside. `channel` is the number (3 to 99) of a file descriptor, opened by the sandbox, on which the
    command reports back and which is no file that it could reopen; what came is in `Ran.reported`. `secret` is written
    to a second descriptor, `secret_channel`, that the command reads once. The environment is PATH, HOME, TMPDIR and
    LANG as the sandbox sets them, under these variables, and nothing else. `lent` are places in its tree where there is
    nothing, and folders outside: a folder is made there that shows, read-only, what is in the one outside. `reserves`
    is for programs that reserve far more addresses than they use memory, as V8 and the JVM do. `hosts` are places in
    the network, as `name`, `name:port` or an address, that it may reach through an HTTP proxy which its environment
    names; all else stays closed. `kept` is a further folder that it may write, at the path that it has outside.
    `staying` are the arguments, but for the number of a socket after them, of the same program as a process that stays
    and forks for each run; only `warm` starts it.
    """

    arguments: tuple[str, ...]
    tree: Path
    folder: str = "."
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    readable: tuple[Path, ...] = ()
    stdin: bytes = b""
    channel: int | None = None
    secret_channel: int | None = None
    secret: bytes = field(default=b"", repr=False)
    timeout_seconds: float = 600.0
    tree_writable: bool = True
    lent: tuple[tuple[str, Path], ...] = ()
    reserves: bool = False
    hosts: tuple[str, ...] = ()
    kept: Path | None = None
    staying: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of a command. `output` is stdout and stderr together: head and tail of at most 64 KiB.

    `exit_status` is 128 + the signal's number for a command that a signal ended.
    """

    exit_status: int | None  # None when the sandbox killed it: time-out, a full disk or too much memory
    timed_out: bool
    output: str
    reported: bytes
    seconds: float
    level: Level
    reported_cut: bool = False  # more was reported than the bounds allow, and left out
    filled_disk: bool = False  # killed because its files grew past the bounds
    filled_memory: bool = False  # killed because all its processes together took more than the bounds
    reached: tuple[str, ...] = ()  # hosts that it was connected to
    refused: tuple[str, ...] = ()  # hosts that it asked for and that are not on its list


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What one command may use.

    Memory and processor time count per process, and memory again for all processes together; processes and temporary
    files count for the whole command.
    """

    memory_bytes: int = 8 * 1024 * _MIB
    reserved_bytes: int = 1024 * 1024 * _MIB  # addresses, for a command that reserves them
    cpu_seconds: int = 3_600
    file_bytes: int = 2 * 1024 * _MIB
    open_files: int = 4_096
    processes: int = 512
    temporary_bytes: int = 512 * _MIB  # of /tmp, and again of the home folder and of /dev/shm
    tree_bytes: int = 8 * 1024 * _MIB
    tree_files: int = 512 * 1024  # as many as an ext4 of that size can hold
    output_bytes: int = 64 * 1024
    reported_bytes: int = 64 * _MIB
    together_bytes: int = 8 * 1024 * _MIB  # of memory; never more than three quarters of the machine's
    network_bytes: int = 8 * 1024 * _MIB  # both ways, to the hosts of a command that has any
