"""Connections to the outside, and what is carried between the two ends of one."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import Final

from stages.sandbox.hosts import Host, leads_astray

_CONNECTS_WITHIN_SECONDS: Final = 30.0
_IDLE_AT_MOST_SECONDS: Final = 600.0  # a model may think for minutes before its first byte
_LOOK_EVERY_SECONDS: Final = 0.2
_CHUNK: Final = 64 * 1024


class Allowance:
    """How many bytes may still go through, both ways and over all connections."""

    def __init__(self, at_most: int) -> None:
        self._left, self._lock = at_most, threading.Lock()

    def take(self, count: int) -> bool:
        """True when so many more may go."""
        with self._lock:
            self._left -= count
            return self._left >= 0

    def end(self) -> None:
        """From now on nothing may."""
        with self._lock:
            self._left = -1

    @property
    def used_up(self) -> bool:
        return self._left < 0


def connect(host: Host) -> socket.socket:
    """A connection to a host. Raises OSError, also where a name leads to an address that it may not lead to.

    The address that was looked at is the one that is connected to: a second look-up could give another.
    """
    problem = OSError(f"no address of {host} may be reached by its name")
    for family, kind, protocol, _, address in socket.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM):
        if not host.named_on_purpose and leads_astray(str(address[0])):
            continue
        server = socket.socket(family, kind, protocol)
        server.settimeout(_CONNECTS_WITHIN_SECONDS)
        try:
            server.connect(address)
        except OSError as error:
            problem = error
            server.close()
        else:
            return server
    raise problem


def relay(one: socket.socket, other: socket.socket, allowance: Allowance) -> None:
    """Carry bytes both ways until both ends have said all, nothing comes for long, or nothing more may go."""
    for end in (one, other):
        end.settimeout(_IDLE_AT_MOST_SECONDS)
    idle = 0.0
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ, other)
        selector.register(other, selectors.EVENT_READ, one)
        while selector.get_map() and idle < _IDLE_AT_MOST_SECONDS and not allowance.used_up:
            ready = selector.select(_LOOK_EVERY_SECONDS)
            idle = 0.0 if ready else idle + _LOOK_EVERY_SECONDS
            for key, _ in ready:
                source, target = key.fileobj, key.data
                assert isinstance(source, socket.socket)
                if not _moved(source, target, allowance):
                    selector.unregister(source)


def _moved(source: socket.socket, target: socket.socket, allowance: Allowance) -> bool:
    """False when nothing more comes from this side; the other side is told so."""
    data = source.recv(_CHUNK)
    if data and allowance.take(len(data)):
        target.sendall(data)
        return True
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
    return False
