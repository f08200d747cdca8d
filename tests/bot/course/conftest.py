"""A town for each test, and what must hold in it whatever happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


__all__ = ["Any", "found", "github", "town"]
