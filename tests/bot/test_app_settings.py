"""The table [app], and the files with the App's secrets: what is wrong is refused, and nobody else may read them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from bot.app_settings import AppSettings, PublishMode
from bot.config import Settings, read_settings
from bot.credentials import (
    AppFile,
    NoApp,
    NoKey,
    NoSecret,
    SecretReadable,
    SecretTooShort,
    SecretUnusable,
    app_id,
    bot_id,
    private_key,
    read_app_file,
    webhook_secrets,
    write_app_file,
)
from bot.errors import UnknownSetting, WrongSetting

SECRET: Final = "a" * 32
OTHER: Final = "b" * 64
PEM: Final = "-----BEGIN RSA PRIVATE KEY-----\nxyz\n-----END RSA PRIVATE KEY-----\n"
KEPT: Final = AppFile(id=42, slug="smith", bot=900, key=PEM, webhook_secrets=(SECRET,))


def read(folder: Path, text: str = "", **variables: str) -> Settings:
    config = folder / "ticketsmith.toml"
    config.write_text(text)
    return read_settings({"HOME": str(folder), **variables}, config)


def secret_file(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_table_of_the_app_is_read(tmp_path: Path) -> None:
    text = """
    [app]
    id = 42
    key = "app.pem"
    label = "fix it"
    base_url = "https://ghe.example/api/v3/"
    mode = "branch"
    allowed_bots = [901]
    address = "0.0.0.0"
    port = 9000
    """

    app = read(tmp_path, text).app

    assert app == AppSettings(
        id=42, key=tmp_path / "app.pem", label="fix it", base_url="https://ghe.example/api/v3", mode=PublishMode.BRANCH,
        allowed_bots=(901,), address="0.0.0.0", port=9000, credentials=tmp_path / "app.json",
    )  # fmt: skip


def test_the_environment_wins_over_the_table_of_the_app(tmp_path: Path) -> None:
    app = read(
        tmp_path,
        '[app]\nid = 42\nlabel = "one"\n',
        TICKETSMITH_APP_ID="43",
        TICKETSMITH_APP_ALLOWED_BOTS="901, 902",
        TICKETSMITH_APP_WEBHOOK_SECRET_VARIABLE="TICKETSMITH_HOOK",
        TICKETSMITH_HOOK=f"{SECRET} {OTHER}",
    ).app

    assert (app.id, app.label, app.allowed_bots) == (43, "one", (901, 902))
    assert webhook_secrets(app) == (SECRET.encode(), OTHER.encode())


def test_a_secret_shows_in_no_representation_and_is_one_of_those_that_are_never_written(tmp_path: Path) -> None:
    settings = read(tmp_path, '[app]\nwebhook_secret_variable = "HOOK"\n', HOOK=f"{SECRET} {OTHER}")

    assert SECRET not in repr(settings)
    assert {SECRET, OTHER} <= set(settings.secrets())
    assert SECRET not in repr(KEPT)
    assert PEM not in repr(KEPT)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('labl = "x"', UnknownSetting),
        ('id = "42"', WrongSetting),
        ("id = 0", WrongSetting),
        ('label = ""', WrongSetting),
        ('label = "ticketsmith:working"', WrongSetting),
        (f'label = "{"x" * 51}"', WrongSetting),
        ('mode = "force"', WrongSetting),
        ('base_url = "http://ghe.example/api/v3"', WrongSetting),
        ('base_url = "https://user@ghe.example"', WrongSetting),
        ('base_url = "https://[::1"', WrongSetting),
        ('base_url = "ftp://ghe.example"', WrongSetting),
        ('allowed_bots = ["helper[bot]"]', WrongSetting),
        ('allowed_bots = "*"', WrongSetting),
        ("allowed_bots = [true]", WrongSetting),
        ("allowed_bots = {}", WrongSetting),
        ("port = 70000", WrongSetting),
    ],
)
def test_f71_a_setting_of_the_app_that_is_unknown_or_wrong_is_refused(
    tmp_path: Path, line: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(tmp_path, f"[app]\n{line}\n")


@pytest.mark.parametrize(
    ("base_url", "web"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com"),
        ("https://ghe.example/api/v3", "https://ghe.example"),
        ("http://127.0.0.1:8000/api/v3", "http://127.0.0.1:8000"),
    ],
)
def test_r47_pages_have_the_address_that_follows_from_the_one_base_address(base_url: str, web: str) -> None:
    assert AppSettings(base_url=base_url).web == web


# --- Files ---------------------------------------------------------------------------------------------------------


def test_what_app_create_keeps_is_read_back_by_its_owner_alone(tmp_path: Path) -> None:
    app = AppSettings(credentials=tmp_path / "config" / "app.json")
    write_app_file(app.credentials, AppFile(id=1))

    write_app_file(app.credentials, KEPT)

    assert app.credentials.stat().st_mode & 0o777 == 0o600
    assert (app_id(app), bot_id(app), private_key(app), webhook_secrets(app)) == (42, 900, PEM, (SECRET.encode(),))
    assert [path.name for path in app.credentials.parent.iterdir()] == ["app.json"]


def test_what_is_named_goes_before_what_app_create_kept(tmp_path: Path) -> None:
    credentials = tmp_path / "app.json"
    write_app_file(credentials, KEPT)
    key = secret_file(tmp_path / "k.pem", PEM.replace("xyz", "uvw"))
    hooks = secret_file(tmp_path / "hooks", f"{SECRET}\n{OTHER}\n{SECRET}\n")

    app = AppSettings(id=7, credentials=credentials, key=key, webhook_secrets=hooks)

    assert (app_id(app), bot_id(app)) == (7, None)
    assert "uvw" in private_key(app)
    assert webhook_secrets(app) == (SECRET.encode(), OTHER.encode())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    hooks = secret_file(tmp_path / "hooks", SECRET, mode)

    with pytest.raises(SecretReadable, match=f"mode {mode:03o}.*chmod 600"):
        webhook_secrets(AppSettings(credentials=tmp_path / "none", webhook_secrets=hooks))


@pytest.mark.parametrize("secret", ["short", "a" * 31])
def test_sec_1_a_secret_of_fewer_than_32_bytes_is_refused(secret: str) -> None:
    with pytest.raises(SecretTooShort, match=f"has {len(secret)} bytes"):
        webhook_secrets(AppSettings(webhook_secret=secret, webhook_secret_variable="HOOK"))


def test_sec_1_without_a_secret_nothing_is_trusted(tmp_path: Path) -> None:
    app = AppSettings(credentials=tmp_path / "none")
    empty = secret_file(tmp_path / "hooks", "\n")

    with pytest.raises(NoSecret):
        webhook_secrets(app)
    with pytest.raises(NoSecret):
        webhook_secrets(AppSettings(credentials=tmp_path / "none", webhook_secrets=empty))
    with pytest.raises(NoApp, match="app create"):
        app_id(app)
    with pytest.raises(NoKey):
        private_key(app)
    assert read_app_file(app) is None


def test_a_file_that_is_no_secret_is_refused(tmp_path: Path) -> None:
    broken = secret_file(tmp_path / "app.json", '{"id": "x"')
    pipe = tmp_path / "folder"
    pipe.mkdir()

    with pytest.raises(SecretUnusable, match="app create"):
        app_id(AppSettings(credentials=broken))
    with pytest.raises(SecretUnusable, match="PEM"):
        private_key(AppSettings(key=broken))
    with pytest.raises(SecretUnusable):
        private_key(AppSettings(key=tmp_path / "none"))
    with pytest.raises(SecretUnusable):
        private_key(AppSettings(key=pipe))


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    (tmp_path / "app.json.new").symlink_to(target)

    write_app_file(tmp_path / "app.json", KEPT)

    assert target.read_text() == "kept"
    assert not os.path.islink(tmp_path / "app.json")
