"""Stays in a sandbox as its first process, and forks for each run, which goes on in the fork as a fresh process would.

Every process of a namespace dies with its first one, and nothing inside can kill or stop that: the kernel drops what is
sent. A fork starts from a process that has loaded pytest and nothing of the target. Before the next one begins, all
processes of the one before are gone, folders in memory are empty, and what a run could have changed of this process is
as it was; where that cannot be had, this process ends, and everything with it. Started by the launcher, and only where
the sandbox made a namespace of processes, with an interpreter and variables of which nothing is the target's: what it
loads is never the tree's.

What a run can still tell from one in a fresh sandbox: the folder `/queues`, addresses that are the same as in the run
before, counters that go up (process ids, `/proc/net/dev`), the command line in /proc, and that the garbage collector
does not look at what was loaded before the fork.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
from itertools import pairwise
from typing import Any

_PR_SET_DUMPABLE = 4
_LOOK_EVERY_SECONDS = 0.2
_DESCRIPTORS_AT_MOST = 16
_ORDER_AT_MOST = 64 * 1024
_HIGH = 100  # above all numbers that a run is promised
_LEFT_AT_MOST = 5_000  # files; a new sandbox is sooner there than more of them are gone
_IN_MEMORY = ("/tmp", "/dev/shm", "/queues")  # noqa: S108 - with home, all that can be written beside the tree
_SHARED = ("shm", "sem", "msg")  # proc(5): what stays although no process has it
_SOCKETS = ("tcp", "tcp6")  # a port is not free for a while after the process that had it
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def serve(line: int, top: str) -> None:
    """Wait for runs; returns in the fork of each, and never in this process.

    `line` is the descriptor of a socket on which runs come, `top` the folder that is the target's.
    """
    if os.getpid() != 1:  # anywhere else, what is killed below would be everything that this user runs
        raise SystemExit("this is not the first process of a sandbox")
    _prepare(top)
    runs, standing = socket.socket(fileno=line), _standing()
    before = _state(standing)
    while True:
        text, descriptors, _, _ = socket.recv_fds(runs, _ORDER_AT_MOST, _DESCRIPTORS_AT_MOST)
        if not text:
            raise SystemExit("nobody asks any more")
        order = json.loads(text)
        given = dict(zip(order["numbers"], descriptors, strict=True))
        status = given.pop(order["status"])
        run = os.fork()
        if run == 0:
            runs.detach()  # its number is another's below
            _go_on(order, given)
            return
        for descriptor in given.values():
            os.close(descriptor)
        told = json.dumps({"exit-code": _ended(run, runs)})
        clean = _cleaned(standing) and _state(standing) == before
        # Last, so that the next run, and what is measured for its limits, begins with nothing of this one.
        os.write(status, f"{told}\n".encode())
        os.close(status)
        if not clean:
            raise SystemExit("something of a run is left")


def _prepare(top: str) -> None:
    # Nobody of the same user reads or writes the memory of this process (proc(5), /proc/pid/mem).
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        raise SystemExit("this process cannot be closed to others")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what has a handler is not dropped
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # it is waited for
    os.set_blocking(2, False)  # nobody reads what is said there as long as runs go on
    os.chdir("/")
    files = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
    if any(f"{path}/".startswith(f"{top}/") for path in (*sys.path, *files)):
        raise SystemExit("something of the target would be loaded once for all runs")
    gc.freeze()  # forks that count what is loaded here would each copy it: a quarter of their time


def _go_on(order: dict[str, Any], given: dict[int, int]) -> None:
    """Be what a fresh process with these arguments, this folder and these descriptors is."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        for number, copy in [(number, fcntl.fcntl(one, fcntl.F_DUPFD, _HIGH)) for number, one in given.items()]:
            os.dup2(copy, number)
        for below, above in pairwise([*sorted(given), resource.getrlimit(resource.RLIMIT_NOFILE)[0]]):
            os.closerange(below + 1, above)
        os.chdir(order["folder"])
        sys.orig_argv[:] = order["arguments"]
        sys.argv[:] = order["arguments"][order["arguments"].index(sys.argv[0]) :]
    except BaseException:
        os._exit(125)  # a fork that went on from here would be a second server
        raise


def _ended(run: int, runs: socket.socket) -> int:
    """The exit status of a run, once no process of it is left."""
    status = _awaited(run, runs)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)  # at once for all, so that none is born behind our back
    with contextlib.suppress(ChildProcessError):  # there is none: orphans are ours before their parent has ended
        _awaited(None, runs)
    if [name for name in os.listdir("/proc") if name.isdigit()] != ["1"]:
        raise SystemExit("a process of a run is left")
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _awaited(run: int | None, runs: socket.socket) -> int:
    """Take every process that ends, until this one does. Raises ChildProcessError when there is no other."""
    ours = select.poll()
    ours.register(runs, 0)  # told is only that the other end is gone: whoever asked has died, or wants us to
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == run:
            return status
        if pid == 0:
            signal.sigtimedwait([signal.SIGCHLD], _LOOK_EVERY_SECONDS)
            if ours.poll(0):
                raise SystemExit("nobody asks any more")


def _standing() -> dict[str, bool]:
    """What the sandbox put into the folders in memory, them as well, and whether each can be filled by runs."""
    found = dict.fromkeys([*_IN_MEMORY, os.environ["HOME"]], True)
    todo = list(found)
    for folder in todo:
        with os.scandir(folder) as entries:
            for entry in entries:
                seen = entry.stat(follow_symlinks=False)
                found[entry.path] = entry.is_dir(follow_symlinks=False) and seen.st_dev == os.stat(folder).st_dev
                todo += [entry.path] if found[entry.path] else []
    return found


def _cleaned(standing: dict[str, bool]) -> bool:
    try:
        return _emptied(standing)
    except (OSError, RecursionError):  # closed, or too deep
        return False


def _emptied(standing: dict[str, bool]) -> bool:
    for folder in [path for path, can_be_filled in standing.items() if can_be_filled]:
        room = os.statvfs(folder)
        if room.f_files - room.f_ffree > _LEFT_AT_MOST:
            return False
        for path in _new(folder, standing):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        if _new(folder, standing):
            return False
    return True


def _new(folder: str, standing: dict[str, bool]) -> list[str]:
    return [path for name in os.listdir(folder) if (path := os.path.join(folder, name)) not in standing]


def _state(standing: dict[str, bool]) -> tuple[object, ...]:
    """What processes of the same user can change of this one, or leave in its namespaces."""
    stats = [(path, os.lstat(path), can_be_filled) for path, can_be_filled in standing.items()]
    return (
        [resource.getrlimit(kind) for kind in _LIMITS],
        (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)),
        _text("/proc/self/autogroup"),
        [(seen.st_ino, seen.st_mode, seen.st_uid, can and os.listxattr(path)) for path, seen, can in stats],
        [_text(f"/proc/sysvipc/{kind}").count(b"\n") for kind in _SHARED],
        [_text(f"/proc/net/{kind}").count(b"\n") for kind in _SOCKETS],
    )


def _text(path: str) -> bytes:
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()
