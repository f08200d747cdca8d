"""The ways to run a command in a test, the world outside it, and the same command without a sandbox."""

from __future__ import annotations

import functools
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import pytest

from stages.sandbox import Bounds, Command, Level, Ran, Sandbox, needed_by, remove
from stages.sandbox.bubblewrap import Bubblewrap
from stages.sandbox.landlock import Landlock
from stages.sandbox.plain import Plain
from stages.sandbox.probe import why_not

ORDINARY = 1_899_999_999  # a user id that nobody has
SYSTEM_PYTHON = Path("/usr/bin/python3")
PYTHON = SYSTEM_PYTHON if SYSTEM_PYTHON.exists() else Path(sys.executable)
CANARY = "canary-4be1f0a97b1d90c2"
WE_ARE_ROOT = os.geteuid() == 0

Result = TypeVar("Result")


def as_ordinary_user(work: Callable[[], Result]) -> Result:
    """What `work` gives in a child process that is not root."""

    def begin() -> None:
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)
        os.environ["HOME"] = "/nonexistent"
        # The interpreter of the tests may lie in root's home.
        sys.executable = str(PYTHON)

    return in_child(work, begin) if WE_ARE_ROOT else work()


def in_child(work: Callable[[], Result], begin: Callable[[], None]) -> Result:
    """What `work` gives in a child process that `begin` has changed for good."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            begin()
            answer: tuple[bool, object] = (True, work())
        except BaseException as error:  # noqa: BLE001 - raised again by the parent
            answer = (False, error)
        with os.fdopen(write, "wb") as file:
            pickle.dump(answer, file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    done, result = pickle.loads(data)
    if not done:
        raise result
    return result  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class Way:
    """One level, as we are or as an ordinary user."""

    level: Level
    ordinary: bool = False

    def __str__(self) -> str:
        return f"{self.level.value}{' as an ordinary user' if self.ordinary else ''}"

    def sandbox(self, bounds: Bounds | None = None) -> Sandbox:
        match self.level:
            case Level.BUBBLEWRAP:
                return Bubblewrap(bounds)
            case Level.LANDLOCK:
                return Landlock(bounds)
            case Level.PLAIN:
                return Plain(bounds)

    def run(self, command: Command, bounds: Bounds | None = None, stopped: Callable[[], bool] = lambda: False) -> Ran:
        work = functools.partial(self.sandbox(bounds).run, command, stopped=stopped)
        if not self.ordinary:
            return work()
        if WE_ARE_ROOT:
            os.chown(command.tree, ORDINARY, ORDINARY)
        return as_ordinary_user(work)

    def outside(self, command: Command, **more: object) -> str:
        """What the same command prints as an ordinary process of the same user."""
        user = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []} if self.ordinary and WE_ARE_ROOT else {}
        done = subprocess.run(
            command.arguments,
            cwd=command.tree,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=20,
            check=False,
            **user,  # type: ignore[call-overload]
            **more,
        )
        return str(done.stdout.decode())


@functools.cache
def missing(way: Way) -> str:
    """Why this way cannot be gone here."""
    work = functools.partial(why_not, way.sandbox())
    return as_ordinary_user(work) if way.ordinary else work()


ALL = [
    Way(level=level, ordinary=ordinary) for level in Level for ordinary in ([False, True] if WE_ARE_ROOT else [False])
]
WALLED = [way for way in ALL if way.level is not Level.PLAIN]


def usable(way: Way) -> Way:
    """The way, or a skipped test with the reason."""
    reason = missing(way)
    if reason:
        pytest.skip(reason)
    return way


@dataclass(frozen=True, kw_only=True)
class World:
    """Folders of the outside: a tree, and beside it what no command may reach."""

    base: Path

    @property
    def tree(self) -> Path:
        return self.base / "tree"

    @property
    def sibling(self) -> Path:
        """A checkout beside the tree: everybody may read and write it, and it holds the canary."""
        return self.base / "sibling"

    def python(self, script: str, *arguments: str, **changes: object) -> Command:
        command = Command(
            arguments=(str(PYTHON), "-I", "-S", "-c", script, *arguments),
            tree=self.tree,
            readable=needed_by(PYTHON),
            timeout_seconds=20.0,
        )
        return replace(command, **changes)  # type: ignore[arg-type]

    def attack(self, script: str, **facts: object) -> Command:
        """A script that finds `facts` as its variables."""
        return self.python(f"import json, sys\nglobals().update(json.loads(sys.argv[1]))\n{script}", json.dumps(facts))


@contextmanager
def new_world() -> Iterator[World]:
    base = Path(tempfile.mkdtemp(prefix="sandbox-test-"))
    try:
        base.chmod(0o755)  # an ordinary user must come through
        for name in ("tree", "sibling"):
            (base / name).mkdir()
            (base / name).chmod(0o777)
        (base / "sibling" / "answer.txt").write_text(CANARY)
        yield World(base=base)
    finally:
        remove(base)


@contextmanager
def outsider(way: Way, environment: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the outside, of the same user as an unsandboxed command."""
    user = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []} if way.ordinary and WE_ARE_ROOT else {}
    sleep = shutil.which("sleep") or "/bin/sleep"
    process = subprocess.Popen([sleep, "61.25"], env=dict(environment or {}), **user)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()
