"""The strongest level: namespaces made by bubblewrap, a system call filter, limits, and never root inside."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final

from stages.sandbox import door
from stages.sandbox.base import SYSTEM_PATH, Sandbox
from stages.sandbox.command import Bounds, Command, Level
from stages.sandbox.faults import NoProgram, NoStart
from stages.sandbox.interpreter import needed_by
from stages.sandbox.lent import shown
from stages.sandbox.limits import DIES_FIRST, limits
from stages.sandbox.outlet import DOOR_PORT
from stages.sandbox.running import Followed, Job
from stages.sandbox.seccomp import filter_program
from stages.sandbox.wires import Wires

TREE: Final = PurePosixPath("/tree")
"""Where every command sees its tree, so that nothing of the host's layout shows."""
HOME: Final = "/home/run"
PROGRAMS: Final = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_USER_INSIDE: Final = 1000  # for a caller who is not root, whatever the own id is outside

_NAMESPACES: Final = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"),
)
# Links into /usr or folders, as the system has it.
_TOP: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_READABLE: Final = (
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf"),
    *("/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"),
)
_TO_STOP_BEING_ROOT: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_TO_ENTER_THE_TREE: Final = "CAP_DAC_READ_SEARCH"  # which is the other user's already
# What programs look at, in either spelling; the last two are Node's.
_PROXY: Final = (
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("npm_config_proxy", "npm_config_https_proxy"),
)
_LOOK_EVERY_SECONDS, _STARTS_WITHIN_SECONDS = 0.1, 30.0


class BubblewrapJob(Job):
    """A job whose first process inside takes all others with it when it dies."""

    def limit(self, bounds: Bounds, *, reserves: bool, within_seconds: float) -> None:
        """Set the limits of the first process inside, which waits for that, and let it go on.

        Raises NoStart when there is no such process in time.
        """
        until = time.monotonic() + within_seconds
        while not (inner := self._inner()) and not self.look():
            if time.monotonic() > until:
                raise NoStart(reason=f"bwrap told nothing for {within_seconds:g} seconds")
            self._wires.pump.turn(_LOOK_EVERY_SECONDS)
        if inner:
            # From outside, which spares a program in between, and only now: processes are counted for each user
            # namespace from its beginning.
            for kind, value in limits(bounds, reserves=reserves).items():
                resource.prlimit(inner, kind, (value, value))
            with contextlib.suppress(OSError), open(f"/proc/{inner}/oom_score_adj", "w") as file:
                file.write(DIES_FIRST)
        self._wires.hang_up()

    def kill(self) -> None:
        # The kernel ends a namespace with its first process; ours then sees it end. Before it has told us which that
        # is, ours goes, and takes the other with it.
        with contextlib.suppress(PermissionError):  # a process that stays is another user's, and has lost its line
            os.kill(self._inner() or self.pid, signal.SIGKILL)

    def _inner(self) -> int | None:
        told = self._wires.told("child-pid")
        return told if isinstance(told, int) and _parent_of(told) == self.pid else None


