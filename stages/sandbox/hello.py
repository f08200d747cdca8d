"""The first message of a TLS connection, which names the host that is meant (RFC 8446, 4.1.2; RFC 6066, 3).

Many hosts answer at one address: without a look at the name, a tunnel to one of them leads to all. What is said inside
the encryption cannot be seen: that a host serves others by a header there is for the operator to know.
"""

from __future__ import annotations

import select
import socket
from typing import Final

from memory.errors import Told
from stages.sandbox.hosts import USUAL_PORT, Host

_AT_MOST: Final = 16 * 1024  # bytes
_RECORDS_AT_MOST: Final = 8  # in which it may come; one is usual
_PART: Final = 8192
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D  # extensions; the second hides another name


class OtherHost(Told):
    """{name} by a connection to {host}"""


class _NotYet(Exception):
    """More must come before it can be read."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise _NotYet
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width))

    def vector(self, width: int) -> bytes:
        """What stands behind its own length."""
        return self.take(self.number(width))

    @property
    def left(self) -> int:
        return len(self._data) - self._at


def greeting(client: socket.socket, server: socket.socket, host: Host, said: bytes = b"") -> bytes:
    """What the client says first, which begins with `said` and may go to the server.

    Of a TLS connection it is the whole first message, and that names `host`. Other protocols pass as they are on other
    ports than that of TLS. Raises OtherHost, also for a message that names nobody, or that cannot be read, and OSError.
    """
    if not said and host.port != USUAL_PORT:
        ready, _, _ = select.select([client, server], [], [], client.gettimeout())
        if not ready:
            raise TimeoutError
        said = client.recv(_PART) if client in ready else b""
    while host.port == USUAL_PORT or said[:1] == bytes([_HANDSHAKE]):
        try:
            name = _name_in(said)
        except _NotYet:
            part = client.recv(_PART)
            if not part or len(said) + len(part) > _AT_MOST:
                raise OtherHost(name="nobody", host=host) from None
            said += part
            continue
        if name != host.name:
            raise OtherHost(name=name or "nobody", host=host)
        break
    return said


def _name_in(said: bytes) -> str:
    """The name in a whole first message; empty where there is none, or where another one may hide."""
    records, message = _Reader(said), b""
    for _ in range(_RECORDS_AT_MOST):
        if records.number(1) != _HANDSHAKE:
            return ""
        records.take(2)
        message += records.vector(2)
        length = 4 + int.from_bytes(message[1:4])
        if len(message) >= max(4, length):
            break
    if message[:1] != bytes([_CLIENT_HELLO]) or len(message) < length:
        return ""
    try:
        return _name_of(_Reader(message[4:length]))
    except _NotYet:  # its lengths are wrong
        return ""


def _name_of(body: _Reader) -> str:
    body.take(2 + 32)  # version, random
    for width in (1, 2, 1):  # session, ciphers, compression
        body.vector(width)
    extensions = _Reader(body.vector(2) if body.left else b"")
    names: list[bytes] = []
    while extensions.left:
        kind, data = extensions.number(2), extensions.vector(2)
        if kind == _ENCRYPTED_HELLO:
            return ""
        if kind == _SERVER_NAME:
            entry = _Reader(_Reader(data).vector(2))
            entry.take(1)
            names.append(entry.vector(2))
            if entry.left:
                return ""
    return names[0].decode("ascii", "replace").lower().rstrip(".") if len(names) == 1 else ""
