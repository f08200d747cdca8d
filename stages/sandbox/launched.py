"""The levels without namespaces: a launcher of ours starts the command, and kills all that it leaves behind."""

from __future__ import annotations

import json
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from stages.sandbox import launcher
from stages.sandbox.base import SYSTEM_PATH, Sandbox
from stages.sandbox.command import Command
from stages.sandbox.lent import shown
from stages.sandbox.limits import DIES_FIRST, limits
from stages.sandbox.running import Job
from stages.sandbox.tree import give, remove
from stages.sandbox.wires import Wires

_OTHERS_MAY_PASS: Final = 0o001


class LaunchedJob(Job):
    """A job whose launcher kills all processes below it when we hang up, or when we die."""

    def kill(self) -> None:
        self._wires.hang_up()


class Launched(Sandbox):
    """A level that has no mounts of its own: a command sees its tree where it is."""

    def inside(self, tree: Path) -> PurePosixPath:
        return PurePosixPath(tree.resolve())

    @abstractmethod
    def _walls(self, command: Command, home: Path) -> Mapping[str, object]:
        """`landlock` and `filter` of the launcher's order."""

    @contextmanager
    def _started(self, command: Command, wires: Wires, user: int | None) -> Iterator[tuple[Job, tuple[Path, ...]]]:
        home = Path(tempfile.mkdtemp(prefix="ticketsmith-home-"))
        command = replace(command, readable=(*command.readable, *(folder for _, folder in command.lent)))
        try:
            (home / "tmp").mkdir()
            if user is not None:
                give(home, user)
            order = json.dumps(self._order(command, home, user)).encode()
            numbers = (wires.file("order", order), wires.hold(), wires.status())
            with shown(command, user, by_links=True):
                pid = wires.spawn([sys.executable, "-I", "-S", launcher.__file__, *map(str, numbers)])
                job = LaunchedJob(pid, wires)
                try:
                    yield job, (command.tree, home)
                finally:
                    job.finish()
        finally:
            remove(home)

    def _order(self, command: Command, home: Path, user: int | None) -> Mapping[str, object]:
        ours = {"PATH": SYSTEM_PATH, "HOME": str(home), "TMPDIR": str(home / "tmp"), "LANG": "C.UTF-8"}
        return {
            "arguments": command.arguments,
            "environment": ours | dict(command.environment),
            "folder": str(command.tree / command.folder),
            "channels": [number for number in (command.channel, command.secret_channel) if number is not None],
            "user": user,
            "reads_past_modes": user is not None and _closed_to_others(command),
            "dies_first": DIES_FIRST,
            "limits": list(limits(self._bounds, reserves=command.reserves).items()),
            **self._walls(command, home),
        }


def _closed_to_others(command: Command) -> bool:
    # Without mounts of our own, what lies below root's home is out of reach for any other user but by this capability.
    kept = () if command.kept is None else (command.kept,)
    needed = [command.tree, *kept, *command.readable, *(path.resolve() for path in command.readable)]
    folders = {folder for path in needed for folder in path.parents}
    return any(not folder.stat().st_mode & _OTHERS_MAY_PASS for folder in folders)
