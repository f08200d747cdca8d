"""What a Python interpreter needs to be readable: its environment, and the installation that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_SYSTEM: Final = (Path("/usr"), Path("/bin"), Path("/lib"))  # every command sees these


def needed_by(python: Path) -> tuple[Path, ...]:
    """The folders that a command needs in `readable` to run this interpreter, at the paths that it knows itself by.

    Follows links of the program and `home` of a virtual environment (PEP 405). Raises OSError when it does not exist.
    """
    python.stat()
    prefixes: list[Path] = []
    programs = [python.absolute(), *_chain(python.absolute())]
    for program in programs:
        prefix = program.parent.parent
        prefixes.append(prefix)
        home = _home(prefix)
        if home is not None:
            base = (home / python.name, home / "python3")
            programs.extend(link for start in base if start.exists() for link in _chain(start))
            prefixes.append(home.parent)
    needed = dict.fromkeys(path for prefix in prefixes for path in (prefix, prefix.resolve()))
    return tuple(path for path in needed if not any(path.is_relative_to(system) for system in _SYSTEM))


def _chain(program: Path) -> list[Path]:
    found: list[Path] = []
    while program.is_symlink() and program not in found:
        found.append(program)
        program = Path(program.parent, program.readlink())
    return [*found, program]


def _home(prefix: Path) -> Path | None:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return Path(values["home"]) if "home" in values else None
