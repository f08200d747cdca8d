"""A tunnel to one host leads to no other that answers at the same address (requirement S 32)."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.sandbox.hello import OtherHost, greeting
from stages.sandbox.hosts import Host
from stages.sandbox.outlet import Outlet

SHOP = Host(name="shop.example")
NAMES = {"shop.example": True, "SHOP.example": True, "other.example": False, "shop.example.evil": False, "": False}


def hello(name: str) -> bytes:
    """What a real client says first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    came, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(came, sent, server_hostname=name or None).do_handshake()
    return sent.read()


def in_records(message: bytes, size: int) -> bytes:
    parts = [message[at : at + size] for at in range(5, len(message), size)]
    return b"".join(message[:3] + len(part).to_bytes(2) + part for part in parts)


def met(data: bytes | None, host: Host = SHOP, *, piece: int = 8192, server_says: bytes = b"") -> bytes:
    """What passes of what a client says in pieces of this size before it closes; for None it waits for the server."""
    client, theirs = socket.socketpair()
    server, far = socket.socketpair()
    with client, theirs, server, far:
        client.settimeout(5)
        far.sendall(server_says)
        sender = threading.Thread(target=_send, args=(theirs, data or b"", piece))
        if data is not None:
            sender.start()
        try:
            return greeting(client, server, host)
        finally:
            client.close()
            if data is not None:
                sender.join()


def _send(end: socket.socket, data: bytes, piece: int) -> None:
    with contextlib.suppress(OSError):
        for at in range(0, len(data), piece):
            end.sendall(data[at : at + piece])
        end.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(("name", "meant"), NAMES.items(), ids=[name or "nobody" for name in NAMES])
@pytest.mark.parametrize("piece", [1, 8192])
def test_sec_32_a_connection_by_tls_goes_to_the_host_that_it_names(name: str, meant: bool, piece: int) -> None:
    said = hello(name)

    if meant:
        assert met(said, piece=piece) == said
    else:
        with pytest.raises(OtherHost, match=f"^{name or 'nobody'} by a connection to shop.example$"):
            met(said, piece=piece)


def test_sec_32_a_name_in_several_records_is_read() -> None:
    ours, theirs = in_records(hello("shop.example"), 100), in_records(hello("other.example"), 100)

    assert met(ours) == ours
    with pytest.raises(OtherHost, match="other"):
        met(theirs)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\x16",
        b"\x16\x03\x01\x40\x00",
        b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n",
        b"\x80\x2e\x01\x03\x01" + b"x" * 60,
        in_records(hello("shop.example"), 1),
        hello("shop.example")[:-1],
        hello("shop.example").replace(b"\x01", b"\x02", 2),
        b"\x16\x03\x01\xff\xff\x01\x00\xff\xff" + b"x" * 70_000,
        hello("shop.example").replace(b"\x00\x17\x00\x00", b"\xfe\x0d\x00\x00"),  # encrypted_client_hello
    ],
    ids=range(10),
)
def test_sec_32_what_names_nobody_does_not_pass(said: bytes) -> None:
    with pytest.raises(OtherHost, match=r"nobody|other"):
        met(said)


def test_sec_32_nothing_but_tls_passes_on_its_port() -> None:
    with pytest.raises(OtherHost):
        met(b"", server_says=b"220 ready\r\n")


def test_other_protocols_pass_on_other_ports() -> None:
    elsewhere = Host(name="shop.example", port=5432)

    assert met(b"hello", elsewhere) == b"hello"
    assert met(None, elsewhere, server_says=b"220 ready\r\n") == b""
    with pytest.raises(OtherHost):
        met(hello("other.example"), elsewhere)


@given(st.binary(max_size=300))
def test_no_bytes_end_in_another_error(tail: bytes) -> None:
    data = hello("shop.example")[:60] + tail
    with contextlib.suppress(OtherHost):
        assert met(data) == data


# --- in the proxy ----------------------------------------------------------------------------------------------------


@contextmanager
def tunnel(first: bytes) -> Iterator[tuple[Outlet, socket.socket, socket.socket]]:
    """A proxy, the client's end of a tunnel to the shop over which this was said, and the shop's end."""
    far, near = socket.socketpair()
    outlet = Outlet(["shop.example"], bytes_at_most=2**20, connect=lambda _: near)
    ours, theirs = socket.socketpair()
    outlet.serve(ours.detach())
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening, theirs, far:
            socket.send_fds(theirs, [b"."], [listening.fileno()])
            with socket.create_connection(listening.getsockname(), 10) as client:
                client.sendall(b"CONNECT shop.example:443 HTTP/1.1\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 200")
                client.sendall(first)
                far.settimeout(10)
                yield outlet, client, far
    finally:
        outlet.close()


def test_sec_32_a_tunnel_to_one_host_is_closed_to_another_one_at_its_address() -> None:
    with tunnel(hello("other.example")) as (outlet, client, far):
        assert client.recv(1) == b""
        assert far.recv(1) == b""

    assert outlet.refused == ("other.example by a connection to shop.example",)
    assert outlet.reached == ()


def test_a_tunnel_carries_the_greeting_and_what_follows() -> None:
    said = hello("shop.example")
    with tunnel(said) as (outlet, client, far):
        assert far.recv(8192) == said
        far.sendall(b"answer")
        assert client.recv(100) == b"answer"

    assert outlet.reached == ("shop.example",)
