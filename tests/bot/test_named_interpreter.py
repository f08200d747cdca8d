"""The interpreter that a repository names: by a name, or by a path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.errors import NoInterpreter
from bot.interpreter import interpreter
from bot.leaving import sentence
from bot.repository_config import RepositoryConfig
from tests.bot.kit import bed


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_name_is_looked_up_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = program(tmp_path / "bin" / "python3.99")
    monkeypatch.setenv("PATH", os.pathsep.join((str(here.parent), os.environ["PATH"])))

    assert interpreter(RepositoryConfig(python="python3.99"), bed(tmp_path).repository) == here


def test_a_path_may_begin_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = program(tmp_path / "me" / "env" / "bin" / "python")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))

    assert interpreter(RepositoryConfig(python="~/env/bin/python"), bed(tmp_path).repository) == here


@pytest.mark.parametrize("python", ["python9.9", "tools/python", "~nobody-of-this-name/python"])
def test_what_is_not_there_is_told_with_both_forms(tmp_path: Path, python: str) -> None:
    with pytest.raises(NoInterpreter) as told:
        interpreter(RepositoryConfig(python=python), bed(tmp_path).repository)

    assert python in sentence(told.value)
    assert "on PATH, such as python3.12" in sentence(told.value)
    assert ".venv/bin/python" in sentence(told.value)
