"""The one door from a sandbox to the network: an HTTP proxy of ours that opens to the hosts on a list, and no other.

It runs outside and looks names up itself. What it listens on lies in the sandbox's own network: the command's first
program makes that socket and hands it out, so that nothing of ours stays inside.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from memory.text import one_line
from stages.sandbox.hello import OtherHost, greeting
from stages.sandbox.hosts import Host
from stages.sandbox.proxy_request import BadRequest, Request, read_request
from stages.sandbox.tunnel import Allowance, connect, relay

DOOR_PORT: Final = 51_128
"""Where a command finds the proxy on its loopback."""

_CONNECTIONS_AT_MOST: Final = 64
_WAITS_SECONDS: Final = 0.2
_HEAD_WITHIN_SECONDS: Final = 30.0
_SPEAKS_WITHIN_SECONDS: Final = 600.0  # a connection may be made ahead
_TOLD_AT_MOST: Final = 40  # hosts of each kind
_TOLD_CHARACTERS: Final = 200  # of each
_OPENED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"

Connect = Callable[[Host], socket.socket]


class Outlet:
    """Serves one command, from when it hands out its socket until it is closed. `reached` and `refused` are hosts."""

    def __init__(self, hosts: Iterable[str], *, bytes_at_most: int, connect: Connect = connect) -> None:
        self._allowed = frozenset(Host.parse(host) for host in hosts)
        self._connect = connect
        self._allowance = Allowance(bytes_at_most)
        self._places = threading.BoundedSemaphore(_CONNECTIONS_AT_MOST)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._reached: dict[str, None] = {}
        self._refused: dict[str, None] = {}
        self._open: set[socket.socket] = set()
        self._thread: threading.Thread | None = None

    @property
    def reached(self) -> tuple[str, ...]:
        return tuple(self._reached)

    @property
    def refused(self) -> tuple[str, ...]:
        return tuple(self._refused)

    def serve(self, line: int) -> None:
        """Begin, in a thread of its own. `line` is a socket over which the listening one comes; it is ours to close."""
        self._thread = threading.Thread(target=self._wait, args=(line,), name="outlet", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End every connection."""
        self._closing.set()
        self._allowance.end()
        with self._lock:
            for end in self._open:  # one may wait to write
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join()

    def _wait(self, line: int) -> None:
        with socket.socket(fileno=line) as ours:
            ours.settimeout(_WAITS_SECONDS)
            while not self._closing.is_set():
                try:
                    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
                except TimeoutError:
                    continue
                except OSError:
                    return
                if not descriptors:  # the command ended, or is another one than ours
                    return
                with socket.socket(fileno=descriptors[0]) as listening:
                    self._accept(listening)
                return

    def _accept(self, listening: socket.socket) -> None:
        listening.settimeout(_WAITS_SECONDS)
        while not self._closing.is_set():
            try:
                client, _ = listening.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            if not self._places.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._serve, args=(client,), name="outlet-connection", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with self._held(client), contextlib.suppress(OSError):
                client.settimeout(_HEAD_WITHIN_SECONDS)
                self._answer(client)
        finally:
            self._places.release()

    def _answer(self, client: socket.socket) -> None:
        try:
            request = read_request(client)
        except BadRequest as bad:
            return _say(client, 400, str(bad))
        if request.host not in self._allowed:
            self._note(self._refused, request.host)
            return _say(client, 403, f"{request.host} is not on the list of hosts that this command may reach")
        try:
            server = self._connect(request.host)
        except OSError as error:
            return _say(client, 502, f"{request.host} cannot be reached: {error}")
        with self._held(server):
            self._join(client, server, request)
        return None

    def _join(self, client: socket.socket, server: socket.socket, request: Request) -> None:
        first = request.forwarded
        if request.tunnel:
            client.sendall(_OPENED)
        if request.tunnel and not request.host.named_on_purpose:
            client.settimeout(_SPEAKS_WITHIN_SECONDS)
            try:
                first = greeting(client, server, request.host, first)
            except OtherHost as other:
                return self._note(self._refused, other)
        self._note(self._reached, request.host)
        if self._allowance.take(len(first)):
            server.sendall(first)
            relay(client, server, self._allowance)
        return None

    @contextlib.contextmanager
    def _held(self, end: socket.socket) -> Iterator[None]:
        with end:
            with self._lock:
                self._open.add(end)
            try:
                yield
            finally:
                with self._lock:
                    self._open.discard(end)

    def _note(self, kind: dict[str, None], what: Host | OtherHost) -> None:
        with self._lock:
            if len(kind) < _TOLD_AT_MOST:
                kind[one_line(str(what))[:_TOLD_CHARACTERS]] = None


def _say(client: socket.socket, status: int, text: str) -> None:
    body = f"ticketsmith: {text}\n".encode(errors="replace")
    head = f"HTTP/1.1 {status} Refused\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    client.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
