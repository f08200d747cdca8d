"""The bot's earlier pull requests teach what became of them, once."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from bot.cli import ticketsmith
from memory.types import RepositoryId, Scope
from stages.git import Git
from tests.bot.course.kept import Beginning, Copies
from tests.bot.course.town import Town


def memory_is_lost(town: Town) -> None:
    """The program forgets all: one patch was merged, one closed, one sent back and is open."""
    fates = ("merged", "closed", "open")
    made = {fate: town.solved(title=f"The price is wrong, {fate}") for fate in fates}
    pulls = {fate: town.course(issue).pull for fate, issue in made.items()}
    assert None not in pulls.values(), town.outcomes
    merged, closed, open_one = (town.shop.issues[pulls[fate] or 0] for fate in fates)
    town.github.people.review(town.shop, open_one, town.ada, "No.")
    town.github.people.close(town.shop, closed, town.ada)
    commit = town.github.people.merge(town.shop, merged, town.ada)
    town.github.people.check(town.shop, commit, "success", name="unit")
    town.leave()
    (town.home / "ticketsmith.sqlite").rename(town.folder / "old.sqlite")
    Git(folder=town.folder).run("init", "--quiet", str(town.folder / "checkout"))
    git = Git(folder=town.folder / "checkout")
    bare = town.shop.git.path
    pack = Git(folder=bare, git_dir=bare).run("pack-objects", "--all", "--stdout", "-q")
    git.run("unpack-objects", "-q", stdin=pack)
    git.run("update-ref", "refs/heads/main", commit)
    git.run("symbolic-ref", "HEAD", "refs/heads/main")
    git.run("config", "remote.origin.url", f"{town.github.web}/acme/shop.git")


@pytest.fixture
def past(after: Copies) -> Town:
    town, _ = after(Beginning(happens=memory_is_lost))
    return town


def typed(town: Town, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    for name, value in {
        "HOME": town.home,
        "APP_ID": town.github.app_id,
        "APP_KEY": town.key,
        "APP_BASE_URL": town.github.url,
    }.items():
        monkeypatch.setenv(f"TICKETSMITH_{name}", str(value))
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    command = ["memory", "backfill", "--repo", str(town.folder / "checkout"), *words]
    return CliRunner().invoke(ticketsmith, command, catch_exceptions=False)


def test_a_dry_run_shows_kinds_first_and_writes_nothing(past: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = typed(past, monkeypatch, "--dry-run", "--json")

    assert json.loads(shown.output) == [
        {"kind": "drop: closed-by-human", "count": 1},
        {"kind": "hold: review", "count": 1},
        {"kind": "verify: worked", "count": 1},
    ]


def test_history_becomes_lessons_once(past: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    first = typed(past, monkeypatch)
    second = typed(past, monkeypatch)

    assert "3 pull requests read, 3 new lessons" in first.output
    assert "3 pull requests read, 0 new lessons" in second.output
    past.again()
    lessons = past.app.stores.memory.lessons(_scope(past))
    edited = [edit.path for lesson in lessons for edit in getattr(lesson.ending, "edits", ())]
    assert sorted(lesson.status.value for lesson in lessons) == ["pending", "validated", "validated"]
    assert edited == ["price.txt", "price.txt"]


def test_a_checkout_from_elsewhere_is_refused(past: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    git = Git(folder=past.folder / "checkout")
    git.run("config", "remote.origin.url", "https://example.org/acme/shop.git")

    refused = typed(past, monkeypatch)

    assert refused.exit_code == 2
    assert "does not come from" in refused.output


def _scope(town: Town):  # type: ignore[no-untyped-def]

    host = town.github.web.removeprefix("http://")
    return Scope(installation="71", repository=RepositoryId(f"{host}/acme/shop"))
