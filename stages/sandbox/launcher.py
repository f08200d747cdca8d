"""Starts one command behind a Landlock rule set and a system call filter, and kills all that it leaves behind.

A program of its own, run as `python -I -S launcher.py ORDER LINE STATUS` with an empty environment; the three are
numbers of descriptors. ORDER holds a JSON object. LINE is a socket: when it closes, everything dies. On STATUS goes
what becomes of the command, as JSON lines. The launcher stays as the parent of all orphans (prctl(2),
PR_SET_CHILD_SUBREAPER); landlock(7) describes the calls.
"""

from __future__ import annotations

import binascii
import ctypes
import json
import os
import resource
import select
import signal
import struct
import sys
import warnings  # noqa: F401 - os.execvpe imports it, where the command's user may not reach it any more

TYPE_CHECKING = False  # importing typing would take a tenth of the time of this program
if TYPE_CHECKING:
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECCOMP = 1, 8, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
PR_CAP_AMBIENT_RAISE, SECCOMP_MODE_FILTER = 2, 2
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
CAPABILITIES_OF_THIS = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446  # the same on all processors

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHARACTER_DEVICE, MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
REFER, TRUNCATE, DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_CONTROL
READING = EXECUTE | READ_FILE | READ_DIR
SCOPES_SINCE, TCP_SINCE, DEVICE_CONTROL_SINCE = 6, 4, 5  # versions of Landlock
WAIT_FOR_ALL_KINDS = 0x40000000  # __WALL of waitpid(2): children that clone(2) made, too

_libc = ctypes.CDLL(None, use_errno=True)


