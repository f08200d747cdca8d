"""What a command gets and gives, and how it ends (requirements S 31, F60, B86)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stages.errors import ParkCause, Parked, Stopped
from stages.sandbox import Bounds, Command, Level, Sandbox, orphans
from stages.sandbox.landlock import Landlock
from stages.sandbox.launcher import CAPABILITIES_OF_THIS, _libc, call, children
from stages.sandbox.plain import Plain
from tests.stages.sandbox.ways import (
    CANARY,
    PYTHON,
    WE_ARE_ROOT,
    Way,
    World,
    as_ordinary_user,
    in_child,
    missing,
    usable,
)

MIB = 2**20


def processes_with(token: str) -> list[int]:
    """Processes on this machine that have the token in an argument, save those of an interpreter."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
        except OSError:
            continue
        if token in line and not line.startswith(str(PYTHON)):
            found.append(int(pid))
    return found


@pytest.fixture
def token(request: pytest.FixtureRequest) -> Iterator[str]:
    """Seconds that only this test sleeps; whoever still does at its end is killed by id."""
    token = f"60.{abs(hash(request.node.nodeid)) % 10**9:09}7"
    yield token
    while left := processes_with(token):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def gone(token: str, within_seconds: float = 5.0) -> bool:
    until = time.monotonic() + within_seconds
    while processes_with(token) and time.monotonic() < until:
        time.sleep(0.02)
    return not processes_with(token)


DAEMONS = """
import os, subprocess, sys, time
def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", token])
        os._exit(0)
daemon()
nowhere = {"start_new_session": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.Popen(["nohup", "sleep", token], **nowhere)
subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; while :; do sleep " + token + "; done"], **nowhere)
time.sleep(0.3)
print("started", flush=True)
"""


def test_sec_31_orphans_of_an_ordinary_process_live_on(world: World, token: str) -> None:
    command = world.attack(DAEMONS.replace("time.sleep", "sys.stdout.flush(); os.close(0); time.sleep"), token=token)

    subprocess.run(command.arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20, check=False)

    assert len(processes_with(token)) >= 3


def test_sec_31_orphans_die_with_their_command(every_way: Way, world: World, token: str) -> None:
    ran = every_way.run(world.attack(DAEMONS, token=token))

    assert (ran.exit_status, ran.output) == (0, "started\n")
    assert gone(token, within_seconds=0.5)


def test_what_a_command_started_dies_although_it_killed_its_launcher(world: World, token: str) -> None:
    way = Way(level=Level.PLAIN, ordinary=WE_ARE_ROOT)  # the same user as its launcher, and no wall before it
    attack = f"(setsid sleep {token} {{}} &); sleep 0.5; kill -KILL $PPID"
    elsewhere = attack.format(">/dev/null 2>&1")

    way.outside(Command(arguments=("sh", "-c", 'sh -c "$1"; :', "sh", elsewhere), tree=world.tree))
    outside = processes_with(f"\0{token}")
    for pid in outside:
        os.kill(pid, signal.SIGKILL)
    ran = way.run(
        Command(arguments=("sh", "-c", attack.format("") + "; sleep 20"), tree=world.tree, timeout_seconds=15)
    )

    assert len(outside) == 1
    assert (ran.exit_status, ran.timed_out) == (137, False)
    assert "ended the process that watched over it" in ran.output
    assert ran.seconds < 10
    assert gone(token, within_seconds=0)


def test_what_lost_its_launcher_is_no_child_of_ours_for_long(world: World, token: str) -> None:
    attack = f"for n in 1 2 3; do (setsid sh -c 'sleep {token}; :' &); done; sleep 0.5; kill -KILL $PPID"

    def work() -> bool:
        Plain().run(Command(arguments=("sh", "-c", attack), tree=world.tree))
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        return True

    os.chmod(world.tree, 0o777)
    assert as_ordinary_user(work)
    assert gone(token, within_seconds=0)


