"""Which agent and interpreter a run gets, and what it may spend."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.agents import OFFLINE_LIMITS, model_of, program_name, program_of
from bot.budget import budget_of
from bot.config import Price, Settings
from bot.interpreter import interpreter
from bot.repository_config import RepositoryConfig
from stages.agents.limits import Limits
from stages.offline import MODEL as OFFLINE
from tests.bot.kit import bed
from tests.bot.laid import published


def settings(folder: Path, **more: object) -> Settings:
    return Settings(home=folder, database=folder / "t.sqlite", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", [("agent",), ("agent", "-c", "a b 'c'"), ("/opt/my agent", "")])
def test_the_name_of_a_program_gives_its_command_back(command: tuple[str, ...]) -> None:
    assert program_of(program_name(command)) == command


@pytest.mark.parametrize("name", ["", "openai/gpt-5", OFFLINE])
def test_the_name_of_a_model_is_no_program(name: str) -> None:
    assert program_of(name) == ()
    assert program_name(()) == ""


def test_a_model_has_the_price_and_the_key_of_the_operator(tmp_path: Path) -> None:
    own = settings(
        tmp_path,
        model_key="not-a-key",
        model_key_variable="SHOP_KEY",
        model_url="http://127.0.0.1:1",
        prices={"acme/one": Price(input=1.0, output=2.0)},
    )

    model = model_of("acme/one", own)

    assert model.price is not None
    assert (model.price.input, model.price.output) == (1.0, 2.0)
    assert (model.key, model.key_variable, model.url) == ("not-a-key", "SHOP_KEY", "http://127.0.0.1:1")
    assert model_of("acme/two", own).price is None


def test_the_embedded_model_is_free_and_bounded_by_time(tmp_path: Path) -> None:
    ground, run = published(tmp_path)
    events = ground.app().stores.events.of(run.id)

    free = budget_of(run, OFFLINE, Limits(), events, lambda: False)
    bounded = budget_of(run, OFFLINE, Limits(calls=9), events, lambda: False)
    paid = budget_of(run, "acme/one", Limits(), events, lambda: False)

    assert model_of(OFFLINE, settings(tmp_path)).price is not None
    assert (free.limits, bounded.limits.calls, paid.limits) == (OFFLINE_LIMITS, 9, Limits())
    assert (paid.spent.calls, paid.spent.tokens) == (5, 50)
    assert paid.spent.minutes >= run.spent.minutes > 0


def test_tests_run_with_our_own_interpreter_where_there_is_no_other(tmp_path: Path) -> None:
    assert interpreter(RepositoryConfig(), bed(tmp_path).repository) == Path(sys.executable)
