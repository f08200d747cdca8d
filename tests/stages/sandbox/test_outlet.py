"""The one door to the network: open to the hosts on the list, and to nothing else (requirements S 32, B50, B64)."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from stages.errors import Parked, Refused
from stages.sandbox import Command, Level
from stages.sandbox.hosts import Host, leads_astray
from stages.sandbox.outlet import Outlet
from stages.sandbox.proxy_request import BadRequest, read_request
from stages.sandbox.tunnel import connect
from tests.stages.sandbox.registry import BODY, serving
from tests.stages.sandbox.ways import CANARY, Way, World, usable


@pytest.fixture
def bubblewrap() -> Way:
    return usable(Way(level=Level.BUBBLEWRAP))


ASK = """
import urllib.request, urllib.error
for url in urls:
    try:
        print(len(urllib.request.urlopen(url, timeout=10).read()))
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
    except OSError as error:
        print("no way:", error)
"""


def test_r60_sec_32_only_the_hosts_on_the_list_are_reached(bubblewrap: Way, world: World) -> None:
    with serving() as (listed, asked), serving() as (other, never):
        urls = [f"http://{listed}/simple/x?y=1", f"http://{other}/"]
        command = world.attack(ASK, urls=urls)

        outside = bubblewrap.outside(command)
        ran = bubblewrap.run(world.python(*command.arguments[4:], hosts=(listed,)))

        assert outside == f"{len(BODY)}\n{len(BODY)}\n", "both can be reached outside: the control"
        assert ran.output.splitlines()[0] == str(len(BODY))
        assert ran.output.splitlines()[1].startswith(f"403 ticketsmith: {other} is not on the list")
        assert (ran.reached, ran.refused) == ((listed,), (other,))
        assert [path for _, path, _, _ in asked] == ["/simple/x?y=1"] * 2
        assert len(never) == 1


DIRECT = """
import socket
def tried(name, attack):
    try:
        attack()
        print(name, "works")
    except OSError:
        print(name, "fails")
tried("a connection", lambda: socket.create_connection((host, port), 3))
datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
tried("a look-up", lambda: socket.getaddrinfo(name, 80))
tried("the door", lambda: socket.create_connection(("127.0.0.1", door), 3) if door else datagram.connect((host, port)))
"""


def test_sec_32_the_proxy_is_the_only_door_no_direct_connection_and_no_look_up(bubblewrap: Way, world: World) -> None:
    with serving() as (listed, _):
        host, port = listed.split(":")
        # The name of this machine is looked up in a file outside, and that file is another one inside.
        facts = {"host": host, "port": int(port), "name": socket.gethostname()}

        outside = bubblewrap.outside(world.attack(DIRECT, **facts, door=0))
        command = world.attack(DIRECT, **facts, door=51_128)
        ran = bubblewrap.run(world.python(*command.arguments[4:], hosts=(listed,)))

    assert "a connection works\na look-up works\n" in outside
    assert ran.output.splitlines() == ["a connection fails", "a look-up fails", "the door works"]


def test_b50_sec_32_without_hosts_there_is_no_door(bubblewrap: Way, world: World) -> None:
    script = """
import os, socket
print([name for name in os.environ if "proxy" in name.lower()], flush=True)
socket.create_connection(("127.0.0.1", 51128), 3)
"""
    ran = bubblewrap.run(world.attack(script))

    assert ran.output.startswith("[]\n")
    assert "ConnectionRefusedError" in ran.output


def test_every_way_of_the_sandbox_has_the_door(world: World) -> None:
    way = usable(Way(level=Level.BUBBLEWRAP, ordinary=os.geteuid() == 0))
    with serving() as (listed, _):
        command = world.attack(ASK, urls=[f"http://{listed}/"])

        ran = way.run(world.python(*command.arguments[4:], hosts=(listed,)))

    assert (ran.output, ran.exit_status) == (f"{len(BODY)}\n", 0)


def test_nothing_of_the_door_stays_inside(bubblewrap: Way, world: World) -> None:
    script = """
