"""`app create`: what GitHub is asked for, the page that asks it, and what is kept of its answer."""

from __future__ import annotations

import html
import json
import re
import threading
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import click.testing
import httpx
import pytest

from bot.app_creation import NoCode, Wanted, WrongName, ask_for_code, create
from bot.app_manifest import ALWAYS_SENT, EVENTS, NEVER, PERMISSIONS, manifest
from bot.app_settings import AppSettings
from bot.cli import ticketsmith
from bot.credentials import read_app_file
from bot.forge.errors import NotThere, Rejected
from bot.forge.manifests import made_app
from bot.intake import EVENTS as READ
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub

WANTED: Final = Wanted(name="smith", webhook="https://bot.example/webhook")


# --- The manifest --------------------------------------------------------------------------------------------------


def test_the_manifest_asks_for_what_is_used_and_for_nothing_else() -> None:
    asked = json.loads(manifest(name="smith", page="https://x", webhook="https://bot.example/webhook", created="c"))

    assert asked["default_permissions"] == {
        "metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write", "checks": "write",
        "deployments": "read",
    }  # fmt: skip
    assert not set(asked["default_permissions"]) & {"workflows", "administration", "actions", "secrets", *NEVER}
    assert asked["hook_attributes"] == {"url": "https://bot.example/webhook", "active": True}
    assert asked["public"] is False


def test_the_events_of_the_manifest_are_those_that_are_read() -> None:
    assert set(EVENTS) | ALWAYS_SENT == set(READ)


# --- The page ------------------------------------------------------------------------------------------------------


class Browser:
    """Asks in a thread, as a person's browser would answer; what it does runs when the page's address is known."""

    def __init__(self, settings: AppSettings, wanted: Wanted = WANTED, seconds: float = 10.0) -> None:
        self.told = threading.Event()
        self.address, self.code = "", ""
        self.error: NoCode | None = None
        self._thread = threading.Thread(target=self._ask, args=(settings, wanted, seconds))
        self._thread.start()
        assert self.told.wait(10)

    def _ask(self, settings: AppSettings, wanted: Wanted, seconds: float) -> None:
        try:
            self.code = ask_for_code(settings, wanted, self._tell, seconds=seconds)
        except NoCode as error:
            self.error = error

    def _tell(self, address: str) -> None:
        self.address = address
        self.told.set()

    def get(self, path: str = "", **more: Any) -> httpx.Response:
        return httpx.get(self.address + path, trust_env=False, **more)

    def form(self) -> tuple[str, dict[str, Any]]:
        """Where the form goes, and the manifest in it."""
        page = self.get().text
        action, value = re.findall(r'(?:action|value)="([^"]*)"', page)
        return html.unescape(action), json.loads(html.unescape(value))

    def close(self) -> None:
        self._thread.join(15)


@pytest.mark.parametrize(
    ("base_url", "organization", "target"),
    [
        ("https://api.github.com", "", "https://github.com/settings/apps/new"),
        ("https://ghe.example/api/v3", "", "https://ghe.example/settings/apps/new"),
        ("https://api.github.com", "a/b?", "https://github.com/organizations/a%2Fb%3F/settings/apps/new"),
    ],
)
def test_r47_the_page_hands_the_manifest_to_the_github_of_the_settings(
    base_url: str, organization: str, target: str
) -> None:
    wanted = Wanted(name='s"><script>', webhook="https://bot.example/webhook", organization=organization)
    browser = Browser(AppSettings(base_url=base_url), wanted)

    action, asked = browser.form()
    state = parse_qs(urlsplit(action).query)["state"][0]
    shown = browser.get()
    done = browser.get(f"created?code=abc&state={state}")
    browser.close()

    assert action.partition("?")[0] == target
    assert (asked["name"], asked["default_permissions"]) == ('s"><script>', dict(PERMISSIONS))
    assert asked["redirect_url"] == browser.address + "created"
    assert "<script>" not in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert (done.status_code, browser.code) == (200, "abc")


@pytest.mark.parametrize("query", ["code=abc", "code=abc&state=x", "state={state}", "code=a&code=b&state={state}"])
def test_what_does_not_belong_to_this_page_is_refused(query: str) -> None:
    browser = Browser(AppSettings())
    state = parse_qs(urlsplit(browser.form()[0]).query)["state"][0]

    refused = browser.get(f"created?{query.format(state=state)}")
    good = browser.get(f"created?code=good&state={state}")
    browser.close()

    assert (refused.status_code, good.status_code, browser.code) == (400, 200, "good")


