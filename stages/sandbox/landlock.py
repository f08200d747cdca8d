"""The weaker level: Landlock and a system call filter around a command that shares our namespaces.

What it leaves open against bubblewrap: the command counts and can signal processes of its own user (signals only below
Landlock's version 6), may change modes and times of that user's files anywhere, and its temporary files lie on disk. No
socket can be made at all, because a path-named one would reach whatever listens outside.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from stages.sandbox.command import Command, Level
from stages.sandbox.launched import Launched
from stages.sandbox.seccomp import filter_program

VERSION_AT_LEAST: Final = 4
"""Of Landlock (Linux 6.7): since then it can close TCP."""

_READABLE: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc/ld.so.cache", "/etc/alternatives"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"),
    *("/etc/nsswitch.conf", "/etc/hosts", "/etc/passwd", "/etc/group"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/loadavg", "/proc/version"),
    *("/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max", "/sys/devices/system/cpu/online"),
)
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def _kept(command: Command) -> tuple[str, ...]:
    return () if command.kept is None else (str(command.kept),)


class Landlock(Launched):
    """Commands that see the system's files and write their tree, and reach neither network nor foreign processes."""

    level: ClassVar[Level] = Level.LANDLOCK

    def _walls(self, command: Command, home: Path) -> Mapping[str, object]:
        # Rules hang on what a path leads to, and a link is followed when it is opened: both ends need one.
        further = {str(end) for path in command.readable for end in (path, path.resolve())}
        read_only = () if command.tree_writable else (str(command.tree),)
        rules = {
            "readable": [*_READABLE, *sorted(further), *read_only],
            "writable": [str(home), *(() if read_only else (str(command.tree),)), *_kept(command)],
            "devices": _DEVICES,
        }
        program = filter_program(namespaces=False)
        return {"landlock": rules, "filter": base64.b64encode(program).decode("ascii")}
