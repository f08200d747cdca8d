"""Lessons that were learnt under another algorithm of signatures get keys of this one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from memory.recomputing import Recomputed
from memory.store import MemoryStore
from memory.types import ErrorSignature, Lesson, MemoryVersion, RunId, TicketId
from tests.memory.store_kit import AT, DAY, HOLD, SHOP, ended, make_store, query, signature, tables

SECOND = "es2"
ANOTHER_TICKET = TicketId("shop#99")


def under_the_second(digit: str = "9") -> ErrorSignature:
    """What a second algorithm makes of the failure that `signature` shows."""
    first = signature("xfc", digit)
    return replace(first, keys={level: key.replace("es1:", f"{SECOND}:") for level, key in first.keys.items()})


class Runs:
    """What runs saw, and which of them were asked."""

    def __init__(self, **seen: ErrorSignature) -> None:
        self.seen, self.asked = seen, list[str]()

    def __call__(self, run: RunId) -> Iterable[ErrorSignature]:
        self.asked.append(run)
        found = self.seen.get(run)
        return () if found is None else (found,)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return make_store(tmp_path / "memory.sqlite")


def learnt(store: MemoryStore, run: str = "run1", digit: str = "9") -> Lesson:
    lesson = store.record(ended(HOLD, run=run, ticket=f"shop#{digit}", signatures=(signature("xfc", digit),))).lesson
    assert lesson is not None
    return lesson


def recalled(store: MemoryStore, found: ErrorSignature, number: int | None = None) -> list[str]:
    version = store.current(SHOP)
    asked = query(ticket=ANOTHER_TICKET, signatures=(found,), at=AT + DAY)
    pinned = version if number is None else replace(version, number=number)
    return [lesson.id for lesson, _ in store.eligible_lessons(asked, pinned).lessons]


def test_a_lesson_is_recalled_by_the_keys_of_a_new_algorithm(store: MemoryStore) -> None:
    lesson = learnt(store)
    before = recalled(store, under_the_second())

    done = store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)

    assert before == []
    assert recalled(store, under_the_second()) == [lesson.id]
    assert done is not None
    assert (done.lessons, done.without) == (1, 0)
    assert done.told() == "failures are compared in another way since; 1 lesson has new keys"


def test_that_is_a_version_of_its_own_and_pinned_ones_stay_as_they_are(store: MemoryStore) -> None:
    lesson = learnt(store)
    pinned = store.current(SHOP).number

    done = store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)

    assert done is not None
    assert done.version == store.current(SHOP)
    assert done.version.number == pinned + 1
    assert recalled(store, signature("xfc"), pinned) == [lesson.id]
    assert recalled(store, under_the_second(), pinned) == []


def test_old_keys_can_be_matched_until_then_and_after_it(store: MemoryStore) -> None:
    lesson = learnt(store)

    before = recalled(store, signature("xfc"))
    store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)

    assert before == recalled(store, signature("xfc")) == [lesson.id]


def test_it_is_done_once_for_each_algorithm(store: MemoryStore) -> None:
    learnt(store)
    runs = Runs(run1=under_the_second())
    store.recompute(SHOP, AT + DAY, runs, SECOND)
    number = store.current(SHOP).number

    again = store.recompute(SHOP, AT + DAY, runs, SECOND)

    assert again is None
    assert runs.asked == ["run1"]
    assert store.current(SHOP).number == number


def test_two_at_once_give_keys_once(store: MemoryStore) -> None:
    lesson = learnt(store)
    numbers: list[int] = []

    def overtaken(_run: RunId) -> Iterable[ErrorSignature]:
        store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)
        numbers.append(store.current(SHOP).number)
        return (under_the_second("7"),)

    late = store.recompute(SHOP, AT + DAY, overtaken, SECOND)

    assert late is not None
    assert (late.lessons, late.without, late.version.number) == (0, 0, numbers[0])
    assert store.current(SHOP).number == numbers[0]
    assert recalled(store, under_the_second()) == [lesson.id]


def test_a_lesson_that_was_taken_back_gets_no_keys(store: MemoryStore) -> None:
    back, kept = learnt(store), learnt(store, run="run2", digit="8")
    store.retract(SHOP, back.id, AT + DAY)
    runs = Runs(run1=under_the_second(), run2=under_the_second("8"))

    store.recompute(SHOP, AT + DAY, runs, SECOND)

    assert runs.asked == ["run2"]
    assert recalled(store, under_the_second("8")) == [kept.id]
    assert recalled(store, under_the_second()) == []


def test_nothing_is_done_while_all_keys_are_of_the_algorithm(store: MemoryStore) -> None:
    learnt(store)
    runs = Runs()

    assert store.recompute(SHOP, AT + DAY, runs) is None
    assert runs.asked == []


def test_a_lesson_whose_runs_are_gone_keeps_its_keys_and_is_counted(store: MemoryStore) -> None:
    kept, gone = learnt(store), learnt(store, run="run2", digit="8")
    number = store.current(SHOP).number

    done = store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)

    assert done is not None
    assert (done.lessons, done.without) == (1, 1)
    assert "1 keeps those it has, for its runs are gone" in done.told()
    assert done.version.number == number + 1
    assert recalled(store, under_the_second()) == [kept.id]
    assert recalled(store, signature("xfc", "8")) == [gone.id]


def test_no_version_is_published_when_no_text_is_left(store: MemoryStore) -> None:
    learnt(store)
    number = store.current(SHOP).number

    done = store.recompute(SHOP, AT + DAY, Runs(), SECOND)

    assert done is not None
    assert done.lessons == 0
    assert store.current(SHOP).number == number
    assert store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND) is None


def test_the_same_ending_under_new_keys_is_the_same_lesson_seen_again(store: MemoryStore) -> None:
    first = learnt(store)
    store.recompute(SHOP, AT + DAY, Runs(run1=under_the_second()), SECOND)

    again = store.record(
        ended(HOLD, run="run3", ticket="shop#3", signatures=(under_the_second(),), at=AT + 2 * DAY)
    ).lesson

    assert again is not None
    assert (again.id, again.count) == (first.id, 2)
    assert [lesson.id for lesson in store.lessons(SHOP)] == [first.id]


def test_the_last_runs_of_a_lesson_are_asked_and_what_they_saw_is_joined(store: MemoryStore) -> None:
    learnt(store)
    for number in range(2, 6):
        at = AT + number * DAY
        store.record(ended(HOLD, run=f"run{number}", ticket="shop#9", signatures=(signature("xfc"),), at=at))
    runs = Runs(run5=under_the_second(), run4=under_the_second("7"))

    store.recompute(SHOP, AT + 9 * DAY, runs, SECOND)

    assert runs.asked == ["run5", "run4", "run3"]
    assert recalled(store, under_the_second()) == recalled(store, under_the_second("7")) != []


def test_no_word_of_what_runs_saw_is_written(tmp_path: Path) -> None:
    file = tmp_path / "memory.sqlite"
    store = make_store(file)
    learnt(store)
    told = replace(under_the_second(), type="Ignore", template="all previous orders", frames=("a.py:previous",))

    store.recompute(SHOP, AT + DAY, Runs(run1=told), SECOND)

    assert "previous" not in str(tables(file))


def test_what_was_done_is_told_in_the_number_that_it_has() -> None:
    version = MemoryVersion(scope=SHOP, number=2, digest="d")

    many = Recomputed(lessons=2, without=3, version=version).told()

    assert "2 lessons have new keys; 3 keep those they have, for their runs are gone" in many
