"""`github`: a GitHub on loopback, checked when the test is over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.github_server.github import GitHub


@contextmanager
def watched(site: GitHub) -> Iterator[GitHub]:
    """Ends it, and fails when a request or an answer did not fit GitHub's description."""
    try:
        yield site
    finally:
        site.close()
    assert site.complaints() == []


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """A GitHub with `acme/till`, watched."""
    from tests.github_server.github import GitHub

    with watched(GitHub(tmp_path / "github")) as site:
        yield site
