"""`github`: a GitHub on loopback, checked when the test is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.github_server.github import GitHub


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """A GitHub with `acme/till`. Fails the test when a request or an answer did not fit GitHub's description."""
    from tests.github_server.github import GitHub

    site = GitHub(tmp_path / "github")
    try:
        yield site
    finally:
        site.close()
    assert site.complaints() == []
