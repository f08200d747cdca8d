"""`[install]` of a repository's settings."""

from __future__ import annotations

import pytest

from bot.errors import UnknownSetting, WrongSetting
from bot.repository_config import read_repository_config
from stages.installs import Install


def read(text: str) -> tuple[Install, ...] | None:
    return read_repository_config(text.encode()).install


def test_without_the_table_lock_files_say() -> None:
    assert read("") is None
    assert read("[install]") is None


def test_an_empty_command_installs_nothing() -> None:
    assert read("[install]\ncommand = []") == ()


def test_a_command_takes_the_place_of_what_is_detected() -> None:
    text = """
[install]
command = ["sh", "-c", "make deps TO={kept}"]
files = ["Makefile", "./deps.txt"]
keeps = ["web/node_modules"]
folder = "web"
environment = { INDEX = "https://packages.example.com/" }
timeout_seconds = 60
"""
    (step,) = read(text) or ()

    assert step == Install(
        name="the command of [install]",
        commands=(("sh", "-c", "make deps TO={kept}"),),
        folder="web",
        files=("Makefile", "deps.txt"),
        keeps=("web/node_modules",),
        environment=(("INDEX", "https://packages.example.com/"),),
        timeout_seconds=60,
    )
    assert not step.detected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('command = [""]', "install.command"),
        ('command = "make"', "install.command"),
        ('command = ["x"]\nfiles = ["../x"]', "install.files"),
        ('command = ["x"]\nfiles = ["/etc/passwd"]', "install.files"),
        ('command = ["x"]\nfiles = ["*.txt"]', "install.files"),
        ('command = ["x"]\nfiles = ["."]', "install.files"),
        ('command = ["x"]\nkeeps = [".git/hooks"]', "install.keeps"),
        ('command = ["x"]\nenvironment = { LD_PRELOAD = "x" }', "install.environment"),
        ('files = ["x"]', "beside a `command`"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, told: str) -> None:
    with pytest.raises(WrongSetting, match=told.replace(".", r"\.")):
        read(f"[install]\n{text}")


def test_the_network_is_for_the_operator_to_open() -> None:
    with pytest.raises(UnknownSetting, match=r"install\.hosts"):
        read('[install]\ncommand = ["x"]\nhosts = ["evil.example"]')
