"""What a Python interpreter needs to be readable: its environment, and the installation that it was made from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stages.errors import StageError

# Not the whole prefix, which may be somebody's home.
_OF_A_PREFIX: Final = ("pyvenv.cfg", "bin", "lib", "lib64", "include")
_LANDMARKS: Final = ("pyvenv.cfg", "lib/python3*/os.py", "lib64/python3*/os.py", "lib/pypy3*/os.py")
_LINKS_AT_MOST: Final = 40  # as the kernel has it (path_resolution(7))
_SYSTEM: Final = frozenset({"usr", "bin", "lib", "lib64"})  # below the root; every command sees these


class NotAnInterpreter(StageError):
    """{program} is no Python interpreter: its library is not beside it"""


def needed_by(python: Path) -> tuple[Path, ...]:
    """What a command needs in `readable` to run this interpreter, at the paths that it knows itself by.

    Follows links of the program and `home` of a virtual environment (PEP 405). Raises OSError when it does not exist,
    NotAnInterpreter for a folder, and for a program that has neither the system's library nor one of its own.
    """
    python.stat()
    needed: dict[Path, None] = {}
    for program in _programs(python.absolute()):
        prefix = program.parent.parent
        if not program.is_file():
            raise NotAnInterpreter(program=program)
        if any(any(prefix.glob(landmark)) for landmark in _LANDMARKS):
            needed |= dict.fromkeys(part for name in _OF_A_PREFIX if (part := prefix / name).exists())
        elif program.is_symlink():  # it only leads to the next one
            needed[program] = None
        elif not _of_the_system(program):
            raise NotAnInterpreter(program=program)
    return tuple(path for path in needed if not _of_the_system(path))


def decided_by(python: Path) -> frozenset[Path]:
    """Every file, folder and link that `needed_by` goes through, each by its name in its real folder.

    Whoever can write one of them decides what a command may read.
    """
    ways = [*_programs(python.absolute()), *needed_by(python)]
    return frozenset(step for way in ways for step in _steps(way))


def _programs(program: Path) -> Iterator[Path]:
    """The program, what its links lead to, and the same for the one that its environment was made from."""
    seen: set[Path] = set()
    todo = [program]
    while todo:
        now = todo.pop()
        if now in seen or not now.exists():
            continue
        seen.add(now)
        yield now
        if now.is_symlink():
            todo.append(Path(now.parent, now.readlink()))
        home = _home(now.parent.parent)
        if home is not None:
            todo += [home / now.name, home / "python3"]


def _home(prefix: Path) -> Path | None:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return Path(values["home"]) if "home" in values else None


def _steps(path: Path) -> Iterator[Path]:
    here, todo, links = Path("/"), list(path.parts[1:]), 0
    while todo and links <= _LINKS_AT_MOST:
        name = todo.pop(0)
        step = here.parent if name == ".." else here / name
        yield step
        if step.is_symlink():
            links += 1
            target = step.readlink()
            todo = [*(part for part in target.parts if part != os.sep), *todo]
            here = Path("/") if target.is_absolute() else here
        else:
            here = step


def _of_the_system(path: Path) -> bool:
    return not _SYSTEM.isdisjoint(path.parts[1:2])
