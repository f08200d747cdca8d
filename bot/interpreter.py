"""The interpreter that runs a repository's tests."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.errors import NoInterpreter
from bot.repository_config import RepositoryConfig
from stages.repository import Repository


def interpreter(config: RepositoryConfig, repository: Repository) -> Path:
    """What the repository names, else its own environment, else ours. Raises NoInterpreter."""
    if config.python:
        named = (repository.folder / config.python).absolute()
        if not named.exists():
            raise NoInterpreter(python=config.python)
        return named
    own = [repository.folder / folder / "bin" / "python" for folder in (".venv", "venv")]
    return next((python for python in own if python.exists()), Path(sys.executable))
