"""Attacks that work outside and fail inside (requirements S 13-14, 32, 5.15, B86)."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stages.errors import Parked
from stages.sandbox import Command, Level
from stages.sandbox.launcher import _libc, call
from tests.stages.sandbox.ways import CANARY, WE_ARE_ROOT, Way, World, in_child, outsider

CLONE_NEWUSER = 0x10000000
REACHED = "reached the outside"


def must_fail_inside(way: Way, command: Command, *, inside: Command | None = None) -> None:
    """The attack reaches its aim as an ordinary process, and does not in the sandbox."""
    assert REACHED in way.outside(command), "the attack does not work outside: this test would prove nothing"
    assert REACHED not in way.run(inside or command).output


FILES = {
    "a file beside the tree": "print(open(path).read().replace(canary, reached))",
    "the file through a link": "import os; os.symlink(path, 'l'); print(open('l').read().replace(canary, reached))",
    "the file through a hard link": "import os; os.link(path, 'h'); print(open('h').read().replace(canary, reached))",
    "the list of files beside the tree": "import os; print(reached if 'answer.txt' in os.listdir(folder) else '')",
    "a new file beside the tree": "open(folder + '/new', 'w').write('x'); print(reached)",
    "a change to a file beside the tree": "open(path, 'a').write(''); print(reached)",
    "a name taken away beside the tree": "import os; os.rename(path, folder + '/moved'); print(reached)",
    "a folder made beside the tree": "import os; os.mkdir(folder + '/made'); print(reached)",
}


@pytest.mark.parametrize("script", FILES.values(), ids=FILES)
def test_sec_5_15_nothing_beside_the_tree_is_read_or_changed(script: str, walls: Way, world: World) -> None:
    # Outside, a link may only be made to what is one's own.
    os.chown(world.sibling / "answer.txt", *[1_899_999_999 if walls.ordinary and os.geteuid() == 0 else -1] * 2)
    path = world.sibling / "answer.txt"
    command = world.attack(script, path=str(path), folder=str(world.sibling), canary=CANARY, reached=REACHED)

    assert REACHED in walls.outside(command), "the attack does not work outside: this test would prove nothing"
    for entry in world.tree.iterdir():
        entry.unlink()
    if not path.exists():
        (world.sibling / "moved").rename(path)
    for name in ("new", "made"):
        made = world.sibling / name
        if made.is_dir():
            made.rmdir()
        made.unlink(missing_ok=True)

    assert REACHED not in walls.run(command).output
    assert [entry.name for entry in world.sibling.iterdir()] == ["answer.txt"]


def test_sec_14_the_systems_own_files_are_not_seen(walls: Way, world: World) -> None:
    script = """
import os
for path in paths:
    try:
        seen = sorted(os.listdir(path)) if os.path.isdir(path) else open(path).read()
    except OSError:
        seen = ""
    print(ascii(seen))
"""
    paths = [
        "/etc/hostname",
        "/etc/shadow",
        "/root",
        "/home",
        "/var/log",
        "/sys/kernel",
        "/proc/1/root",
        "/run",
        "/boot",
    ]
    command = world.attack(script, paths=paths)

    outside, inside = walls.outside(command).splitlines(), walls.run(command).output.splitlines()

    shown = [path for path, seen in zip(paths, outside, strict=True) if seen not in ("''", "[]")]
    still = [path for path, before, now in zip(paths, outside, inside, strict=True) if path in shown and before == now]
    assert len(shown) >= 3, "too little can be seen outside: this test would prove nothing"
    assert still == []


def test_r60_sec_14_the_environment_of_no_outside_process_is_read(walls: Way, world: World) -> None:
    script = """
import glob
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        text = open(path, errors="replace").read()
    except OSError:
        continue
    print(reached if canary in text else "")
"""
    with outsider(walls, {"TOKEN": CANARY}):
        must_fail_inside(walls, world.attack(script, canary=CANARY, reached=REACHED))


def test_r60_sec_14_the_first_process_inside_holds_no_environment(
    world: World, walls: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
import os
mine = [f"/proc/{pid}/environ" for pid in (os.getpid(), os.getppid(), 1)]
for path in mine:
    try:
        print(reached if canary in open(path, errors="replace").read() else "")
    except OSError as error:
        print(error)
"""
    monkeypatch.setenv("TOKEN", CANARY)

    must_fail_inside(walls, world.attack(script, canary=CANARY, reached=REACHED))


