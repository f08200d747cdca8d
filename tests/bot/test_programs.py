"""An agent's command becomes a program with its path in full and what it needs to be readable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.errors import NoProgram
from bot.outside import Outside
from bot.programs import program_for
from stages.sandbox import needed_by


def script(folder: Path, first: str) -> Path:
    path = folder / "agent"
    path.write_text(f"{first}\nprint('{{}}')\n")
    path.chmod(0o755)
    return path


def test_a_program_that_is_nowhere_is_named_in_the_error() -> None:
    with pytest.raises(NoProgram, match="no program surely-not-here"):
        program_for(("surely-not-here",))


def test_a_script_may_read_its_folder_and_its_interpreter(tmp_path: Path) -> None:
    path = script(tmp_path, f"#!{sys.executable}")

    program = program_for((str(path), "--quiet"))

    assert program.command == (str(path), "--quiet")
    assert tmp_path in program.readable
    assert set(needed_by(Path(sys.executable))) <= set(program.readable)


def test_an_interpreter_of_another_language_is_opened_alone(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    other = script(tmp_path / "bin", "#!/bin/sh").rename(tmp_path / "bin" / "node")
    path = script(tmp_path, f"#!{other}")

    assert program_for((str(path),)).readable == (tmp_path, other)


def test_a_program_is_found_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path, "#!/usr/bin/env python3")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert program_for(("agent",)).command == (str(path),)


def test_a_binary_needs_no_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\x7fELF\x02\x01")
    path.chmod(0o755)

    assert program_for((str(path),)).readable == (tmp_path,)


def test_a_program_gets_no_variable_of_ours(tmp_path: Path) -> None:
    assert program_for((str(script(tmp_path, "#!/bin/sh")),)).environment == {}


@pytest.mark.parametrize("closed", ["agent", "app.json", "state/ticketsmith.sqlite", "."])
def test_sec_16_a_program_beside_the_operators_own_things_is_shown_alone(tmp_path: Path, closed: str) -> None:
    path = script(tmp_path, "#!/bin/sh")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "link").symlink_to(path)
    outside = Outside(closed=(tmp_path / closed,))

    assert tmp_path not in program_for((str(path),), outside).readable
    assert tmp_path not in program_for((str(tmp_path / "bin" / "link"),), outside).readable
    assert tmp_path in program_for((str(path),), Outside(closed=(tmp_path.parent / "elsewhere",))).readable