def test_a_name_that_somebody_let_point_here_gets_nothing() -> None:
    browser = Browser(AppSettings(), seconds=1.0)

    answers = [browser.get(headers={"host": "evil.example"}), browser.get("other")]
    browser.close()

    assert [answer.status_code for answer in answers] == [400, 404]
    assert "manifest" not in answers[0].text
    assert "--code" in str(browser.error)


@pytest.mark.parametrize("name", ["", " ", "x" * 35])
def test_a_name_that_github_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(WrongName):
        Wanted(name=name, webhook="https://bot.example")


# --- What comes back -----------------------------------------------------------------------------------------------


def ready(hub: GitHub, **more: object) -> str:
    """A code that GitHub takes."""
    made = {"pem": hub.key, "webhook_secret": "5" * 40, "client_id": "Iv1", "client_secret": "7" * 40}
    hub.state.manifests["c0de"] = {**made, **more}
    return "c0de"


def test_a_code_is_exchanged_once_for_key_and_secret(github: GitHub) -> None:  # noqa: F811
    kept, made = create(AppSettings(base_url=github.url), ready(github))

    assert (kept.id, kept.slug, kept.bot) == (4242, "ticketsmith-test", github.state.bot.id)
    assert (kept.key, kept.webhook_secrets) == (github.key, ("5" * 40,))
    assert github.key not in repr(made)
    assert "5" * 40 not in repr(made)
    with pytest.raises(NotThere, match="taken once"):
        made_app(github.url, "c0de")


@pytest.mark.parametrize("secret", [None, "", "short"])
def test_where_github_makes_no_good_secret_a_new_one_is_made(github: GitHub, secret: str | None) -> None:  # noqa: F811
    kept, made = create(AppSettings(base_url=github.url), ready(github, webhook_secret=secret))

    assert len(kept.webhook_secrets[0]) == 64
    assert kept.webhook_secrets[0] != made.webhook_secret


def test_an_app_whose_account_is_not_shown_yet_is_kept_without_it(github: GitHub) -> None:  # noqa: F811
    github.fault("GET /app", times=9, status=404)

    kept, _ = create(AppSettings(base_url=github.url), ready(github))

    assert (kept.id, kept.bot) == (4242, None)


@pytest.mark.parametrize("code", ["", "../app", "a b", "x" * 300])
def test_what_is_no_code_is_never_sent(code: str) -> None:
    with pytest.raises(Rejected):
        made_app("http://127.0.0.1:9", code)


# --- The command ---------------------------------------------------------------------------------------------------


def call(folder: Path, base_url: str, *arguments: str) -> click.testing.Result:
    environment = {
        "HOME": str(folder),
        "TICKETSMITH_CONFIG": str(folder / "ticketsmith.toml"),
        "TICKETSMITH_APP_BASE_URL": base_url,
    }
    (folder / "ticketsmith.toml").touch()
    return click.testing.CliRunner(env=environment).invoke(ticketsmith, ["app", "create", *arguments])


def test_the_command_keeps_the_app_and_says_what_comes_next(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    done = call(tmp_path, github.url, "--code", ready(github))

    kept = read_app_file(AppSettings(credentials=tmp_path / "app.json"))
    assert (done.exit_code, kept and kept.id) == (0, 4242)
    assert (tmp_path / "app.json").stat().st_mode & 0o777 == 0o600
    assert "ticketsmith doctor" in done.output
    assert "PRIVATE KEY" not in done.output
    assert "5" * 40 not in done.output


def test_the_command_goes_through_the_page(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    ready(github)

    def browse(address: str) -> None:
        page = httpx.get(address, trust_env=False).text
        state = re.findall(r"state=([\w-]+)", page)[0]
        httpx.get(f"{address}created?code=c0de&state={state}", trust_env=False)

    monkeypatch.setattr("webbrowser.open", browse)

    done = call(tmp_path, github.url, "--url", "https://bot.example/webhook")

    assert done.exit_code == 0, done.output
    assert (tmp_path / "app.json").exists()


def test_an_app_that_is_there_is_not_written_over(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "app.json").write_text("{}")

    done = call(tmp_path, github.url, "--code", ready(github))

    assert done.exit_code == 2
    assert "holds an App already" in done.output
    assert (tmp_path / "app.json").read_text() == "{}"


def test_the_command_wants_to_know_where_github_reaches_it(tmp_path: Path) -> None:
    assert "--url must be the address" in call(tmp_path, "https://ghe.example/api/v3").output
