"""What is kept of a stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.sandbox.capture import Capped, HeadAndTail

PARTS = st.lists(st.binary(max_size=300), max_size=30)


@given(PARTS)
def test_head_and_tail_of_any_stream_stay_within_the_cap(parts: list[bytes]) -> None:
    kept, whole = HeadAndTail(1_064), b"".join(parts)

    for part in parts:
        kept.add(part)

    text = kept.text
    if len(whole) <= 1_000:
        assert text == whole.decode(errors="replace")
    else:
        assert text.startswith(whole[:497].decode(errors="replace")[:300])
        assert f"\n({len(whole) - 1_000} bytes left out)\n" in text
        assert text.endswith(whole[-497:].decode(errors="replace")[-100:])


@pytest.mark.parametrize("size", [1, 7, 64 * 1024])
def test_little_is_held_however_much_comes(size: int) -> None:
    kept = HeadAndTail(4_096)

    for _ in range(min(300_000, 20_000_000 // size)):
        kept.add(b"x" * size)

    assert len(kept.text) <= 4_096


@given(PARTS)
def test_a_capped_stream_keeps_its_beginning_and_knows_whether_more_came(parts: list[bytes]) -> None:
    kept, whole = Capped(500), b"".join(parts)

    for part in parts:
        kept.add(part)

    assert kept.data == whole[:500]
    assert kept.cut == (len(whole) > 500)
