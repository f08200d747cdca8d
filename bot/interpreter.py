"""The interpreter that runs a repository's tests."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from bot.errors import NoInterpreter
from bot.repository_config import RepositoryConfig
from stages.repository import Repository


def interpreter(config: RepositoryConfig, repository: Repository) -> Path:
    """What the repository names, else its own environment, else ours. Raises NoInterpreter."""
    if config.python:
        return _named(config.python, repository.folder)
    own = [repository.folder / folder / "bin" / "python" for folder in (".venv", "venv")]
    return next((python for python in own if python.exists()), Path(sys.executable))


def _named(python: str, folder: Path) -> Path:
    """A name is looked up on PATH, as a shell does it; anything with a `/` is a path, relative to the repository."""
    found = (folder / os.path.expanduser(python)).absolute() if "/" in python else shutil.which(python)
    if found is None or not Path(found).is_file():
        raise NoInterpreter(python=python)
    return Path(found)
