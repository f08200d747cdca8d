"""Fixtures for tests of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stages.sandbox.ways import ALL, WALLED, Way, World, new_world, usable


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        yield world


@pytest.fixture(params=[way for way in ALL if not way.ordinary], ids=str)
def way(request: pytest.FixtureRequest) -> Way:
    """Each level, as we are."""
    return usable(request.param)


@pytest.fixture(params=ALL, ids=str)
def every_way(request: pytest.FixtureRequest) -> Way:
    """Each level, as we are and as an ordinary user."""
    return usable(request.param)


@pytest.fixture(params=WALLED, ids=str)
def walls(request: pytest.FixtureRequest) -> Way:
    """Each level that has walls."""
    return usable(request.param)
