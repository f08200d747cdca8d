"""Where verifications contradict each other, the later evidence decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from memory.store import MemoryStore
from memory.types import Edit, Lesson, LessonStatus, RunEnding, Verify, VerifyOutcome
from tests.memory.store_kit import AT, DAY, EDIT, PASS, RECURRED, SHOP, SIGNATURE, WORKED, ended, make_store, signature

VALIDATED, INVALIDATED = LessonStatus.VALIDATED, LessonStatus.INVALIDATED


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return make_store(tmp_path / "memory.sqlite")


def taught(store: MemoryStore, ending: RunEnding) -> Lesson:
    lesson = store.record(ending).lesson
    assert lesson is not None
    return lesson


def statuses(store: MemoryStore, *lessons: Lesson) -> list[LessonStatus]:
    now = {lesson.id: lesson.status for lesson in store.lessons(SHOP)}
    return [now[lesson.id] for lesson in lessons]


def test_two_runs_without_edits_are_not_taken_for_the_same_fix(store: MemoryStore) -> None:
    worked = taught(store, ended(replace(WORKED, edits=())))

    recurred = taught(store, ended(replace(RECURRED, edits=()), run="run2", at=AT + DAY))

    assert statuses(store, worked, recurred) == [VALIDATED, VALIDATED]
    assert recurred.supersedes is None


def test_what_worked_again_after_it_came_back_is_believed_again(store: MemoryStore) -> None:
    worked = taught(store, ended(WORKED))
    recurred = taught(store, ended(RECURRED, final=False, at=AT + DAY))

    again = taught(store, ended(WORKED, run="run2", ticket="shop#2", at=AT + 2 * DAY))

    assert again.id == worked.id
    assert statuses(store, worked, recurred) == [VALIDATED, INVALIDATED]
    assert (again.count, again.supersedes) == (2, recurred.id)


def test_what_came_back_once_more_is_not_believed_any_more(store: MemoryStore) -> None:
    worked = taught(store, ended(WORKED))
    recurred = taught(store, ended(RECURRED, final=False, at=AT + DAY))
    taught(store, ended(WORKED, run="run2", at=AT + 2 * DAY))

    taught(store, ended(RECURRED, run="run2", final=False, at=AT + 3 * DAY))

    assert statuses(store, worked, recurred) == [INVALIDATED, VALIDATED]


@pytest.mark.parametrize("late", [WORKED, RECURRED])
def test_older_evidence_that_is_written_late_decides_nothing(store: MemoryStore, late: Verify) -> None:
    newer = RECURRED if late is WORKED else WORKED
    stands = taught(store, ended(newer, at=AT + 5 * DAY))

    lesson = taught(store, ended(late, run="run2", at=AT))

    assert statuses(store, stands, lesson) == [VALIDATED, INVALIDATED]


def test_an_older_sighting_does_not_bring_back_what_was_invalidated(store: MemoryStore) -> None:
    worked = taught(store, ended(WORKED, at=AT + DAY))
    recurred = taught(store, ended(RECURRED, final=False, at=AT + 2 * DAY))

    taught(store, ended(WORKED, run="run2", at=AT))

    assert statuses(store, worked, recurred) == [INVALIDATED, VALIDATED]


def test_all_that_worked_is_contradicted_and_the_newest_of_them_superseded(store: MemoryStore) -> None:
    both = (SIGNATURE, signature(digit="8"))
    first = taught(store, ended(WORKED, at=AT + DAY, signatures=(signature(digit="8"),)))
    second = taught(store, ended(WORKED, run="run2"))

    recurred = taught(store, ended(RECURRED, run="run3", at=AT + 2 * DAY, signatures=both))

    assert statuses(store, first, second) == [INVALIDATED, INVALIDATED]
    assert recurred.supersedes == first.id


def test_a_pass_at_the_gate_is_no_evidence_against_a_recurrence(store: MemoryStore) -> None:
    passed = taught(store, ended(PASS))
    recurred = taught(store, ended(RECURRED, at=AT + DAY))

    taught(store, ended(PASS, run="run2", at=AT + 2 * DAY))

    assert statuses(store, passed, recurred) == [INVALIDATED, VALIDATED]


def test_quiet_weeks_contradict_nothing(store: MemoryStore) -> None:
    recurred = taught(store, ended(RECURRED))

    taught(store, ended(Verify(outcome=VerifyOutcome.UNVERIFIED, edits=(EDIT,)), run="run2", at=AT + DAY))

    assert statuses(store, recurred) == [VALIDATED]


def test_a_recurrence_reads_as_many_times_whatever_memory_holds(store: MemoryStore) -> None:
    def statements(n: int) -> int:
        seen.clear()
        store.record(ended(RECURRED, run=f"recurred{n}", signatures=(signature(digit="7"),)))
        return len(seen)

    seen: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *arguments: seen.append(arguments[2]))
    few = statements(0)
    for n in range(20):
        fix = replace(WORKED, edits=(Edit(path="a.py", line=1, digest=f"{n:012}"),))
        store.record(ended(fix, run=f"worked{n}", ticket=f"t{n}"))

    many = statements(1)

    assert many <= few + 9  # the second one is known already: its state and sightings are read, and both states signed
