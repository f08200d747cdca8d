"""What a Python interpreter needs to be readable: its environment, and the installation that it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

# Not the whole prefix, which may be somebody's home.
_OF_A_PREFIX: Final = ("pyvenv.cfg", "bin", "lib", "lib64", "include")
_LANDMARKS: Final = ("pyvenv.cfg", "lib/python3*/os.py")
_SYSTEM: Final = (Path("/usr"), Path("/bin"), Path("/lib"), Path("/lib64"))  # every command sees these


def needed_by(python: Path) -> tuple[Path, ...]:
    """What a command needs in `readable` to run this interpreter, at the paths that it knows itself by.

    Follows links of the program and `home` of a virtual environment (PEP 405). Raises OSError when it does not exist.
    """
    python.stat()
    needed: dict[Path, None] = {}
    for program in _programs(python.absolute()):
        prefix = program.parent.parent
        if any(any(prefix.glob(landmark)) for landmark in _LANDMARKS):
            needed |= dict.fromkeys(part for name in _OF_A_PREFIX if (part := prefix / name).exists())
        else:
            needed[program] = None
    return tuple(path for path in needed if not any(path.is_relative_to(system) for system in _SYSTEM))


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
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return Path(values["home"]) if "home" in values else None