def test_r60_sec_14_our_variables_do_not_reach_a_command(
    way: Way, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", CANARY)

    must_fail_inside(way, world.attack("import os; print(reached if 'TOKEN' in os.environ else '')", reached=REACHED))


@contextmanager
def listening(family: socket.AddressFamily, kind: socket.SocketKind, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, kind) as server:
        server.bind(address)  # type: ignore[arg-type]
        if kind is socket.SOCK_STREAM:
            server.listen()
        yield server


CONNECT = """
import socket
with socket.socket(family, kind) as client:
    client.settimeout(5)
    client.connect(tuple(address) if isinstance(address, list) else address.encode())
    client.send(b"x")
print(reached)
"""


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM], ids=["tcp", "udp"])
def test_sec_32_no_listener_on_loopback_is_reached(kind: socket.SocketKind, walls: Way, world: World) -> None:
    with listening(socket.AF_INET, kind, ("127.0.0.1", 0)) as server:
        address = list(server.getsockname())
        if kind is socket.SOCK_STREAM:
            command = world.attack(CONNECT, family=socket.AF_INET, kind=kind, address=address, reached=REACHED)
            must_fail_inside(walls, command)
            return
        # What is sent without a connection seems to go well: what counts is what arrives.
        server.settimeout(1)
        command = world.attack(CONNECT, family=socket.AF_INET, kind=kind, address=address, reached=REACHED)
        walls.outside(command)
        assert server.recv(9) == b"x"
        walls.run(command)
        with pytest.raises(TimeoutError):
            server.recv(9)


@pytest.mark.parametrize("abstract", [False, True], ids=["by path", "abstract"])
def test_sec_32_no_unix_socket_of_the_outside_is_reached(abstract: bool, walls: Way, world: World) -> None:
    address = f"\0{world.base}" if abstract else str(world.sibling / "socket")
    with listening(socket.AF_UNIX, socket.SOCK_STREAM, address):
        if not abstract:
            Path(address).chmod(0o777)
        facts = {"family": socket.AF_UNIX, "kind": socket.SOCK_STREAM, "address": address, "reached": REACHED}
        must_fail_inside(walls, world.attack(CONNECT, **facts))


def test_b86_no_outside_process_is_signalled(walls: Way, world: World) -> None:
    script = "import os, signal; os.kill(pid, signal.SIGCONT); print(reached)"

    with outsider(walls) as process:
        must_fail_inside(walls, world.attack(script, pid=process.pid, reached=REACHED))


def test_b86_no_outside_process_is_seen(walls: Way, world: World) -> None:
    script = """
import glob
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print(reached if "61.25" in open(path).read().split(chr(0)) else "")
    except OSError:
        pass
"""
    with outsider(walls):
        must_fail_inside(walls, world.attack(script, reached=REACHED))


def test_sec_14_doors_into_the_kernel_are_closed(walls: Way, world: World) -> None:
    script = """
import ctypes, os, struct
library = ctypes.CDLL(None, use_errno=True)
handle, number = ctypes.create_string_buffer(struct.pack("I", 120) + bytes(130)), ctypes.create_string_buffer(8)
attacks = {
    "a user namespace": lambda: library.unshare(0x10000000),
    "tracing": lambda: library.ptrace(0, 0, 0, 0),
    "a file handle": lambda: library.name_to_handle_at(-100, b"/usr", handle, number, 0),
    "another process's memory": lambda: library.process_vm_readv(os.getpid(), None, 0, None, 0, 0),
}
for name, attack in attacks.items():
    if os.fork() == 0:
        print(name if attack() >= 0 else "", flush=True)
        os._exit(0)
    os.wait()
"""
    command = world.attack(script)

    outside, inside = walls.outside(command), walls.run(command).output

    assert len(outside.split("\n\n")) == 1, f"not every door is open outside: {outside!r}"
    assert inside.strip() == ""


