"""Settings are read once, from a file and the environment, and what is not known is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import ATTEMPTS, Price, Settings, read_settings
from bot.errors import ConfigBroken, ConfigMissing, ConfigUnreadable, UnknownSetting, WrongInput, WrongSetting
from stages.agents.limits import Limits
from stages.sandbox import Level


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def read(home: Path, text: str = "", **variables: str) -> Settings:
    file = home / "ticketsmith.toml"
    file.write_text(text, "utf-8")
    return read_settings({"HOME": str(home), **variables}, file)


def test_without_a_file_the_defaults_hold(home: Path) -> None:
    settings = read_settings({"HOME": str(home)})

    assert settings.home == home / ".local/state/ticketsmith"
    assert settings.database == settings.home / "ticketsmith.sqlite"
    assert (settings.model, settings.agent, settings.sandbox) == ("", (), None)
    assert (settings.attempts, settings.limits, settings.installation) == (ATTEMPTS, Limits(), "local")
    assert settings.secrets() == ()


def test_the_xdg_folders_are_used_when_they_are_absolute(home: Path) -> None:
    config = home / "config/ticketsmith/ticketsmith.toml"
    config.parent.mkdir(parents=True)
    config.write_text('model = "offline/repair"')
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_STATE_HOME": "relative"}

    settings = read_settings(environment)

    assert settings.model == "offline/repair"
    assert settings.home == home / ".local/state/ticketsmith"


def test_every_setting_can_stand_in_the_file(home: Path) -> None:
    settings = read(
        home,
        """
        home = "state"
        database = "~/runs.sqlite"
        installation = "acme"
        model = "openai/gpt"
        model_url = "http://127.0.0.1:8000/v1"
        model_key_variable = "MY_MODEL"
        agent = ["my-agent", "--json"]
        attempts = 5
        sandbox = "landlock"
        [limits]
        calls = 10
        candidate_runs = 7
        tokens = 1000
        money = 0.5
        minutes = 2.5
        [prices."openai/gpt"]
        input = 3
        output = 15.0
        """,
        MY_MODEL="short",
    )

    assert settings.home == home / "state"
    assert settings.database == Path("~/runs.sqlite").expanduser()
    assert (settings.installation, settings.model, settings.attempts) == ("acme", "openai/gpt", 5)
    assert (settings.model_url, settings.model_key) == ("http://127.0.0.1:8000/v1", "short")
    assert (settings.agent, settings.sandbox) == (("my-agent", "--json"), Level.LANDLOCK)
    assert settings.limits == Limits(calls=10, tokens=1000, money=0.5, minutes=2.5)
    assert settings.candidate_runs == 7
    assert settings.prices == {"openai/gpt": Price(input=3.0, output=15.0)}
    assert settings.secrets() == ("short",)


def test_the_environment_wins_over_the_file(home: Path) -> None:
    settings = read(
        home,
        'model = "a/b"\nattempts = 2\n[limits]\nmoney = 1\ncalls = 7',
        TICKETSMITH_MODEL="offline/repair",
        TICKETSMITH_MONEY="2.5",
        TICKETSMITH_HOME=str(home / "elsewhere"),
        TICKETSMITH_AGENT="my-agent 'two words'",
        TICKETSMITH_ATTEMPTS="",
    )

    assert settings.model == "offline/repair"
    assert (settings.limits.money, settings.limits.calls, settings.attempts) == (2.5, 7, 2)
    assert settings.database == home / "elsewhere/ticketsmith.sqlite"
    assert settings.agent == ("my-agent", "two words")


def test_the_environment_can_name_the_file(home: Path) -> None:
    file = home / "other.toml"
    file.write_text("attempts = 4")

    assert read_settings({"HOME": str(home), "TICKETSMITH_CONFIG": str(file)}).attempts == 4


def test_no_env_file_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".env").write_text("TICKETSMITH_MODEL=evil/model\n")
    monkeypatch.chdir(home)

    assert read(home).model == ""


@pytest.mark.parametrize("auto", ['sandbox = "auto"', ""])
def test_the_strongest_sandbox_is_the_default(home: Path, auto: str) -> None:
    assert read(home, auto).sandbox is None


@pytest.mark.parametrize("agent", ['agent = "loop"', 'agent = ["loop"]'])
def test_the_built_in_loop_has_no_command(home: Path, agent: str) -> None:
    assert read(home, agent).agent == ()


# --- Refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('modle = "x"', "Unknown setting modle in {file}. Did you mean model?"),
        ("[limits]\ncall = 3", "Unknown setting limits.call in {file}. Did you mean calls?"),
        ('[prices."a/b"]\ninput = 1\noutput = 2\ncached = 1', "Unknown setting prices.a/b.cached in {file}."),
        ("attempts = 'three'", "In {file}, attempts must be a whole number from 1 to 20, not 'three'."),
        ("attempts = true", "In {file}, attempts must be a whole number from 1 to 20, not true."),
        ("attempts = 0", "In {file}, attempts must be a whole number from 1 to 20, not 0."),
        ("model = 5", "In {file}, model must be text in quotes, not 5."),
        ("home = []", "In {file}, home must be text in quotes, not an empty list."),
        ("model = 2026-11-03", "In {file}, model must be text in quotes, not a date or time."),
        ("limits = 3", "In {file}, limits must be a table, [limits], not 3."),
        ("[limits]\nmoney = nan", "In {file}, limits.money must be a number from 0 to 1e+06, not nan."),
        ("[limits]\nmoney = inf", "In {file}, limits.money must be a number from 0 to 1e+06, not inf."),
        ("[limits]\nminutes = [1]", "In {file}, limits.minutes must be a number from 0 to 10080, not a list."),
        ("sandbox = 'bubblewarp'", "sandbox must be one of auto, bubblewrap, landlock, plain, not 'bubblewarp'."),
        ("agent = []", 'agent must be "loop" or the command of a program, a list of texts, not an empty list.'),
        ("agent = 5", "agent must be a list of texts, not 5."),
        ('agent = "it\'s"', 'agent must be "loop" or the command of a program'),
        (
            '[prices."a/b"]\ninput = 1',
            "prices.a/b.output must be a price in US dollars for a million tokens, not missing.",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(home: Path, text: str, told: str) -> None:
    with pytest.raises((UnknownSetting, WrongSetting)) as error:
        read(home, text)

    assert told.format(file=home / "ticketsmith.toml") in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_status == 2


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("TICKETSMITH_ATEMPTS", "3", "Did you mean TICKETSMITH_ATTEMPTS?"),
        ("TICKETSMITH_ATTEMPTS", "three", "TICKETSMITH_ATTEMPTS must be a whole number from 1 to 20, not 'three'"),
        ("TICKETSMITH_MONEY", "nan", "TICKETSMITH_MONEY must be a number from 0 to 1e+06, not nan"),
        ("TICKETSMITH_SANDBOX", "none", "TICKETSMITH_SANDBOX must be one of auto"),
    ],
)
def test_a_wrong_variable_is_named(home: Path, name: str, value: str, told: str) -> None:
    with pytest.raises((UnknownSetting, WrongSetting)) as error:
        read(home, **{name: value})

    assert told in str(error.value)
    assert "the environment" in str(error.value)


def test_a_key_in_the_wrong_place_is_not_repeated(home: Path) -> None:
    key = "sk-0123456789abcdef"

    with pytest.raises(WrongSetting) as error:
        read(home, f'sandbox = "{key}"')

    assert key not in str(error.value)


def test_a_half_written_file_is_refused(home: Path) -> None:
    with pytest.raises(ConfigBroken, match="only by half"):
        read(home, 'model = "openai/gp')


def test_a_file_that_was_named_must_be_there(home: Path) -> None:
    with pytest.raises(ConfigMissing, match="nowhere"):
        read_settings({"HOME": str(home)}, home / "nowhere.toml")


def test_a_folder_is_no_configuration(home: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="Is a directory"):
        read_settings({"HOME": str(home)}, home)


def test_a_file_of_other_bytes_is_refused(home: Path) -> None:
    (home / "bytes.toml").write_bytes(b'model = "\xff"')

    with pytest.raises(ConfigUnreadable, match="byte 9 is not UTF-8"):
        read_settings({"HOME": str(home)}, home / "bytes.toml")


@given(st.text(max_size=60))
def test_no_text_of_a_file_brings_anything_but_settings_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(text.encode("utf-8", "replace"))

    told = "read"
    try:
        read_settings({"HOME": "/home/mira"}, file)
    except WrongInput as error:
        told = str(error)

    assert len(told.splitlines()) == 1


# --- Secrets -------------------------------------------------------------------------------------------------------


def test_values_of_key_variables_and_passwords_in_urls_are_secret(home: Path) -> None:
    settings = read(
        home,
        ANTHROPIC_API_KEY="sk-ant-0123456789",
        AWS_SECRET_ACCESS_KEY="abcd/efgh/ijkl",
        GH_TOKEN="ghp_0123456789",
        DATABASE_URL="postgresql://bot:letmein-9041@127.0.0.1/bot",
    )

    assert set(settings.secrets()) == {"sk-ant-0123456789", "abcd/efgh/ijkl", "ghp_0123456789", "letmein-9041"}


def test_paths_short_values_and_other_variables_are_no_secrets(home: Path) -> None:
    settings = read(
        home, SSH_PRIVATE_KEY="/home/mira/.ssh/id", CI_TOKEN="short", SORT_KEY="priority", PATH="/usr/bin:/bin"
    )

    assert settings.secrets() == ()


@pytest.mark.parametrize("key", ["/Zk3+abcd/efgh/ijkl", "//Zk3abcd+efgh", ".Zk3abcdefgh", "~Zk3abcdefgh"])
def test_sec_17_a_key_that_begins_as_a_path_does_is_a_secret(home: Path, key: str) -> None:
    assert read(home, AWS_SECRET_ACCESS_KEY=key).secrets() == (key,)


def test_a_representation_of_settings_shows_no_secret(home: Path) -> None:
    settings = read(home, 'model_key_variable = "MINE"', MINE="the-model-key", OPENAI_API_KEY="sk-0123456789")

    assert "the-model-key" not in repr(settings)
    assert "sk-0123456789" not in repr(settings)
    assert settings.secrets()[0] == "sk-0123456789"
