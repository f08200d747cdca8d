"""Starts a process that inherits exactly the descriptors it is given, at the numbers they are promised at."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from typing import Final

from stages.sandbox.command import CHANNELS_BELOW

_STANDARD: Final = 3  # stdin, stdout, stderr


def spawn(arguments: list[str], descriptors: Mapping[int, int]) -> int:
    """The id of a new process with an empty environment, in a session of its own, with just these descriptors.

    `descriptors` maps numbers in the child to descriptors of ours. The first argument is an absolute path. Raises
    OSError when the program cannot be started.
    """
    # An empty environment, because what a launcher holds can be read from inside through /proc/1/environ.
    with _moved_up(descriptors) as moved:
        actions = [(os.POSIX_SPAWN_DUP2, ours, number) for number, ours in moved.items()]
        return os.posix_spawn(
            arguments[0],
            arguments,
            {},
            file_actions=[*actions, *_closes(moved)],
            setsid=True,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM),
        )


@contextlib.contextmanager
def _moved_up(descriptors: Mapping[int, int]) -> Iterator[dict[int, int]]:
    # Above all promised numbers, so that no copy overwrites one that is still needed.
    moved: dict[int, int] = {}
    try:
        for number, ours in descriptors.items():
            moved[number] = fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, CHANNELS_BELOW)
        yield moved
    finally:
        for copy in moved.values():
            os.close(copy)


def _closes(moved: Mapping[int, int]) -> list[tuple[int, int]]:
    # Ours close themselves; what was inherited from whoever started us does not.
    inherited = [
        number for number in map(int, os.listdir("/proc/self/fd")) if number >= _STANDARD and _inheritable(number)
    ]
    return [(os.POSIX_SPAWN_CLOSE, number) for number in inherited if number not in moved]


def _inheritable(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # the descriptor of the listing itself
        return False


def numbers(taken: Mapping[int, object]) -> Iterator[int]:
    """Numbers that are free in the child."""
    return (number for number in range(_STANDARD, CHANNELS_BELOW) if number not in taken)


class Line:
    """One connection with the child: `ours` and `theirs`, each open until it is closed."""

    def __init__(self, ours: int, theirs: int) -> None:
        self.ours, self.theirs = ours, theirs

    @classmethod
    def from_child(cls) -> Line:
        """A pipe that the child writes; a pipe, because programs open /dev/stdout anew."""
        read, write = os.pipe2(os.O_CLOEXEC)
        return cls(read, write)

    @classmethod
    def to_child(cls) -> Line:
        """A pipe that the child reads."""
        read, write = os.pipe2(os.O_CLOEXEC)
        return cls(write, read)

    @classmethod
    def report(cls) -> Line:
        """A socket that the child writes; a socket, because nobody can open one anew through /proc."""
        ours, theirs = socket.socketpair()
        ours.shutdown(socket.SHUT_WR)
        return cls(ours.detach(), theirs.detach())

    @classmethod
    def secret(cls) -> Line:
        """A socket that the child reads."""
        ours, theirs = socket.socketpair()
        theirs.shutdown(socket.SHUT_WR)
        return cls(ours.detach(), theirs.detach())

    @classmethod
    def holding(cls, name: str, data: bytes) -> Line:
        """A file in memory that the child reads from its beginning."""
        theirs = os.memfd_create(name)
        left = memoryview(data)
        while left:
            left = left[os.write(theirs, left) :]
        os.lseek(theirs, 0, os.SEEK_SET)
        return cls(-1, theirs)
