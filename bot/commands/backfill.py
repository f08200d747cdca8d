"""`ticketsmith memory backfill`: what the bot's earlier pull requests teach."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

import click

from bot.app import App
from bot.backfill import Backfill, Told
from bot.closing import learn
from bot.commands.common import as_json, open_repository, out, repository_option, with_app
from bot.course.store import CourseStore
from bot.credentials import app_id, bot_id, private_key
from bot.errors import WrongInput
from bot.forge.github import Forge
from bot.forge.types import RepositoryRef
from bot.witness import outcome_of
from bot.wording import count
from memory.types import Hold, Scope
from stages.repository import Repository


class NotOnGitHub(WrongInput):
    """{repository} does not come from {web}: name a checkout of a repository there with --repo."""


class NotInstalled(WrongInput):
    """The App is not installed for {name}: install it there, or set GITHUB_TOKEN."""


@click.command(short_help="Learn from pull requests that the bot made before.")
@repository_option
@click.option("--dry-run", is_flag=True, help="Only show what would be learnt.")
@as_json
@with_app
def backfill(app: App, repository: Path, dry_run: bool, as_json: bool) -> None:
    """Read the history of the bot's branches on GitHub: pull requests that were merged or closed, what reviews and
    checks said of them. What is known already is left out; doing it twice teaches nothing twice.

    The credential is GITHUB_TOKEN, else that of the App. The memory is that of the repository.
    """
    opened = open_repository(repository)
    reading = _reading(app, opened)
    found = list(reading.read())
    if as_json:
        click.echo(json.dumps([{"kind": kind, "count": number} for kind, number in _kinds(found)], indent=2))
    else:
        out().table(("kind", "count"), [(kind, str(number)) for kind, number in _kinds(found)])
    if dry_run:
        return
    before = {lesson.id for lesson in app.stores.memory.lessons(reading.scope)}
    recorded = [learn(app.stores, ending) for told in found for ending in told.endings]
    new = {one.lesson.id for one in recorded if one.lesson} - before
    if not as_json:
        out().line(f"{count(len(found), 'pull request')} read, {count(len(new), 'new lesson')}")


def _kinds(found: Iterable[Told]) -> list[tuple[str, int]]:
    kinds = Counter(_kind(one.ending) for told in found for one in told.endings)
    return sorted(kinds.items())


def _kind(ending: object) -> str:
    return f"hold: {ending.where.value}" if isinstance(ending, Hold) else outcome_of(ending)  # type: ignore[arg-type]


def _reading(app: App, repository: Repository) -> Backfill:
    """Who reads, and for whose memory. Raises NotOnGitHub, NotInstalled and what is missing of the App."""
    settings = app.settings.app
    host, _, name = repository.id.partition("/")
    if host != urlsplit(settings.web).netloc or name.count("/") != 1:
        raise NotOnGitHub(repository=repository.folder, web=settings.web)
    if token := os.environ.get("GITHUB_TOKEN"):
        forge = Forge.for_token(token, base_url=settings.base_url)
        number = int(forge.api.read(RepositoryRef(installation=0, id=0, full_name=name), "", what=name)["id"])
        ref = RepositoryRef(installation=0, id=number, full_name=name)
        return Backfill(forge, ref, repository, app.scope(repository), me=None, app_id=None)
    forge = Forge.for_app(app_id=app_id(settings), key=private_key(settings), base_url=settings.base_url)
    ref = _installed(forge, name)
    scope = Scope(installation=str(ref.installation), repository=repository.id)
    courses = CourseStore(app.book)
    return Backfill(
        forge, ref, repository, scope, me=bot_id(settings), app_id=app_id(settings),
        known=lambda pull: courses.of_pull(ref, pull) is not None,
    )  # fmt: skip


def _installed(forge: Forge, name: str) -> RepositoryRef:
    for installation in forge.installations():
        for ref in () if installation.suspended else forge.repositories(installation.id):
            if ref.full_name.lower() == name.lower():
                return ref
    raise NotInstalled(name=name)
