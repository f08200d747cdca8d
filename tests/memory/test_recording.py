"""An ending that is written again, made anew, written too late, or asked for by another repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory import versions
from memory.database import reading
from memory.recording import RunHasEnded
from memory.slots import EndingRefused
from memory.store import MemoryStore
from memory.types import CheckId, Ending, HoldCause, RepositoryId, RunId, Scope
from memory.versions import NoSuchVersion
from tests.memory.store_kit import (
    AT,
    DAY,
    DROP,
    HOLD,
    PASS,
    RECURRED,
    REFIX,
    SHOP,
    WORKED,
    ended,
    injection,
    make_store,
    tables,
)

RUN = RunId("run1")
FORK = Scope(installation="1", repository=RepositoryId("github.com/acme/shop-fork"))
LINT = replace(HOLD, failing=(CheckId("lint"),))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def store(file: Path) -> MemoryStore:
    return make_store(file)


def test_an_ending_that_is_written_again_gives_its_lesson_as_it_was_in_that_version(store: MemoryStore) -> None:
    first = store.record(ended(HOLD))
    store.record(ended(HOLD, run="run2", ticket="shop#2"))

    again = store.record(ended(HOLD))

    assert again == first
    assert again.lesson is not None
    assert (again.version.number, again.lesson.count) == (1, 1)


def test_an_attempt_that_was_made_anew_is_held_for_another_reason_and_teaches_that_too(store: MemoryStore) -> None:
    first = store.record(ended(HOLD))

    second = store.record(ended(LINT))

    assert [one.ending.ending for one in store.endings(SHOP, RUN)] == [HOLD, LINT]
    assert second.lesson is not None
    assert second.lesson.ending == LINT
    assert (store.record(ended(HOLD)), store.record(ended(LINT))) == (first, second)
    assert len(store.lessons(SHOP)) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (REFIX, replace(REFIX, still_failing=(CheckId("lint"),))),
        (PASS, replace(PASS, edits=())),
        (HOLD, replace(HOLD, cause=HoldCause.TOO_BIG)),
    ],
)
def test_whatever_an_attempt_came_to_the_second_time_is_kept(store: MemoryStore, one: Ending, other: Ending) -> None:
    store.record(ended(one))
    store.record(ended(other))

    assert [kept.ending.ending for kept in store.endings(SHOP, RUN)] == [one, other]


@pytest.mark.parametrize("attempt", [HOLD, REFIX, PASS])
def test_no_attempt_follows_the_final_ending(store: MemoryStore, file: Path, attempt: Ending) -> None:
    store.record(ended(DROP))
    before = tables(file)

    with pytest.raises(RunHasEnded, match=r"run1 has ended already \(drop\): no [a-z-]+ of it"):
        store.record(ended(attempt))

    assert tables(file) == before


def test_evidence_may_still_come_in_after_the_final_ending(store: MemoryStore) -> None:
    store.record(ended(WORKED))

    store.record(ended(RECURRED, final=False, at=AT + DAY))

    assert len(store.endings(SHOP, RUN)) == 2


def test_a_version_that_was_never_published_is_not_taken_for_the_newest(store: MemoryStore) -> None:
    store.record(ended(HOLD))

    with reading(store._engine) as session, pytest.raises(NoSuchVersion, match="acme/shop has no version 7"):
        versions.numbered(session, SHOP, 7)


@pytest.mark.parametrize("number", [0, 1])
def test_a_version_that_was_published_is_found_by_its_number(store: MemoryStore, number: int) -> None:
    store.record(ended(HOLD))

    with reading(store._engine) as session:
        found = versions.numbered(session, SHOP, number)

    assert found.number == number


def test_endings_of_a_run_are_those_of_its_repository(store: MemoryStore) -> None:
    store.record(ended(DROP))
    store.record(ended(WORKED, scope=FORK))

    assert [one.ending.ending for one in store.endings(SHOP, RUN)] == [DROP]
    assert [one.ending.scope for one in store.endings(FORK, RUN)] == [FORK]


def test_a_final_hold_never_refers_to_a_hold_of_another_repository(store: MemoryStore) -> None:
    held = store.record(ended(HOLD)).ending

    with pytest.raises(EndingRefused, match="a hold of the same run"):
        store.record(ended(HOLD, scope=FORK, final=True, refers_to=held))


def test_prompts_of_a_run_are_those_of_its_repository(store: MemoryStore) -> None:
    store.audit(injection(RUN))
    store.audit(replace(injection(RUN), scope=FORK, entry_point="develop"))

    assert [one.entry_point for one in store.injections(SHOP, RUN)] == ["diagnose"]
    assert [(one.scope, one.entry_point) for one in store.injections(FORK, RUN)] == [(FORK, "develop")]