def call(function: Any, *arguments: Any) -> int:
    result: int = function(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def landlock_version() -> int:
    """The version of the kernel's Landlock, 0 without one."""
    return max(0, int(_libc.syscall(ctypes.c_long(LANDLOCK_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def rule_set(readable: list[str], writable: list[str], devices: list[str]) -> int:
    """A descriptor of a rule set that allows these paths, and neither TCP nor signals to the outside."""
    version = landlock_version()
    handled = TRUNCATE * 2 - 1 | (DEVICE_CONTROL if version >= DEVICE_CONTROL_SINCE else 0)
    fields = struct.pack("=QQQ", handled, 3 if version >= TCP_SINCE else 0, 3)
    rules = call(_libc.syscall, LANDLOCK_CREATE, fields, 24 if version >= SCOPES_SINCE else 16, 0)
    everything = handled & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE)
    for paths, access in ((readable, READING), (writable, everything), (devices, READ_FILE | WRITE_FILE)):
        for path in paths:
            _allow(rules, path, access & handled)
    return rules


def _allow(rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        on_this = access if os.path.isdir(path) else access & ON_FILES
        call(_libc.syscall, LANDLOCK_ADD, rules, 1, struct.pack("=Qi", on_this, place), 0)
    finally:
        os.close(place)


def become(user: int, capability: int | None) -> None:
    """Another user for good, who keeps at most this one capability."""
    call(_libc.prctl, PR_SET_KEEPCAPS, int(capability is not None), 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if capability is not None:
        kept = 1 << capability
        call(_libc.capset, CAPABILITIES_OF_THIS, struct.pack("=IIIIII", kept, kept, kept, 0, 0, 0))
        call(_libc.prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)


def capability_to_read(walled: bool) -> int:
    """The least capability of ours that opens folders which modes close to other users.

    The wider one only behind walls, which then are what forbids to write.
    """
    held = ctypes.create_string_buffer(24)
    call(_libc.capget, CAPABILITIES_OF_THIS, held)
    permitted = struct.unpack("=IIIIII", held.raw)[1]
    for capability in (CAP_DAC_READ_SEARCH, *([CAP_DAC_OVERRIDE] if walled else [])):
        if permitted & 1 << capability:
            return capability
    raise PermissionError(
        "the interpreter or the tree lies in a folder that is closed to other users, and this root may not open it: "
        "move it, or start as an ordinary user"
    )


def install(program: bytes) -> None:
    """Filter the system calls of this process and of all that it starts."""
    held = ctypes.create_string_buffer(program, len(program))
    fields = struct.pack("@HP", len(program) // 8, ctypes.addressof(held))
    call(_libc.prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, fields, 0, 0)


def processes_of(user: int) -> int:
    """Threads that the user has now: the kernel counts those for the limit of processes."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == user:
                total += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue
    return total


def limit(limits: list[tuple[int, int]], user: int) -> None:
    for kind, value in limits:
        # Without a namespace of users the limit counts all that this one runs.
        wanted = value + processes_of(user) if kind == resource.RLIMIT_NPROC else value
        allowed = resource.getrlimit(kind)[1]
        wanted = wanted if allowed == resource.RLIM_INFINITY else min(wanted, allowed)
        resource.setrlimit(kind, (wanted, wanted))


def start(order: dict[str, Any], status: int) -> int:
    """The id of the command's first process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # the interpreter ignores them, and a program would inherit that
        _confine(order)
        tell(status, started=True)
        _execute(order["arguments"], order["environment"])
    except BaseException as error:
        tell(status, error=f"{type(error).__name__}: {error}")
        raise
    finally:
        os._exit(125)


def _execute(arguments: list[str], environment: dict[str, str]) -> None:
    try:
        os.execvpe(arguments[0], arguments, environment)  # noqa: S606 - there is no shell in it
    except OSError as error:
        os.write(2, f"{arguments[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _confine(order: dict[str, Any]) -> None:
    rules = None
    if order["landlock"] is not None:
        order["landlock"]["readable"].append(f"/proc/{os.getpid()}")  # its own; those of others stay closed
        rules = rule_set(**order["landlock"])
    os.chdir(order["folder"])
    user = os.getuid() if order["user"] is None else order["user"]
    if user == 0:
        raise PermissionError(
            "commands never run as root, and no other user id is mapped here: start as an ordinary user, or give the "
            "container a range of ids (subuid(5))"
        )
    limit(order["limits"], user)
    _die_first(order["dies_first"])
    if order["user"] is not None:
        become(user, capability_to_read(rules is not None) if order["reads_past_modes"] else None)
    call(_libc.prctl, PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    call(_libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if rules is not None:
        call(_libc.syscall, LANDLOCK_RESTRICT, rules, 0)
        os.close(rules)
        install(binascii.a2b_base64(order["filter"]))


def _die_first(score: str) -> None:
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(score)
    except OSError:
        return


def tell(status: int, **fields: object) -> None:
    os.write(status, json.dumps(fields).encode() + b"\n")


def subreaper(*, on: bool) -> None:
    """Whether processes below us that lose their parent become our children."""
    call(_libc.prctl, PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def childless() -> bool:
    """True when nothing is below a process that adopts; much cheaper than to look through all that there are."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT | WAIT_FOR_ALL_KINDS)
    except ChildProcessError:
        return True
    return False


def children() -> dict[int, list[int]]:
    """The children of each process that has any."""
    found: dict[int, list[int]] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        found.setdefault(parent, []).append(int(pid))
    return found


def below(top: int) -> list[int]:
    """All processes below this one."""
    family = children()
    found, todo = [], [top]
    while todo:
        mine = family.get(todo.pop(), [])
        found += mine
        todo += mine
    return found


def kill_all() -> None:
    """Every process below us, frozen first, so that none is born behind our back."""
    while not childless():
        left = below(os.getpid())
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            left = below(os.getpid())
        reap()


def reap() -> dict[int, int]:
    """Exit statuses of all children that have ended, by id."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        code = os.waitstatus_to_exitcode(status)
        ended[pid] = code if code >= 0 else 128 - code


def follow(command: int, line: int, status: int) -> None:
    """Until the command has ended or the line is closed."""
    wake, waker = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended: dict[int, int] = reap()
    while command not in ended:
        ready, _, _ = select.select([wake, line], [], [])
        if line in ready:
            kill_all()
            return
        os.read(wake, 4096)
        ended = reap()
    kill_all()
    tell(status, **{"exit-code": ended[command]})


def main(order_file: int, line: int, status: int) -> None:
    for number in (line, status):
        os.set_inheritable(number, False)
    with os.fdopen(order_file, "rb") as file:
        order = json.load(file)
    subreaper(on=True)
    command = start(order, status)
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in [*range(3), *order["channels"]]:
        os.dup2(nothing, number)  # the command's, not ours: its readers must see when the last writer is gone
    follow(command, line, status)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
