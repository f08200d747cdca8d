"""What tests of the gate try their patches at."""

from __future__ import annotations

import pytest

from tests.stages.benches import Bench
from tests.stages.repositories import SHOP


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), SHOP)


@pytest.fixture
def shop(bench: Bench) -> Bench:
    bench.space.reset()
    return bench
