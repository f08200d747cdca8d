"""No reader of the walls takes long over hostile text: 64 KiB in 50 ms (requirements B53, B54, B68)."""

from __future__ import annotations

import time

import pytest

from tests.benchmarks.walls import HOSTILE, readers
from tests.machine import at_most

SECONDS_AT_MOST = 0.05


@pytest.mark.parametrize("kind", HOSTILE)
def test_b54_every_reader_is_done_with_hostile_text_in_time(kind: str) -> None:
    text = HOSTILE[kind]
    took = dict[str, float]()

    for name, read in readers().items():
        began = time.process_time()
        read(text)
        took[name] = time.process_time() - began

    assert len(text.encode()) > 60_000
    limit = at_most(SECONDS_AT_MOST)
    assert {name: seconds for name, seconds in took.items() if seconds > limit} == {}
