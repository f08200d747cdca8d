"""`[program]` and `[install]` of the operator's settings: nothing is open unless it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import Settings, read_settings
from bot.errors import UnknownSetting, VariableNotSet, WrongSetting
from bot.outside import Outside
from bot.programs import program_for

KEY = "sk-canary-4be1f0a97b1d90c2"


def read(folder: Path, text: str, **variables: str) -> Settings:
    file = folder / "ticketsmith.toml"
    file.write_text(text)
    return read_settings({"HOME": str(folder), **variables}, file)


def test_nothing_of_the_outside_is_open_by_default(tmp_path: Path) -> None:
    assert read(tmp_path, "").outside == Outside()
    assert read(tmp_path, "").outside.install_hosts == ()


def test_hosts_and_variables_are_what_the_operator_names(tmp_path: Path) -> None:
    text = """
[program]
hosts = ["API.example.com", "127.0.0.1:8080"]
environment = ["MODEL_KEY", "LOCALE"]
[install]
hosts = ["packages.example.com:8443"]
"""
    outside = read(tmp_path, text, MODEL_KEY=KEY, LOCALE="de", OTHER="x").outside

    assert outside.program_hosts == ("api.example.com", "127.0.0.1:8080")
    assert outside.install_hosts == ("packages.example.com:8443",)
    assert outside.variables == {"MODEL_KEY": KEY, "LOCALE": "de"}


def test_sec_17_the_value_of_a_programs_variable_is_a_secret_whatever_its_name(tmp_path: Path) -> None:
    settings = read(tmp_path, '[program]\nenvironment = ["PLAIN"]', PLAIN=KEY)

    assert KEY in settings.secrets()
    assert KEY not in repr(settings)


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "github_token",
        "GITHUB_PAT",
        "ACTIONS_RUNTIME_TOKEN",
        "LD_PRELOAD",
        "TICKETSMITH_MODEL",
        "A=B",
        "a b",
    ],
)
def test_an_agent_never_holds_a_credential_of_github(tmp_path: Path, name: str) -> None:
    with pytest.raises(WrongSetting, match=r"program\.environment"):
        read(tmp_path, f'[program]\nenvironment = ["{name}"]', **{name: "x"})


@pytest.mark.parametrize(
    "value", ["ghp_" + "a" * 36, "ghs_1.b.c", "x github_pat_11A", "-----BEGIN RSA PRIVATE KEY-----\nMII"]
)
def test_an_agent_never_holds_a_credential_of_github_under_another_name(tmp_path: Path, value: str) -> None:
    with pytest.raises(WrongSetting, match="MODEL_KEY is none"):
        read(tmp_path, '[program]\nenvironment = ["MODEL_KEY"]', MODEL_KEY=value)


def test_an_agent_never_holds_the_secret_of_the_webhooks(tmp_path: Path) -> None:
    text = '[program]\nenvironment = ["HOOKS"]\n[app]\nwebhook_secret_variable = "HOOKS"'

    with pytest.raises(WrongSetting, match="HOOKS is none"):
        read(tmp_path, text, HOOKS="x" * 40)


def test_what_is_the_operators_own_is_closed_to_programs(tmp_path: Path) -> None:
    text = 'home = "state"\ndatabase = "d.sqlite"\n[app]\nkey = "key.pem"\nwebhook_secrets = "hooks"'

    closed = read(tmp_path, text).outside.closed

    own = (".", "state", "d.sqlite", "ticketsmith.toml", "app.json", "key.pem", "hooks")
    assert set(closed) == {tmp_path / name for name in own}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[program]\nhosts = ["https://api.example.com/"]', "is no host"),
        ('[install]\nhosts = ["*"]', "is no host"),
        ('[install]\nhosts = "x"', "a list of texts"),
    ],
)
def test_what_is_no_host_is_refused_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(WrongSetting, match=told):
        read(tmp_path, text)


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting, match=r"install\.host"):
        read(tmp_path, '[install]\nhost = ["x"]')


def test_a_variable_without_a_value_is_told_before_a_run_begins(tmp_path: Path) -> None:
    outside = read(tmp_path, '[program]\nenvironment = ["MODEL_KEY"]').outside

    with pytest.raises(VariableNotSet, match=r"MODEL_KEY.*has no value here"):
        program_for(("sh",), outside)


def test_a_program_gets_what_is_open_to_it(tmp_path: Path) -> None:
    outside = read(tmp_path, '[program]\nhosts = ["h.example"]\nenvironment = ["A"]', A="1").outside

    program = program_for(("sh",), outside)

    assert (program.hosts, program.environment) == (("h.example",), {"A": "1"})