def test_sec_14_a_command_has_no_privilege_and_can_gain_none(every_way: Way, world: World) -> None:
    script = "print(open('/proc/self/status').read()); import os; print(os.getuid(), os.getgid(), os.getgroups())"

    lines = every_way.run(world.attack(script)).output.splitlines()

    values = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    assert values["NoNewPrivs"] == "1"
    assert int(values["CapEff"], 16) == int(values["CapPrm"], 16) == int(values["CapAmb"], 16) == 0
    assert all(int(part) != 0 for part in (*values["Uid"].split(), *values["Gid"].split()))
    if every_way.level is Level.BUBBLEWRAP:
        assert int(values["CapBnd"], 16) == 0
    if every_way.level is not Level.PLAIN:
        assert values["Seccomp"] == "2"


def only_root_is_mapped() -> None:
    """From here on a user namespace with one id, as in a container of an ordinary user without subordinate ids."""
    call(_libc.unshare, CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    for kind in ("uid", "gid"):
        Path(f"/proc/self/{kind}_map").write_text("0 0 1")


@pytest.mark.skipif(not WE_ARE_ROOT, reason="an ordinary user cannot be root without another id here")
def test_r60_a_root_without_another_id_never_runs_a_command_as_root(way: Way, world: World) -> None:
    os.chown(world.tree, 0, 0)
    command = world.attack("import os; print('root' if os.getuid() == 0 else 'another')")

    def ends() -> str:
        try:
            return way.sandbox().run(command).output
        except Parked as parked:
            return parked.reason

    assert in_child(lambda: way.outside(command), only_root_is_mapped) == "root\n"
    outcome = in_child(ends, only_root_is_mapped)

    if way.level is Level.BUBBLEWRAP:
        assert outcome == "another\n"
    else:
        assert "commands never run as root" in outcome


def test_sec_12_only_the_tree_and_temporary_folders_can_be_written(world: World, walls: Way) -> None:
    script = """
import os
for folder in ("/", "/etc", "/usr", "/usr/local/bin", "/dev", "/dev/shm", "/tmp", "/home", "/proc", "/tree", ".",
               os.environ["HOME"], os.environ["TMPDIR"]):
    try:
        open(os.path.join(folder, "probe-of-a-test"), "w").close()
        os.unlink(os.path.join(folder, "probe-of-a-test"))
        print(folder)
    except OSError:
        pass
"""
    written = walls.run(world.attack(script)).output.split()

    if walls.level is Level.BUBBLEWRAP:
        assert written == ["/dev/shm", "/tmp", "/tree", ".", "/home/run", "/tmp"]
    else:
        assert written[0] == "."
        assert len(written) == 3
        assert all("/ticketsmith-home-" in folder for folder in written[1:])


def test_a_tree_that_is_not_writable_stays_as_it_is(walls: Way, world: World) -> None:
    command = world.attack("open('new', 'w').write('x'); print(reached)", reached=REACHED)
    closed = world.attack("open('new', 'w').write('x'); print(reached)", reached=REACHED)

    assert REACHED in walls.run(command).output
    (world.tree / "new").unlink()

    ran = walls.run(world.python(closed.arguments[4], *closed.arguments[5:], tree_writable=False))
    assert REACHED not in ran.output
    assert list(world.tree.iterdir()) == []


def test_a_further_path_can_be_read_and_not_written(walls: Way, world: World) -> None:
    (world.sibling / "more").mkdir(mode=0o777)
    (world.sibling / "more" / "text").write_text("readable")
    further = world.sibling / "more"
    script = "print(open(path).read()); open(path + '2', 'w')"
    command = world.attack(script, path=str(further / "text"))

    ran = walls.run(world.python(*command.arguments[4:], readable=(*command.readable, further)))

    assert "readable" in ran.output
    assert ran.exit_status == 1
    assert [entry.name for entry in further.iterdir()] == ["text"]
    assert "readable" not in walls.run(command).output


def test_bubblewrap_shows_nothing_of_where_the_tree_lies(world: World, walls: Way) -> None:
    if walls.level is not Level.BUBBLEWRAP:
        pytest.skip("without mounts a command sees its tree where it is")
    script = "import os; print(os.getcwd(), os.uname().nodename, open('/etc/passwd').read(), sorted(os.listdir('/')))"

    output = walls.run(world.attack(script)).output

    assert output.startswith("/tree sandbox run:x:")
    assert output.count("\n") == 2
    assert set(eval(output[output.index("[") :])) <= {
        *("bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "tree", "usr"),
    }
