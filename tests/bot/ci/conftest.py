"""A GitHub for the tests of the CI job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bot.ci.workflow import Workflow
from tests.github_server.fixtures import github
from tests.github_server.github import GitHub


@pytest.fixture
def flows(github: GitHub, tmp_path: Path) -> Callable[..., Workflow]:
    """A repository whose workflow runs when the test says so."""
    return lambda **more: Workflow(github, tmp_path, **more)


@pytest.fixture
def flow(flows: Callable[..., Workflow]) -> Workflow:
    return flows()


__all__ = ["Any", "flow", "flows", "github"]
