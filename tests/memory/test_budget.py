"""The budget of a block."""

from __future__ import annotations

from memory.budget import Allowance
from memory.types import Record


def record(name: str, characters: int) -> Record:
    return Record(id=name, lines=("x" * (characters - 5),))  # a prefix of four and a line break come to it


def test_what_fits_exactly_is_shown() -> None:
    allowance = Allowance(100)

    allowance.offer(record("a", 60))
    allowance.offer(record("b", 40))

    assert [shown.id for shown in allowance.block().shown] == ["a", "b"]


def test_one_character_more_is_left_out_whole_and_said() -> None:
    allowance = Allowance(100)

    allowance.offer(record("a", 60))
    allowance.offer(record("b", 41))

    block = allowance.block()
    assert (len(block.shown), block.eligible) == (1, 2)
    assert block.left_out[0].why == "41 characters: more than are left of 100"


def test_a_record_above_its_own_limit_leaves_room_for_the_next() -> None:
    allowance = Allowance(100, each=50)

    allowance.offer(record("a", 56))
    allowance.offer(record("b", 50))

    assert [shown.id for shown in allowance.block().shown] == ["b"]


def test_what_is_refused_is_not_eligible() -> None:
    allowance = Allowance(100)

    allowance.refuse("a", "below the threshold", 0.5)

    assert (allowance.block().eligible, allowance.block().left_out[0].score) == (0, 0.5)


def test_what_is_left_out_is_written_down_one_by_one_up_to_twenty_and_then_counted() -> None:
    allowance = Allowance(100)

    for number in range(30):
        allowance.refuse(f"n{number}", "below the threshold")
    allowance.offer_unseen(5)

    left_out = allowance.block().left_out
    assert [out.id for out in left_out] == [*(f"n{number}" for number in range(20)), ""]
    assert (left_out[-1].why, allowance.block().eligible) == ("and 15 more", 5)