import glob, os, signal
print(sorted(os.listdir("/proc/self/fd")), len(glob.glob("/proc/[0-9]*")))
print(signal.getsignal(signal.SIGTERM), os.path.exists("/proc/1/cwd/.git"))
"""
    with_door = bubblewrap.run(world.python(script, hosts=("127.0.0.1:9",)))
    without = bubblewrap.run(world.python(script))

    assert with_door.output == without.output
    ended = Command(arguments=("sh", "-c", "kill -PIPE $$"), tree=world.tree, hosts=("127.0.0.1:9",))
    assert bubblewrap.run(ended).exit_status == 128 + 13
    missing = Command(arguments=("no-such-program",), tree=world.tree, hosts=("127.0.0.1:9",))
    assert bubblewrap.run(missing).exit_status == 127


def test_a_level_without_a_network_of_its_own_waits_for_a_stronger_one(world: World) -> None:
    way = usable(Way(level=Level.LANDLOCK))

    with pytest.raises(Parked, match=r"no network at all.*127\.0\.0\.1:9"):
        way.run(world.python("pass", hosts=("127.0.0.1:9",)))


def test_a_command_that_names_no_host_is_refused(bubblewrap: Way, world: World) -> None:
    with pytest.raises(Refused, match="is no host"):
        bubblewrap.run(world.python("pass", hosts=("http://x/",)))


# --- the proxy alone -------------------------------------------------------------------------------------------------


@contextmanager
def door(hosts: list[str], *, at_most: int = 2**30) -> Iterator[tuple[Outlet, int]]:
    """A proxy without a sandbox, and its port."""
    outlet = Outlet(hosts, bytes_at_most=at_most)
    ours, theirs = socket.socketpair()
    outlet.serve(ours.detach())
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening, theirs:
            socket.send_fds(theirs, [b"."], [listening.fileno()])
            port = int(listening.getsockname()[1])
        yield outlet, port
    finally:
        outlet.close()


def said(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(request)
        answer = b""
        while part := client.recv(65536):
            answer += part
        return answer


def test_a_tunnel_carries_bytes_as_they_are() -> None:
    with serving() as (listed, asked), door([listed]) as (outlet, port):
        inner = f"GET /x HTTP/1.1\r\nHost: {listed}\r\nConnection: close\r\n\r\n"

        answer = said(port, f"CONNECT {listed} HTTP/1.1\r\n\r\n{inner}".encode())

        assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
        assert answer.endswith(BODY)
        assert asked[0][1] == "/x"
        assert outlet.reached == (listed,)


def test_a_second_request_on_a_connection_reaches_no_other_host() -> None:
    with serving() as (listed, asked), serving() as (other, never), door([listed]) as (_, port):
        first = f"GET http://{listed}/a HTTP/1.1\r\nHost: {other}\r\nProxy-Authorization: Basic {CANARY}\r\n\r\n"

        said(port, (first + f"GET http://{other}/b HTTP/1.1\r\n\r\n").encode())

        assert [path for _, path, _, _ in asked] == ["/a"]
        assert asked[0][2]["Host"] == listed
        assert asked[0][2]["Connection"] == "close"
        assert CANARY not in str(asked)
        assert never == []


@pytest.mark.parametrize(
    "header",
    [
        "Host: other",
        "HOST:other",
        "Connection: keep-alive",
        "Keep-Alive: 9",
        "Proxy-Connection: x",
        "Upgrade: h2c",
        "TE: x",
    ],
)
def test_what_is_said_to_the_proxy_goes_no_further(header: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(f"GET http://h.example/a HTTP/1.1\r\n{header}\r\nAccept: x\r\n\r\n".encode())

        request = read_request(ours)

    assert request.forwarded == b"GET /a HTTP/1.1\r\nHost: h.example\r\nAccept: x\r\nConnection: close\r\n\r\n"


def test_what_is_posted_arrives() -> None:
    with serving() as (listed, asked), door([listed]) as (_, port):
        said(port, f"POST http://{listed}/v1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello".encode())

    assert asked[0][0] == "POST"
    assert asked[0][3] == b"hello"


@pytest.mark.parametrize(
    "request_",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n\r\n",
        b"GET ftp://h/ HTTP/1.1\r\n\r\n",
        b"GET http://user:pass@127.0.0.1/ HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:99999 HTTP/1.1\r\n\r\n",
        b"CONNECT 127.0.0.1:0 HTTP/1.1\r\n\r\n",
        b"CONNECT a b HTTP/1.1\r\n\r\n",
        b"CONNECT h\xc3\xb6st:443 HTTP/1.1\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\nno header\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET http://127.0.0.1/ HTTP/2\r\n\r\n",
        b"x" * 200_000,
        b"GET http://127.0.0.1/ HTTP/1.1\r\n" + b"a: b\r\n" * 20_000,
    ],
)
def test_what_is_no_request_to_a_proxy_is_none(request_: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=_send, args=(theirs, request_))
        sender.start()

        with pytest.raises(BadRequest):
            read_request(ours)

        ours.close()
        sender.join()


def _send(end: socket.socket, data: bytes) -> None:
    try:
        end.sendall(data)
        end.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_b64_a_name_that_leads_to_this_machine_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as (listed, asked):
        port = int(listed.split(":")[1])

        def rebound(name: str, port: int, *_: object, **__: object) -> list[object]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", rebound)
        with door([f"packages.example:{port}"]) as (outlet, at):
            answer = said(at, f"GET http://packages.example:{port}/ HTTP/1.1\r\n\r\n".encode())

        connect(Host(name="localhost", port=port)).close()
    assert answer.startswith(b"HTTP/1.1 502")
    assert asked == []
    assert outlet.reached == ()


@pytest.mark.parametrize(
    ("address", "astray"),
    [
        ("127.0.0.1", True),
        ("169.254.169.254", True),
        ("0.0.0.0", True),
        ("224.0.0.1", True),
        ("::1", True),
        ("fe80::1%eth0", True),
        ("::ffff:127.0.0.1", True),
        ("::ffff:169.254.169.254", True),
        ("fd00:ec2::254", True),
        ("168.63.129.16", True),
        ("::ffff:100.100.100.200", True),
        ("64:ff9b::169.254.169.254", True),
        ("64:ff9b::192.0.2.1", False),
        ("2002:7f00:1::1", True),
        ("::127.0.0.1", True),
        ("10.0.0.7", False),
        ("192.0.2.1", False),
        ("2001:db8::1", False),
    ],
)
def test_b64_addresses_that_no_name_may_lead_to(address: str, astray: bool) -> None:
    assert leads_astray(address) is astray


def test_a_host_that_does_not_answer_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with door([f"127.0.0.1:{port}"]) as (outlet, at):
        answer = said(at, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 502")
    assert outlet.reached == ()


def test_only_so_many_bytes_go_through() -> None:
    with serving() as (listed, _), door([listed], at_most=100) as (_, port):
        answer = said(port, f"GET http://{listed}/ HTTP/1.1\r\n\r\n".encode())

    assert BODY not in answer


def test_what_comes_with_the_head_counts_too() -> None:
    with serving() as (listed, asked), door([listed], at_most=1_000) as (_, port):
        for size in (10, 900, 900):
            said(port, f"POST http://{listed}/{size} HTTP/1.1\r\nContent-Length: {size}\r\n\r\n{'x' * size}".encode())

    assert [path for _, path, _, _ in asked] == ["/10"]


def test_closing_ends_connections_that_are_at_work() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        with door([name]) as (outlet, port):
            with socket.create_connection(("127.0.0.1", port), 10) as client:
                client.sendall(f"CONNECT {name} HTTP/1.1\r\n\r\n".encode())
                assert client.recv(99).startswith(b"HTTP/1.1 200")

                outlet.close()

                client.settimeout(5)
                assert client.recv(99) == b""
            with pytest.raises(OSError):
                socket.create_connection(("127.0.0.1", port), 1)


def test_more_connections_than_there_are_places_for_are_not_served() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent:
        name = f"127.0.0.1:{silent.getsockname()[1]}"
        ask = f"CONNECT {name} HTTP/1.1\r\n\r\n".encode()
        with door([name]) as (_, port), contextlib.ExitStack() as held:
            answered = 0
            for _number in range(70):
                client = held.enter_context(socket.create_connection(("127.0.0.1", port), 10))
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    client.sendall(ask)
                    answered += client.recv(99).startswith(b"HTTP/1.1 200")

    assert answered == 64


def test_a_command_that_hands_nothing_out_gets_no_proxy() -> None:
    outlet = Outlet(["127.0.0.1:9"], bytes_at_most=1)
    ours, theirs = socket.socketpair()
    outlet.serve(ours.detach())

    with theirs:
        theirs.sendall(b".")  # no descriptor comes with it
        time.sleep(0.1)
        with pytest.raises(OSError):
            theirs.sendall(b"x" * 2**20)  # the other end is closed

    outlet.close()
    assert (outlet.reached, outlet.refused) == ((), ())


def test_a_proxy_that_nobody_asked_for_ends_too() -> None:
    outlet = Outlet(["127.0.0.1:9"], bytes_at_most=1)
    ours, theirs = socket.socketpair()
    with theirs:
        outlet.serve(ours.detach())
        time.sleep(0.3)

        outlet.close()

        assert theirs.recv(1) == b""


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Packages.Example.", Host(name="packages.example", port=443)),
        ("packages.example:8080", Host(name="packages.example", port=8080)),
        ("[::1]:80", Host(name="::1", port=80)),
        ("[2001:db8::1]", Host(name="2001:db8::1", port=443)),
    ],
)
def test_a_host_is_written_as_name_and_port(text: str, host: Host) -> None:
    assert Host.parse(text) == host
    assert Host.parse(str(host)) == host


@pytest.mark.parametrize("text", ["", " ", "*", "*.example", "http://x", "x/y", "a:b", "x:0", "x:65536", "::1", "a b"])
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="is no host"):
        Host.parse(text)
