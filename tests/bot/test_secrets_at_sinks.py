"""No secret stands in what a run leaves for people, nor in how it names its agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app import App, Choices
from bot.config import Settings
from bot.errors import SecretInCommand
from bot.leaving import sentence
from tests.bot.kit import TICKET, Bed, Script, bed, told, writes
from tests.bot.laid import published
from tests.bot.scenes import secret


def left_behind(ground: Bed) -> str:
    files = [path for path in (ground.home / "runs").rglob("*") if path.is_file()]
    return "\n".join(path.read_text() for path in files)


def test_a_patch_held_for_a_secret_leaves_no_patch_file(tmp_path: Path) -> None:
    ground = bed(tmp_path, attempts=1)
    app = ground.app(Script.of(develop=writes("key.txt", f"{secret()}\n")))

    run = ground.fix(app)

    assert told(app, run) == ["hold: leak", "final hold: leak"]
    assert not app.publisher.path(run, "patch.diff").exists()
    assert secret() not in left_behind(ground)


def test_a_summary_that_repeats_a_secret_is_scrubbed(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app(Script.of(summarise={"text": f"The key is {secret()}."}))

    run = ground.fix(app)

    assert "The key is [secret]" in app.publisher.path(run, "summary.md").read_text()


def test_a_patch_that_is_kept_unpublished_is_scrubbed(tmp_path: Path) -> None:
    ground = bed(tmp_path)
    app = ground.app()
    run = app.open_run(TICKET, ground.repository, ground.repository.resolve())

    kept = app.publisher.keep(run, f"+key = '{secret()}'\n").read_text()

    assert kept == "+key = '[secret]'\n"


def test_a_published_patch_is_what_the_branch_holds(tmp_path: Path) -> None:
    ground, run = published(tmp_path)
    app = ground.app()

    assert app.publisher.path(run, "patch.diff").read_text() == app.stores.runs.get(run.id).patch


@pytest.mark.parametrize("command", [("fixer", "--token", secret()), ("env", f"API_KEY={secret()}", "fixer")])
def test_an_agent_whose_command_holds_a_secret_is_refused_before_anything_is_written(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    ground = bed(tmp_path)
    settings = Settings(home=ground.home, database=ground.home / "ticketsmith.sqlite")
    app = App(settings, Choices(agent=command, trusted=True))

    with pytest.raises(SecretInCommand) as refused:
        app.open_run(TICKET, ground.repository, ground.repository.resolve())

    assert "pass it by a file" in sentence(refused.value)
    assert secret() not in sentence(refused.value)
    assert app.stores.runs.list() == ()
