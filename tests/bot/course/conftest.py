"""A town for each test, and what must hold in it whatever happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.bot.course.beginnings import PASSED
from tests.bot.course.kept import Beginning, Copies, Keeper
from tests.bot.course.town import Town
from tests.github_server.fixtures import github
from tests.github_server.github import GitHub


@pytest.fixture
def found(github: GitHub, tmp_path: Path) -> Callable[..., Town]:
    """Founds a town with what the test gives."""
    return lambda **more: Town(github, tmp_path, **more)


@pytest.fixture
def town(found: Callable[..., Town]) -> Town:
    return found()


@pytest.fixture(scope="session")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    keeper = Keeper(lambda: tmp_path_factory.mktemp("town"))
    yield keeper
    keeper.close()


@pytest.fixture
def after(keeper: Keeper) -> Iterator[Copies]:
    """Gives a copy of a town as this beginning left it."""
    with ExitStack() as copies:
        yield lambda beginning, **answers: copies.enter_context(keeper.of(beginning).copied(**answers))


@pytest.fixture
def solved(after: Copies) -> Copies:
    """Gives a copy of a town whose files are these, with an issue whose patch went out."""

    def copy(files: Mapping[str, str] | None = None, **answers: Any) -> tuple[Town, Any]:
        return after(Beginning(happens=Town.solved, files=tuple((files or {}).items())), **answers)

    return copy


@pytest.fixture
def passed(after: Copies) -> Copies:
    """Gives a copy of a town with an issue whose patch goes out when its job goes on."""
    return partial(after, PASSED)


__all__ = ["Any", "found", "github", "town"]
