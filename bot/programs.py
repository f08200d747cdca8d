"""An external agent's command as the sandbox needs it: where the program lies, and what it needs to be readable."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from bot.errors import NoProgram, VariableNotSet
from bot.outside import Outside
from stages.agents.program import Program
from stages.sandbox import NotAnInterpreter, needed_by

_HEAD: Final = 200  # bytes, in which a script names its interpreter


def program_for(command: tuple[str, ...], outside: Outside | None = None) -> Program:
    """The program with its path in full. Raises NoProgram when it is not there, VariableNotSet.

    Inside the sandbox it sees the system, its own folder, and the interpreter that its first line names: of a folder in
    which something of the operator's own lies, such as the home folder, itself alone. Of their variables and the
    network it sees what `outside` opens to it.
    """
    outside = outside or Outside()
    if outside.not_set:
        raise VariableNotSet(variable=", ".join(outside.not_set))
    found = shutil.which(command[0])
    if found is None:
        raise NoProgram(program=command[0])
    path = Path(found).absolute()
    interpreter = _interpreter(path)
    needed = _needed_by(interpreter) if interpreter else ()
    own = (_shown(place, outside.closed) for place in (path, path.resolve()))
    return Program(
        command=(str(path), *command[1:]),
        readable=tuple(dict.fromkeys((*own, *needed))),
        environment=outside.variables,
        hosts=outside.program_hosts,
    )


def _shown(program: Path, closed: tuple[Path, ...]) -> Path:
    folder = program.parent.resolve()
    return program if any(place.resolve().is_relative_to(folder) for place in closed) else program.parent


def _needed_by(interpreter: Path) -> tuple[Path, ...]:
    try:
        return needed_by(interpreter)
    except NotAnInterpreter:  # of another language, or a wrapper
        return (interpreter,)


def _interpreter(path: Path) -> Path | None:
    """The interpreter that a script's first line names by its path; None for a binary, and for one by `env`."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    words = head.split(b"\n", 1)[0].removeprefix(b"#!").split() if head.startswith(b"#!") else []
    named = Path(words[0].decode("utf-8", "replace")) if words else None
    return named if named and named.exists() and named.name != "env" else None
