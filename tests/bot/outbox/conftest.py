"""What the tests of the outbox share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bot.outbox.kit import Post, post_of
from tests.github_server.fixtures import github
from tests.github_server.github import GitHub

__all__ = ["github", "post"]


@pytest.fixture
def post(github: GitHub, tmp_path: Path) -> Post:
    return post_of(github, tmp_path)
