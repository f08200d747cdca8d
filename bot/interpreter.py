"""The interpreter that runs a repository's tests: the repository chooses it, and not what is opened with it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from bot.errors import ForeignInterpreter, NoInterpreter
from bot.repository_config import RepositoryConfig
from stages.repository import Repository
from stages.sandbox import NotAnInterpreter, decided_by

_OWN: Final = (".venv/bin/python", "venv/bin/python")


def interpreter(config: RepositoryConfig, repository: Repository, folder: str = ".") -> Path:
    """What the repository names, else the environment that lies nearest to a folder of the checkout: its own, or that
    of one above it; else ours.

    A name is looked up on PATH, as a shell does it; anything with a `/` is a path from the top of the repository.
    Raises NoInterpreter, and ForeignInterpreter where a file of the repository itself would decide what is opened.
    """
    if "/" in config.python:
        return _checked(config.python, repository.folder / config.python, repository)
    if config.python:
        return _checked(config.python, shutil.which(config.python), repository)
    own = next((name for name in _nearest(folder) if (repository.folder / name).exists()), None)
    return _checked(own, repository.folder / own, repository) if own else Path(sys.executable)


def _nearest(folder: str) -> Iterator[str]:
    here = PurePosixPath(folder)
    return (str(place / own) for place in (here, *here.parents) for own in _OWN)


def _checked(name: str, python: Path | str | None, repository: Repository) -> Path:
    found = Path(python).absolute() if python else None
    if found is None or not found.exists():
        raise NoInterpreter(python=name, problem="is not there")
    if not found.is_file() or not os.access(found, os.X_OK):
        raise NoInterpreter(python=name, problem="is no program")
    try:
        steps = decided_by(found)
    except NotAnInterpreter as error:
        raise NoInterpreter(python=name, problem=f"leads to none ({error})") from error
    inside = [str(step.relative_to(repository.folder)) for step in steps if step.is_relative_to(repository.folder)]
    for foreign in repository.tracked(path for path in inside if path != "."):
        raise ForeignInterpreter(python=name, path=foreign)
    return found
