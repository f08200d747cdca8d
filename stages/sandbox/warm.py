"""The strongest level with a process that stays: it has loaded what runs need, and each run is a fork of it.

For what informs an agent, many times on the same tree, and never for what decides: whatever judges a patch has a fresh
sandbox for each run. The walls are those of every command. Between two runs the process that stays takes away
everything of the first (`stages/collector/server.py`); where that is not sure, and for commands that cannot be run so,
there is a fresh sandbox.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from stages.sandbox.base import Sandbox
from stages.sandbox.bubblewrap import PROGRAMS, TREE, Bubblewrap
from stages.sandbox.command import Bounds, Command, Ran
from stages.sandbox.faults import Unusable
from stages.sandbox.running import Followed
from stages.sandbox.wires import Wires

_AGAIN_SECONDS_AT_LEAST: Final = 1.0
_QUEUES: Final = "/queues"  # those of mq_overview(7) stay when processes end, and cannot be seen without this


class Gone(Unusable):
    """the process that stays has ended"""

    def __init__(self, *, served: bool) -> None:
        super().__init__()
        self.served = served


def warm(sandbox: Sandbox) -> AbstractContextManager[Sandbox]:
    """A sandbox like this one, with a process that stays until the end of the context; at other levels this one."""
    return Warm.like(sandbox) if type(sandbox) is Bubblewrap else nullcontext(sandbox)


class Warm(Bubblewrap):
    """Runs commands that have `staying` in one sandbox after the other as long as that goes well.

    For one thread: the process that stays dies with the one that began it. A run that loses that process is run again
    in a fresh sandbox, with the time that it has left.
    """

    def __init__(self, bounds: Bounds | None = None, *, path: str = PROGRAMS) -> None:
        super().__init__(bounds, path=path)
        self._staying = _Staying(bounds, path=path)
        self._session: Session | None = None
        self._given_up = False

    @classmethod
    def like(cls, sandbox: Bubblewrap) -> Self:
        return cls(sandbox._bounds, path=sandbox._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._given_up = True
        self._close()

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _run(self, command: Command, stopped: Callable[[], bool]) -> Ran:
        fresh = replace(command, staying=())
        if self._given_up or command.lent or command.hosts or command.kept is not None:
            return super()._run(fresh, stopped)
        until = time.monotonic() + command.timeout_seconds
        try:
            return super()._run(command, stopped)
        except Gone as gone:
            self._given_up = not gone.served  # one that cannot even begin would cost every run its start
            self._close()
            left = max(_AGAIN_SECONDS_AT_LEAST, until - time.monotonic())
            return super()._run(replace(fresh, timeout_seconds=left), stopped)

    @contextmanager
    def _started(self, command: Command, wires: Wires, user: int | None) -> Iterator[tuple[Followed, tuple[Path, ...]]]:
        if not command.staying:
            with super()._started(command, wires, user) as started:
                yield started
            return
        run = self._session_for(command, user).ask(command, wires)
        try:
            yield run, (command.tree,)
        finally:
            run.finish()

    def _session_for(self, command: Command, user: int | None) -> Session:
        same = _same(command, user)
        if self._session is not None and (self._session.same != same or self._session.job.look()):
            self._close()
        if self._session is None:
            self._session = self._staying.open(command, user, same)
        return self._session


class _Staying(Bubblewrap):
    """Starts sandboxes in which a process stays."""

    def open(self, command: Command, user: int | None, same: object) -> Session:
        """A session for runs like this one. Raises Gone when it cannot be started."""
        quiet = replace(command, stdin=b"", channel=None, secret_channel=None, secret=b"")
        with ExitStack() as stack:
            try:
                wires = stack.enter_context(Wires(quiet, self._bounds, user))
                number, line = wires.talk()
                stack.callback(line.close)
                begun = replace(quiet, arguments=(*command.staying, str(number)))
                job, _ = stack.enter_context(self._started(begun, wires, user))
                stack.callback(line.close)  # before all is killed: by a root who may not, it ends by itself
            except (Unusable, OSError) as error:
                raise Gone(served=False) from error
            return Session(job, line, same, stack.pop_all())

    def _options(self, command: Command, wires: Wires, user: int | None, lent: Iterable[tuple[Path, str]]) -> list[str]:
        # First, because all else is mounted over it.
        return ["--as-pid-1", "--mqueue", _QUEUES, *super()._options(command, wires, user, lent)]


class Session:
    """One sandbox with its process that stays. `same` is what all its runs have in common."""

    def __init__(self, job: Followed, line: socket.socket, same: object, ends: ExitStack) -> None:
        self.job, self.same, self.served = job, same, False
        self._line, self._ends = line, ends

    def ask(self, command: Command, wires: Wires) -> Run:
        """Begin a run of which all lines are these; it waits until nothing of the one before is left.

        Raises Gone when the process that stays has ended.
        """
        status = wires.status()
        order = {"arguments": command.arguments, "folder": str(TREE / command.folder), "status": status}
        try:
            wires.hand_over(self._line, order)
        except OSError as error:
            raise Gone(served=self.served) from error
        return Run(self, wires)

    def close(self) -> None:
        """Kill everything in the sandbox."""
        self._ends.close()


class Run:
    """One run of a session, as long as it is followed."""

    def __init__(self, session: Session, wires: Wires) -> None:
        self._session, self._wires = session, wires

    @property
    def pid(self) -> int:
        return self._session.job.pid

    def look(self) -> bool:
        """True once nothing of the run is left. Raises Gone when the process that stays has ended before it said so."""
        if not self._ended and self._session.job.look():
            self._wires.pump.turn(0)  # what it said last
            if not self._ended:
                raise Gone(served=self._session.served)
        self._session.served = self._session.served or self._ended
        return self._ended

    def finish(self) -> None:
        """Leave nothing of the run behind: with one that has not ended ends the session."""
        if not self._ended:
            self._session.close()

    @property
    def _ended(self) -> bool:
        return self._wires.told("exit-code") is not None


def _same(command: Command, user: int | None) -> object:
    """What two runs must have in common to be forks of one process. A folder that was made anew is another one."""
    shown = {path: _identity(path) for path in (command.tree, *command.readable)}
    fixed = (command.staying, command.folder, command.tree_writable, command.reserves)
    return fixed, user, shown, dict(command.environment)


def _identity(path: Path) -> tuple[int, int]:
    seen = path.stat()
    return seen.st_dev, seen.st_ino