def test_only_who_adopts_looks_through_all_processes_for_orphans(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[dict[int, list[int]]] = []

    def recorded() -> dict[int, list[int]]:
        looked.append(children())
        return looked[-1]

    monkeypatch.setattr(orphans, "children", recorded)
    way = usable(Way(level=Level.BUBBLEWRAP))  # whose processes die with their namespace

    ran = way.run(Command(arguments=("false",), tree=world.tree))
    alone, by_ourselves = orphans.adopts(), looked[:]
    with orphans.adopted():
        way.run(Command(arguments=("false",), tree=world.tree))

    assert ran.exit_status == 1
    assert bool(by_ourselves) == alone  # the first process of a container always does
    assert len(looked) > len(by_ourselves)


def test_sec_31_a_time_out_kills_the_whole_tree(every_way: Way, world: World, token: str) -> None:
    command = world.attack(DAEMONS + "time.sleep(60)", token=token)

    ran = every_way.run(world.python(*command.arguments[4:], timeout_seconds=1.5))

    assert (ran.exit_status, ran.timed_out, ran.output) == (None, True, "started\n")
    assert 1.4 < ran.seconds < 12
    assert gone(token, within_seconds=0.5)


def test_sec_31_a_stop_kills_the_whole_tree(way: Way, world: World, token: str) -> None:
    command = world.attack(DAEMONS + "open('ready', 'w'); time.sleep(60)", token=token)

    with pytest.raises(Stopped):
        way.run(command, stopped=(world.tree / "ready").exists)

    assert gone(token, within_seconds=0.5)


def test_an_error_of_ours_leaves_no_process_behind(way: Way, world: World, token: str) -> None:
    def broken() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        way.run(world.attack("import os; os.execvp('sleep', ['sleep', token])", token=token), stopped=broken)

    assert gone(token, within_seconds=0.5)


def test_a_command_dies_when_we_are_killed(way: Way, world: World, token: str) -> None:
    command = world.attack("import os; open('ready', 'w').close(); os.execvp('sleep', ['sleep', token])", token=token)
    child = os.fork()
    if child == 0:
        tempfile.tempdir = str(world.sibling)  # nobody is left to take the command's home away
        way.run(command)
        os._exit(0)
    until = time.monotonic() + 20
    while not (world.tree / "ready").exists() and time.monotonic() < until:
        time.sleep(0.02)
    while not processes_with(token) and time.monotonic() < until:
        time.sleep(0.02)

    before = processes_with(token)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert before
    assert gone(token)


def test_no_zombie_is_left(way: Way, world: World) -> None:
    way.run(world.python("pass"))

    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_command_gets_its_input_and_environment_and_gives_its_status(way: Way, world: World) -> None:
    script = """
import json, os, sys
print(json.dumps([sys.stdin.read(), dict(os.environ)]))
sys.exit(7)
"""
    ran = way.run(world.python(script, stdin=b"given", environment={"A": "1 2\n3", "LANG": "C"}))

    given, environment = json.loads(ran.output)
    assert (ran.exit_status, ran.timed_out, ran.level, given) == (7, False, way.level, "given")
    assert environment.pop("A") == "1 2\n3"
    assert environment.pop("LANG") == "C"
    assert set(environment) - {"PWD", "LC_CTYPE"} == {"PATH", "HOME", "TMPDIR"}


def test_a_large_input_that_nobody_reads_hinders_nothing(way: Way, world: World) -> None:
    ran = way.run(world.python("print('done')", stdin=b"x" * MIB))

    assert (ran.exit_status, ran.output) == (0, "done\n")


def test_a_large_input_arrives_whole(way: Way, world: World) -> None:
    ran = way.run(world.python("import sys; print(len(sys.stdin.buffer.read()))", stdin=b"x" * MIB))

    assert ran.output == f"{MIB}\n"


@pytest.mark.parametrize(
    ("script", "status"),
    [("import os; os.kill(os.getpid(), 9)", 137), ("import os; os.abort()", 134), ("raise SystemExit(255)", 255)],
)
def test_the_status_is_that_of_a_shell(script: str, status: int, way: Way, world: World) -> None:
    assert way.run(world.python(script)).exit_status == status


@pytest.mark.parametrize("name", ["PIPE", "XFSZ", "INT", "TERM"])
def test_no_signal_is_ignored_from_the_start(name: str, way: Way, world: World) -> None:
    ran = way.run(Command(arguments=("sh", "-c", f"kill -{name} $$"), tree=world.tree))

    assert ran.exit_status == 128 + signal.Signals[f"SIG{name}"]


def test_a_program_that_does_not_exist_is_told_by_status_and_name(way: Way, world: World) -> None:
    ran = way.run(Command(arguments=("no-such-program",), tree=world.tree))

    assert ran.exit_status == 127
    assert "no-such-program" in ran.output


def test_a_program_that_may_not_be_run_is_told_by_status(way: Way, world: World) -> None:
    (world.tree / "text").write_text("no program")

    assert way.run(Command(arguments=("./text",), tree=world.tree)).exit_status == 126


def test_a_command_starts_in_its_folder(way: Way, world: World) -> None:
    (world.tree / "sub" / "deep").mkdir(parents=True)

    ran = way.run(world.python("import os; print(os.getcwd())", folder="sub/deep"))

    assert ran.output == f"{way.sandbox().inside(world.tree)}/sub/deep\n"


def test_results_and_secret_go_over_their_own_lines(way: Way, world: World) -> None:
    script = """
import os
secret = os.read(20, 99)
assert os.read(20, 99) == b""
os.close(20)
os.write(11, b"got " + secret)
"""
    ran = way.run(world.python(script, channel=11, secret_channel=20, secret=b"key"))

    assert (ran.exit_status, ran.output, ran.reported, ran.reported_cut) == (0, "", b"got key", False)


def test_a_report_larger_than_the_bounds_is_cut_and_says_so(way: Way, world: World) -> None:
    script = "import os\nfor _ in range(64): os.write(3, b'x' * 65536)"

    ran = way.run(world.python(script, channel=3), Bounds(reported_bytes=MIB))

    assert (ran.exit_status, len(ran.reported), ran.reported_cut) == (0, MIB, True)


def test_sec_30_the_line_of_results_cannot_be_opened_anew(way: Way, world: World) -> None:
    script = """
import os
for number, flags in ((3, os.O_RDONLY), (3, os.O_WRONLY), (3, os.O_RDWR)):
    for path in (f"/proc/self/fd/{number}", f"/dev/fd/{number}"):
        try:
            os.open(path, flags)
            print("opened anew")
        except OSError:
            pass
"""
    read, write = os.pipe()
    control = subprocess.run(
        [PYTHON, "-I", "-S", "-c", script.replace("(3,", f"({write},")],
        pass_fds=(write,),
        capture_output=True,
        check=True,
    )
    os.close(read)
    os.close(write)

    assert b"opened anew" in control.stdout
    assert "opened anew" not in way.run(world.python(script, channel=3)).output


def test_sec_14_no_descriptor_of_ours_is_inherited(way: Way, world: World) -> None:
    script = """
import os
for name in os.listdir("/proc/self/fd"):
    try:
        print(os.pread(int(name), 99, 0).decode())
    except OSError:
        pass
"""
    ours = os.open(world.sibling / "answer.txt", os.O_RDONLY)
    os.set_inheritable(ours, True)
    try:
        control = subprocess.run([PYTHON, "-I", "-S", "-c", script], close_fds=False, capture_output=True, check=True)
        ran = way.run(world.python(script))
    finally:
        os.close(ours)

    assert CANARY in control.stdout.decode()
    assert CANARY not in ran.output


def test_output_comes_in_order_from_both_streams(way: Way, world: World) -> None:
    script = "import os\nfor n in range(3): os.write(1, b'out '); os.write(2, b'err ')"

    assert way.run(world.python(script)).output == "out err " * 3


def test_a_command_can_open_its_own_streams(way: Way, world: World) -> None:
    script = "open('/proc/self/fd/1', 'w').write('out '); open('/proc/self/fd/2', 'w').write('err')"

    assert way.run(world.python(script)).output == "out err"


def test_sec_31_output_without_end_is_cut_in_the_middle_and_never_held(way: Way, world: World) -> None:
    command = Command(
        arguments=("sh", "-c", "echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last"), tree=world.tree
    )

    def grown() -> tuple[int, str]:
        Path("/proc/self/clear_refs").write_text("5")  # sets the high-water mark back
        before = resident("VmRSS")
        output = way.run(command).output
        return resident("VmHWM") - before, output

    def held() -> int:
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        subprocess.run(command.arguments, capture_output=True, check=True)
        return resident("VmHWM") - before

    growth, output = in_child(grown, lambda: None)

    assert growth < 16 * MIB
    assert len(output) <= 64 * 1024
    assert output.startswith("first\nxxx")
    assert output.endswith("xxx\nlast\n")
    assert "bytes left out)" in output
    if way.level is Level.PLAIN:
        assert in_child(held, lambda: None) > 150 * MIB


def resident(mark: str) -> int:
    """Bytes of our memory: `VmRSS` now, `VmHWM` at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(mark))


BOMB = """
import os, time
born = 0
try:
    while born < 300:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        born += 1
except OSError:
    pass
print(born, flush=True)
os._exit(0)
"""


def test_sec_31_a_fork_bomb_is_bounded(every_way: Way, world: World) -> None:
    # Nothing of the control may be left: a limit counts the processes that its user has when the command begins.
    short = BOMB.replace("time.sleep(60)", "time.sleep(1)")
    control = every_way.outside(world.python(short.replace("print(", "[os.wait() for _ in range(born)]; print(")))
    ran = every_way.run(world.python(BOMB), Bounds(processes=40))

    assert control == "300\n"
    assert 10 < int(ran.output) <= 40


def test_sec_31_a_temporary_folder_has_a_size(world: World, walls: Way) -> None:
    if walls.level is not Level.BUBBLEWRAP:
        pytest.skip("temporary files lie on disk without mounts: the growth of the tree and of home is watched instead")
    script = """
import os
for folder in folders:
    written = 0
    try:
        with open(os.path.join(folder, "filling-of-a-test"), "wb") as file:
            for _ in range(32):
                written += file.write(bytes(1024 * 1024))
                file.flush()
    except OSError as error:
        print(error.strerror, end=" ")
    print(written // 1048576)
    os.unlink(os.path.join(folder, "filling-of-a-test"))
"""
    folders = ["/tmp", "/dev/shm", "/home/run"]

    control = walls.outside(world.attack(script, folders=folders[:2]))
    ran = walls.run(world.attack(script, folders=folders), Bounds(temporary_bytes=4 * MIB))

    assert control == "32\n32\n"
    assert ran.output == "No space left on device 4\n" * 3


@pytest.mark.parametrize("folder", [".", "$HOME"])
def test_sec_31_a_command_that_fills_the_disk_is_killed(folder: str, every_way: Way, world: World) -> None:
    if folder == "$HOME" and every_way.level is Level.BUBBLEWRAP:
        pytest.skip("home is a folder in memory there, and has a size")
    script = """
import itertools, os, time
for number in itertools.count():
    with open(os.path.join(os.path.expandvars(folder), str(number)), "wb") as file:
        file.write(bytes(4 * 1024 * 1024))
    time.sleep(0.01)
"""
    ran = every_way.run(world.attack(script, folder=folder), Bounds(tree_bytes=24 * MIB))

    assert "more on disk than a command may" in ran.output
    assert (ran.exit_status, ran.filled_disk, ran.timed_out) == (None, True, False)
    assert sum(path.stat().st_size for path in world.tree.iterdir()) < 400 * MIB


def test_a_command_that_makes_files_without_end_is_killed(every_way: Way, world: World) -> None:
    script = "for n in range(200_000): open(str(n), 'w').close()"

    ran = every_way.run(world.python(script), Bounds(tree_files=2_000))

    assert (ran.exit_status, ran.filled_disk, ran.timed_out) == (None, True, False)
    assert 2_000 < len(os.listdir(world.tree)) < 150_000


def test_sec_31_each_limit_holds(way: Way, world: World) -> None:
    script = """
import os
attacks = {
    "memory": lambda: bytearray(600 * 1024 * 1024),
    "a file": lambda: open("big", "wb").truncate(8 * 1024 * 1024),
    "descriptors": lambda: [os.dup(0) for _ in range(99)],
}
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for name, attack in attacks.items():
    try:
        attack()
    except (OSError, MemoryError):
        print(name)
"""
    bounds = Bounds(memory_bytes=300 * MIB, file_bytes=4 * MIB, open_files=50)

    unlimited, limited = way.run(world.python(script)), way.run(world.python(script), bounds)

    assert (unlimited.output, limited.output) == ("", "memory\na file\ndescriptors\n")


def test_processor_time_is_limited(walls: Way, world: World) -> None:
    if walls.ordinary:
        pytest.skip("the limit is set by the same line for every user")

    ran = walls.run(world.python("while True: pass"), Bounds(cpu_seconds=1))

    assert ran.exit_status in (128 + signal.SIGXCPU, 128 + signal.SIGKILL)


def test_no_core_is_left_in_the_tree(way: Way, world: World) -> None:
    way.run(world.python("import os; os.abort()"))

    assert list(world.tree.iterdir()) == []


@pytest.mark.parametrize("sandbox", [Landlock(), Plain()])
def test_a_launcher_that_cannot_start_parks_the_run(
    sandbox: Sandbox, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")

    with pytest.raises(Parked) as parked:
        sandbox.run(world.python("pass"))

    assert parked.value.cause is ParkCause.SANDBOX


CAPABILITIES_OF_A_CONTAINER = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7  # CHOWN, DAC_OVERRIDE, KILL, SETGID, SETUID


@pytest.mark.skipif(not WE_ARE_ROOT, reason="only root runs commands under another user")
@pytest.mark.parametrize(
    ("sandbox", "runs"),
    [
        (Landlock(), True),
        (Plain(), False),
    ],
    ids=["walls and a wide capability", "no walls and a wide capability"],
)
def test_a_tree_in_a_closed_folder_is_opened_as_far_as_root_may(sandbox: Sandbox, runs: bool, world: World) -> None:
    os.chmod(world.base, 0o700)
    os.chown(world.base, 0, 0)
    reason = missing(Way(level=sandbox.level))
    if reason:
        pytest.skip(reason)

    def lose_the_rest() -> None:
        for capability in range(41):
            if not CAPABILITIES_OF_A_CONTAINER >> capability & 1:
                _libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP: a program of root gets no more than these
        kept = CAPABILITIES_OF_A_CONTAINER
        call(_libc.capset, CAPABILITIES_OF_THIS, struct.pack("=IIIIII", kept, kept, 0, 0, 0, 0))

    def ends() -> str:
        try:
            return sandbox.run(world.python("import os; os.listdir(os.getcwd()); print('ran')")).output
        except Parked as parked:
            return parked.reason

    outcome = in_child(ends, lose_the_rest)

    assert (outcome == "ran\n") == runs, outcome
    assert ("closed to other users" in outcome) != runs, outcome
