"""`doctor`: each thing that can be missing is one line with the way out, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click.testing
import pytest

from bot.app_manifest import EVENTS
from bot.app_settings import AppSettings
from bot.cli import ticketsmith
from bot.config import Settings
from bot.credentials import AppFile, write_app_file
from bot.doctor import Doctor, Finding
from stages.sandbox import Level
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub

HERE: Final = ("app", "key", "secret", "database", "model", "sandbox")


def settings(hub: GitHub, folder: Path, **app: Any) -> Settings:
    write_app_file(folder / "app.json", AppFile(id=hub.app_id, bot=1, key=hub.key, webhook_secrets=("5" * 40,)))
    hub.state.app_events = list(EVENTS)
    standing: dict[str, Any] = {"credentials": folder / "app.json", "base_url": hub.url, **app}
    return Settings(
        home=folder,
        database=folder / "t.sqlite",
        model="offline/repair",
        sandbox=Level.PLAIN,
        app=AppSettings(**standing),
    )


def look(given: Settings) -> dict[str, Finding]:
    return {one.name: one for one in Doctor(given, now=lambda: datetime.now(UTC)).look()}


def test_where_all_is_well_every_line_says_so(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    found = look(settings(github, tmp_path))

    assert [name for name, one in found.items() if one.ok is not True] == []
    assert list(found) == [
        *HERE, "github", "clock", "permissions", "events", "reachable", "installed for acme", "acme/till",
    ]  # fmt: skip
    assert all(one.way_out == "" for one in found.values())


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (lambda one, _: replace(one, model=""), "model", "No model is configured"),
        (lambda one, _: replace(one, model="nobody/knows-this"), "model", "Nobody knows what"),
        (lambda one, _: replace(one, agent=("no-such-program",)), "model", "There is no program"),
        (lambda one, folder: replace(one, database=folder), "database", "cannot be used"),
        (lambda one, folder: (folder / "app.json").chmod(0o644) or one, "key", "chmod 600"),
        (lambda one, folder: (folder / "app.json").unlink() or one, "app", "app create"),
    ],
)
def test_what_is_missing_here_has_its_way_out(
    github: GitHub,  # noqa: F811
    tmp_path: Path,
    change: Callable[[Settings, Path], Settings],
    name: str,
    said: str,
) -> None:
    found = look(change(settings(github, tmp_path), tmp_path))

    assert found[name].ok is False
    assert said in found[name].said + found[name].way_out


def missing_permission(hub: GitHub) -> None:
    hub.state.app_permissions = {"metadata": "read", "issues": "write", "contents": "read"}


def forbidden_permission(hub: GitHub) -> None:
    hub.state.app_permissions |= {"workflows": "write"}


def missing_events(hub: GitHub) -> None:
    hub.state.app_events = ["issues"]


def failed_delivery(hub: GitHub) -> None:
    hub.hooks.url, hub.hooks.down = "http://127.0.0.1:9/webhook", True
    hub.people.issue(hub.till, hub.ada, "Too dear")


def suspended(hub: GitHub) -> None:
    hub.installation.suspended = True


def not_accepted(hub: GitHub) -> None:
    hub.installation.permissions = {"metadata": "read", "issues": "read"}


def archived(hub: GitHub) -> None:
    hub.till.archived = True


def no_issues(hub: GitHub) -> None:
    hub.till.has_issues = False


def no_label(hub: GitHub) -> None:
    del hub.till.labels["ticketsmith"]


def empty(hub: GitHub) -> None:
    hub.till.git.delete("main")


def nowhere(hub: GitHub) -> None:
    hub.state.installations.clear()


@pytest.mark.parametrize(
    ("break_it", "name", "said", "way_out"),
    [
        (missing_permission, "permissions", "missing: contents: write, pull_requests: write", "grant them on"),
        (forbidden_permission, "permissions", "too much: with workflows", "take them away"),
        (missing_events, "events", "not sent: check_run", "tick them on"),
        (failed_delivery, "reachable", "1 webhooks of a day failed", "does the App's webhook address lead to `serve`?"),
        (suspended, "installed for acme", "suspended", "lift it on"),
        (not_accepted, "installed for acme", "missing: contents: write", "accept what is new"),
        (archived, "acme/till", "archived", "take it out"),
        (no_issues, "acme/till", "issues are switched off", "switch them on"),
        (no_label, "acme/till", "it has no label ticketsmith", "/acme/till/labels"),
        (empty, "acme/till", "its default branch main has no commit", "push one"),
        (nowhere, "installed", "nowhere yet", "/github-apps/ticketsmith-test/installations/new"),
    ],
    ids=lambda one: one.__name__ if callable(one) else "",
)
def test_r46_what_is_missing_on_github_has_its_way_out(
    github: GitHub,  # noqa: F811
    tmp_path: Path,
    break_it: Callable[[GitHub], None],
    name: str,
    said: str,
    way_out: str,
) -> None:
    given = settings(github, tmp_path)
    break_it(github)

    found = look(given)[name]

    assert found.ok is False
    assert said in found.said
    assert way_out in found.way_out


def test_r8_another_label_is_looked_for_where_it_is_configured(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    assert "no label fix it" in look(settings(github, tmp_path, label="fix it"))["acme/till"].said


def test_a_key_of_another_app_is_told_and_nothing_more_is_asked(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    found = look(settings(github, tmp_path, id=7))

    assert found["github"].ok is False
    assert "does `id` belong to this key?" in found["github"].way_out
    assert found["the App on GitHub"].ok is None
    assert "permissions" not in found


def test_a_github_that_does_not_answer_is_told(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    found = look(settings(github, tmp_path, base_url="http://127.0.0.1:9"))

    assert found["github"].ok is False


def test_a_clock_that_is_wrong_is_told(github: GitHub, tmp_path: Path) -> None:  # noqa: F811
    given = settings(github, tmp_path)
    slow = Doctor(given, now=lambda: datetime.now(UTC) - timedelta(minutes=20))

    found = {one.name: one for one in slow.look()}

    assert found["clock"].ok is False
    assert "timedatectl" in found["clock"].way_out


def test_the_command_prints_a_line_for_each_and_ends_with_1_when_something_is_wrong(
    github: GitHub,  # noqa: F811
    tmp_path: Path,
) -> None:
    settings(github, tmp_path)
    no_label(github)
    (tmp_path / "ticketsmith.toml").write_text(
        f'home = "{tmp_path}"\nmodel = "offline/repair"\nsandbox = "plain"\n[app]\nbase_url = "{github.url}"\n'
    )
    runner = click.testing.CliRunner(env={"HOME": str(tmp_path)})
    arguments = ["--config", str(tmp_path / "ticketsmith.toml"), "doctor"]

    plain, as_json = runner.invoke(ticketsmith, arguments), runner.invoke(ticketsmith, [*arguments, "--json"])

    assert (plain.exit_code, as_json.exit_code) == (1, 1)
    assert "✓ app: number 4242" in plain.output
    assert "✗ acme/till: it has no label ticketsmith → make it on" in " ".join(plain.output.split())
    assert [one["name"] for one in json.loads(as_json.output) if not one["ok"]] == ["acme/till"]
