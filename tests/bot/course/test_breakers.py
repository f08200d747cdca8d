"""R-25: what is kept of breakers ends with the repository or the installation that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from bot.course.breakers import BreakerStore
from bot.forge.types import RepositoryRef
from tests.bot.course.test_breaker import failing
from tests.bot.course.town import Town
from tests.bot.engine.kit import open_book

TILL: Final = RepositoryRef(installation=3, id=70, full_name="shop/till")
BAKERY: Final = replace(TILL, id=71, full_name="shop/bakery")
ELSEWHERE: Final = replace(TILL, installation=4, full_name="other/till")


@pytest.mark.parametrize(
    ("repositories", "left"), [((), [ELSEWHERE]), ((70,), [BAKERY, ELSEWHERE]), ((9,), [TILL, BAKERY, ELSEWHERE])]
)
def test_r25_no_pause_is_left_of_a_repository_that_is_gone(
    tmp_path: Path, repositories: tuple[int, ...], left: list[RepositoryRef]
) -> None:
    store = BreakerStore(open_book(tmp_path))
    for ref in (TILL, BAKERY, ELSEWHERE):
        store.change(ref, lambda _: failing(1, 2, 3))

    store.forget(3, repositories)

    assert [ref for ref in (TILL, BAKERY, ELSEWHERE) if store.of(ref).paused] == left
    assert len(store.paused()) == len(left)


def test_r25_an_app_that_is_uninstalled_leaves_no_pause_to_be_told_of(town: Town) -> None:
    store = BreakerStore(town.app.book)
    store.change(town.ref, lambda _: failing(1, 2, 3))

    town.github.people.uninstall(town.ref.installation, town.ada)
    town.drain()

    assert store.paused() == ()
