"""All lines between us and one command, and what came over them."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from stages.sandbox.capture import Capped, HeadAndTail
from stages.sandbox.command import Bounds, Command
from stages.sandbox.outlet import Outlet
from stages.sandbox.pump import Pump
from stages.sandbox.spawn import Line, numbers, spawn

_STATUS_AT_MOST: Final = 64 * 1024


class Wires:
    """Lines by the number that they have in the child: standard ones, channels, and those of the sandbox itself.

    `user` is the id that the command runs under when that is not ours.
    """

    def __init__(self, command: Command, bounds: Bounds, user: int | None) -> None:
        self.pump = Pump()
        self.output = HeadAndTail(bounds.output_bytes)
        self.reported = Capped(bounds.reported_bytes)
        self._status = Capped(_STATUS_AT_MOST)
        self._told, self._lines_read = dict[str, object](), 0
        self._theirs: dict[int, int] = {}
        self._held: list[int] = []
        self.outlet = Outlet(command.hosts, bytes_at_most=bounds.network_bytes) if command.hosts else None
        self._standard(command, user)
        self._channels(command)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_theirs()
        self.hang_up()
        self.pump.close()
        if self.outlet is not None:
            self.outlet.close()

    def status(self) -> int:
        """The number of a line on which the sandbox tells what becomes of the command."""
        number = self._free()
        self.drain(number, Line.report(), self._status.add)
        return number

    def file(self, name: str, data: bytes) -> int:
        """The number of a file in memory."""
        number = self._free()
        self._theirs[number] = Line.holding(name, data).theirs
        return number

    def hold(self) -> int:
        """The number of a line that carries nothing and stays open until `hang_up`."""
        number, line = self._free(), Line.secret()
        self._theirs[number] = line.theirs
        self._held.append(line.ours)
        return number

    def door(self, outlet: Outlet) -> int:
        """The number of a line over which the sandbox hands out the socket that the proxy listens on."""
        number, (ours, theirs) = self._free(), socket.socketpair()
        self._theirs[number] = theirs.detach()
        outlet.serve(ours.detach())
        return number

    def talk(self) -> tuple[int, socket.socket]:
        """The number of a line that carries orders, and our end of it."""
        number, (ours, theirs) = self._free(), socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._theirs[number] = theirs.detach()
        return number, ours

    def drain(self, number: int, line: Line, add: Callable[[bytes], None]) -> None:
        self._theirs[number] = line.theirs
        self.pump.drain(line.ours, add)

    def feed(self, number: int, line: Line, data: bytes) -> None:
        self._theirs[number] = line.theirs
        self.pump.feed(line.ours, data)

    def spawn(self, arguments: list[str]) -> int:
        """The id of a process that has the other ends of all lines, which are no longer ours then."""
        try:
            return spawn(arguments, self._theirs)
        finally:
            self._close_theirs()

    def hand_over(self, line: socket.socket, order: Mapping[str, object]) -> None:
        """Give the process that listens on `line` an order, and the other ends of all lines, which are no longer ours
        then; under `numbers` stands which is which. Raises OSError when nobody listens."""
        try:
            text = json.dumps({**order, "numbers": list(self._theirs)}).encode()
            socket.send_fds(line, [text], list(self._theirs.values()))
        finally:
            self._close_theirs()

    def hang_up(self) -> None:
        """Close our ends of the lines that are held."""
        while self._held:
            os.close(self._held.pop())

    def told(self, key: str) -> object:
        """The value that the sandbox last told under this key, or None."""
        lines = self._status.data.split(b"\n")[:-1]  # what follows the last has not all come yet
        for line in lines[self._lines_read :]:
            with contextlib.suppress(ValueError):
                self._told |= json.loads(line)
        self._lines_read = len(lines)
        return self._told.get(key)

    def _standard(self, command: Command, user: int | None) -> None:
        stdin, output = Line.to_child(), Line.from_child()
        self.feed(0, stdin, command.stdin)
        self.drain(1, output, self.output.add)
        self._theirs[2] = os.dup(output.theirs)
        if user is not None:
            for pipe in (stdin.theirs, output.theirs):
                os.fchown(pipe, user, user)  # programs open /dev/stdin and /dev/stderr anew

    def _channels(self, command: Command) -> None:
        if command.channel is not None:
            self.drain(command.channel, Line.report(), self.reported.add)
        if command.secret_channel is not None:
            self.feed(command.secret_channel, Line.secret(), command.secret)

    def _free(self) -> int:
        return next(numbers(self._theirs))

    def _close_theirs(self) -> None:
        while self._theirs:
            os.close(self._theirs.popitem()[1])
