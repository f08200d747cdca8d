"""Where foreign commands run: what a command is, what came of it, and the levels of isolation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Level(StrEnum):
    """How strongly a command is kept apart."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"  # weaker: other processes are visible, path-named sockets can be reached
    PLAIN = "plain"  # a cleaned environment and limits only


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command in a tree.

    `tree` is the one folder that it may write; `folder` is where it starts, relative to `tree`. `readable` are further
    paths that it may read. `channel` is the number of a file descriptor, opened by the sandbox, on which the command
    reports back and which is no file that it could reopen; what came is in `Ran.reported`. `secret` is written to a
    second descriptor that the command reads once. The environment is these variables and nothing else.
    """

    arguments: tuple[str, ...]
    tree: Path
    folder: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    stdin: bytes = b""
    channel: int | None = None
    secret_channel: int | None = None
    secret: bytes = b""
    timeout_seconds: float = 600.0
    tree_writable: bool = True


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came of a command. `output` is stdout and stderr together: head and tail of at most 64 KiB."""

    exit_status: int | None  # None when it was killed by a limit
    timed_out: bool
    output: str
    reported: bytes
    seconds: float
    level: Level