class Bubblewrap(Sandbox):
    """Commands in namespaces of their own: no network, no foreign process, no file but the system's and their tree."""

    level: ClassVar[Level] = Level.BUBBLEWRAP

    def __init__(self, bounds: Bounds | None = None, *, path: str = PROGRAMS) -> None:
        super().__init__(bounds)
        self._path = path
        self._found: dict[str, str] = {}

    def inside(self, tree: Path) -> PurePosixPath:  # noqa: ARG002 - the same for every tree
        return TREE

    @contextmanager
    def _started(self, command: Command, wires: Wires, user: int | None) -> Iterator[tuple[Followed, tuple[Path, ...]]]:
        with shown(command, user, by_links=False) as lent:
            options = "\0".join(self._options(command, wires, user, lent)).encode(errors="surrogateescape")
            # Through a file in memory: whoever lists processes outside sees neither environment nor paths.
            started = [self._program("bwrap"), "--args", str(wires.file("options", options)), "--"]
            program = (*self._drop_root(user), *_through_the_door(wires), *command.arguments)
            job = BubblewrapJob(wires.spawn([*started, *program]), wires)
            try:
                within = min(_STARTS_WITHIN_SECONDS, command.timeout_seconds)
                job.limit(self._bounds, reserves=command.reserves, within_seconds=within)
                yield job, (command.tree,)
            finally:
                job.finish()

    def _options(self, command: Command, wires: Wires, user: int | None, lent: Iterable[tuple[Path, str]]) -> list[str]:
        words = [*_NAMESPACES, "--json-status-fd", str(wires.status()), "--block-fd", str(wires.hold())]
        words += ("--seccomp", str(wires.file("filter", filter_program(namespaces=True))), *_identity(user))
        words += _system(wires, _USER_INSIDE if user is None else user)
        words += self._temporary(user)
        if command.readable or command.hosts:
            words += _further(sorted({*command.readable, *(_needed_at_the_door() if command.hosts else ())}))
        if command.kept is not None:
            words += (*_folders([command.kept]), "--bind", str(command.kept), str(command.kept))
        words += ("--bind" if command.tree_writable else "--ro-bind", str(command.tree), str(TREE))
        for outside, place in lent:
            words += ("--ro-bind", str(outside), str(TREE / place))
        words += ("--chdir", str(TREE / command.folder), "--remount-ro", "/dev", "--remount-ro", "/")
        ours = {"PATH": SYSTEM_PATH, "HOME": HOME, "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108 - its own
        proxy = dict.fromkeys(_PROXY, f"http://127.0.0.1:{DOOR_PORT}") if command.hosts else {}
        for name, value in (ours | proxy | dict(command.environment)).items():
            words += ("--setenv", name, value)
        return words

    def _temporary(self, user: int | None) -> list[str]:
        # bubblewrap cannot give a folder away: where the user changes, home is open to the one user there is.
        folders = {"/tmp": "1777", "/dev/shm": "1777", HOME: "0700" if user is None else "0777"}  # noqa: S108
        size = str(self._bounds.temporary_bytes)
        return [
            word for folder, mode in folders.items() for word in ("--perms", mode, "--size", size, "--tmpfs", folder)
        ]

    def _drop_root(self, user: int | None) -> list[str]:
        if user is None:
            return []
        nothing = ["--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
        return [self._program("setpriv"), f"--reuid={user}", f"--regid={user}", *nothing, "--"]

    def _program(self, name: str) -> str:
        if name not in self._found:
            found = shutil.which(name, path=self._path)
            if found is None:
                raise NoProgram(program=name)
            self._found[name] = found
        return self._found[name]


def _through_the_door(wires: Wires) -> tuple[str, ...]:
    if wires.outlet is None:
        return ()
    number = wires.door(wires.outlet)
    return (sys.executable, "-I", "-S", door.__file__, str(number), str(DOOR_PORT))


def _needed_at_the_door() -> tuple[Path, ...]:
    return (*needed_by(Path(sys.executable)), Path(door.__file__))


def _identity(user: int | None) -> tuple[str, ...]:
    if user is None:
        inside = str(_USER_INSIDE)
        return ("--unshare-user", "--uid", inside, "--gid", inside, "--cap-drop", "ALL")
    # Root outside makes the mounts, which may lie in folders that are closed to others, and only then becomes the user.
    kept = [option for name in (*_TO_STOP_BEING_ROOT, _TO_ENTER_THE_TREE) for option in ("--cap-add", name)]
    return ("--cap-drop", "ALL", *kept)


def _system(wires: Wires, user: int) -> list[str]:
    words = list(_shared())
    for path, text in _written(user).items():
        words += ("--perms", "0444", "--file", str(wires.file("system", text.encode())), path)
    return words


@cache
def _shared() -> tuple[str, ...]:
    return tuple(_options_of_the_system())


def _options_of_the_system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for top in map(Path, _TOP):
        if top.is_symlink():
            yield from ("--symlink", os.readlink(top), str(top))
        elif top.is_dir():
            yield from ("--ro-bind", str(top), str(top))
    yield from _folders(map(Path, [*_READABLE, *_written(_USER_INSIDE)]))
    for path in _READABLE:
        yield from ("--ro-bind-try", path, path)
    yield from ("--proc", "/proc", "--dev", "/dev")


def _further(paths: Iterable[Path]) -> Iterator[str]:
    links: dict[Path, str] = {}
    ends: set[Path] = set()
    for path in paths:
        while path.is_symlink() and path not in links and (end := _by_its_text(path)):
            links[path] = os.readlink(path)
            path = end
        ends.add(path)
    covered = {Path("/usr"), *ends}
    seen = sorted(path for path in (*ends, *links) if covered.isdisjoint(path.parents))
    yield from _folders(seen)
    for path in seen:
        # Links stay links: an interpreter finds its library by where its program's link leads.
        yield from ("--symlink", links[path], str(path)) if path in links else ("--ro-bind", str(path), str(path))


def _by_its_text(link: Path) -> Path | None:
    # `..` behind another link is another folder to the kernel: such a link is shown as what it leads to.
    end = Path(os.path.normpath(link.parent / os.readlink(link)))
    return end if os.path.realpath(end) == os.path.realpath(link) else None


def _folders(paths: Iterable[Path]) -> Iterator[str]:
    # Made one by one, because bubblewrap closes to others the folders that it makes on its way.
    above = {folder for path in paths if path.parts[1:2] != ("usr",) for folder in path.parents}
    for folder in sorted(above - {Path("/")}):
        yield from ("--perms", "0755", "--dir", str(folder))


def _written(user: int) -> dict[str, str]:
    return {
        "/etc/passwd": f"run:x:{user}:{user}::{HOME}:/bin/sh\n",
        "/etc/group": f"run:x:{user}:\n",
        "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


def _parent_of(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    return int(stat.rpartition(b")")[2].split()[1])
