"""A forge that reads our GitHub."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from bot.forge.github import Forge
from bot.forge.types import Account, AccountKind, RepositoryRef
from tests.bot.clock import Clock
from tests.github_server.github import GitHub
from tests.github_server.state import Person, Repository


def forge_of(
    github: GitHub,
    clock: Clock | None = None,
    *,
    base_url: str = "",
    timeout: float = 5.0,
    clock_is_wrong: Callable[[timedelta], None] = lambda _: None,
) -> Forge:
    clock = clock or Clock()
    return Forge.for_app(
        app_id=github.app_id,
        key=github.key,
        base_url=base_url or github.url,
        clock=clock,
        sleep=clock.sleep,
        timeout=timeout,
        clock_is_wrong=clock_is_wrong,
    )


def ref_of(repository: Repository, *, name: str = "") -> RepositoryRef:
    return RepositoryRef(installation=71, id=repository.id, full_name=name or repository.full_name)


def account_of(person: Person) -> Account:
    return Account(id=person.id, login=person.login, kind=AccountKind(person.type))
