"""The README names every command, setting and exit status, and nothing that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

import click
import pytest

from bot import exits
from bot.app_settings import AppSettings
from bot.cli import ticketsmith
from bot.config import PREFIX, Settings, read_settings
from bot.repository_config import PatchSize, RepositoryConfig, read_repository_config
from bot.walls import Walls
from stages.agents.limits import Limits

README: Final = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
SECRETS: Final = {"model_key", "hidden", "webhook_secret"}  # read from other variables
OF_THE_APP: Final = {one.name for one in fields(AppSettings)} - SECRETS
OF_A_DAY: Final = {one.name for one in fields(Walls)}  # in the file alone
OF_THE_OUTSIDE: Final = {"hosts", "environment"}  # of [program] and [install], in the file alone
VALUES: Final = {"engine_url": "sqlite:////x", "workers": "3",
    "sandbox": "plain", "agent": "loop", "attempts": "2", "transcript_days": "7",
    "calls": "9", "tokens": "9", "money": "1", "minutes": "1", "candidate_runs": "9",
    "id": "9", "port": "9", "pause_after": "9", "mode": "ready", "allowed_bots": "9", "base_url": "https://ghe.example/api/v3",
}  # fmt: skip
EXAMPLES: Final = {
    "checks": '[checks.lint]\ncommand = ["lint"]\nfolder = "src"\ntimeout_seconds = 9\n[checks.unit]\npytest = []\n',
    "services": '[services.db]\ncommand = ["db"]\n',
    "size": "[size]\nfiles = 1\nlines = 2\nbytes = 3\n",
    "protected": 'protected = ["*.sql"]\n',
    "attempts": "attempts = 2\n",
    "install": '[install]\ncommand = ["make", "deps"]\nfiles = ["Makefile"]\nkeeps = ["node_modules"]\n',
    "memory": '[memory]\nrule = "coverage"\n',
}


def section(heading: str) -> str:
    return README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if row and not set(row) <= {"-", " "}]


def commands(group: click.Command = ticketsmith, name: str = "ticketsmith") -> Iterator[tuple[str, click.Command]]:
    if isinstance(group, click.Group):
        if group.invoke_without_command:
            yield name, group
        context = click.Context(group)
        for one in group.list_commands(context):
            command = group.get_command(context, one)
            assert command is not None
            yield from commands(command, f"{name} {one}")
    else:
        yield name, group


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda one: one if isinstance(one, str) else "")
def test_a_command_is_in_the_readme_and_has_help(name: str, command: click.Command) -> None:
    shown = [cell.strip("`") for cell in first_cells(section("Commands"))]
    needed = [one.name.upper() for one in command.params if isinstance(one, click.Argument) and one.name]

    assert " ".join([name, *needed]) in shown
    assert command.help


def test_the_readme_names_no_other_commands() -> None:
    shown = [cell.strip("`") for cell in first_cells(section("Commands")) if cell.startswith("`")]

    assert {re.sub(r" [A-Z]+", "", one) for one in shown} == {name for name, _ in commands()}


def operator_keys() -> set[str]:
    own = {one.name for one in fields(Settings)} - SECRETS - {"limits", "walls", "app", "outside"}
    return own | OF_A_DAY | OF_THE_OUTSIDE | {one.name for one in fields(Limits)} | OF_THE_APP


def documented_operator_keys() -> dict[str, str]:
    """Key → variable, as the first table says."""
    table = section("Configuration").partition("For a repository")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][2:]
    return {re.findall(r"`\W*(\w+)", key)[-1]: variable.strip().strip("`") for key, variable in rows if key.strip()}


def test_the_readme_names_every_setting_of_the_operator() -> None:
    assert set(documented_operator_keys()) == operator_keys()


@pytest.mark.parametrize(("key", "variable"), list(documented_operator_keys().items()))
def test_a_setting_has_the_variable_that_the_readme_names(key: str, variable: str, tmp_path: Path) -> None:
    if key in {"prices", *OF_A_DAY, *OF_THE_OUTSIDE}:
        assert variable == ""
        return

    settings = read_settings({"HOME": str(tmp_path), variable: VALUES.get(key, "/x")})

    place: object = settings.limits if key in {one.name for one in fields(Limits)} else settings
    place = settings.app if key in OF_THE_APP else place
    assert variable == f"{PREFIX}{'APP_' if key in OF_THE_APP else ''}{key.upper()}"
    assert str(getattr(place, key)) is not None


def test_the_readme_names_every_setting_of_a_repository() -> None:
    table = section("Configuration").partition("For a repository")[2]
    documented = {re.findall(r"`\W*(\w+)", cell)[0] for cell in first_cells(table) if cell.startswith("`")}

    assert documented == {one.name for one in fields(RepositoryConfig)}
    for name in {one.name for one in fields(PatchSize)} | {"folder", "timeout_seconds", "command", "pytest"}:
        assert f"`{name}`" in table


@pytest.mark.parametrize("key", [one.name for one in fields(RepositoryConfig)])
def test_a_setting_of_a_repository_is_taken(key: str) -> None:
    text = EXAMPLES.get(key, f'{key} = "docs"\n')

    assert read_repository_config(text.encode()) != RepositoryConfig()


def test_the_readme_names_every_exit_status() -> None:
    table = README.partition("| exit status of `fix` |")[2].partition("\n## ")[0]

    assert {int(cell) for cell in first_cells(table) if cell.isdigit()} == {
        0,
        exits.WITHOUT_PATCH,
        exits.UNUSABLE,
        exits.PARKED,
        exits.INTERRUPTED,
        exits.TERMINATED,
    }
