"""What may be spent in a day, as the operator writes it down."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import Settings, read_settings
from bot.errors import UnknownSetting, WrongSetting
from bot.walls import Wall, Walls


def settings(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "ticketsmith.toml"
    path.write_text(text)
    return read_settings({"HOME": str(tmp_path)}, path)


def test_walls_are_read_and_what_is_not_named_stays_usual(tmp_path: Path) -> None:
    read = settings(tmp_path, "[limits.repository]\ncalls = 9\n[limits.actor]\nmoney = 2\nminutes = 30\n")

    assert read.walls == Walls(repository=Wall(calls=9, money=25.0), actor=Wall(money=2.0, minutes=30.0))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[limits.repositry]\ncalls = 1\n", UnknownSetting),
        ("[limits.day]\ncall = 1\n", UnknownSetting),
        ("[limits.day]\nmoney = -1\n", WrongSetting),
        ("[limits.day]\ncalls = 0\n", WrongSetting),
        ("[limits]\nactor = 5\n", WrongSetting),
    ],
)
def test_a_wall_that_means_nothing_is_refused(tmp_path: Path, text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        settings(tmp_path, text)
