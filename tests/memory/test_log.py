"""The log of endings: what a database knows, in lines that two jobs can add to at the same time."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.log import LINE_AT_MOST, Restored, endings_in, merged, restore, written
from memory.store import MemoryStore
from memory.types import EndingKind, RunId
from tests.memory.store_kit import DROP, EVERY_KIND, HOLD, SHOP, ended, make_store


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return make_store(tmp_path / "one.sqlite")


def log_of(store: MemoryStore) -> str:
    return written(store.all_endings(SHOP))


def filled(store: MemoryStore) -> str:
    """A log with an ending of each kind, and a final hold that refers to another one."""
    for number, ending in enumerate(EVERY_KIND.values()):
        kind = type(ending).__name__
        store.record(ended(ending, run=RunId(f"r{number}"), final=kind in ("Drop", "NotOurs", "Verify")))
    held = store.record(ended(HOLD, run=RunId("held")))
    store.record(ended(HOLD, run=RunId("held"), final=True, refers_to=held.ending))
    return log_of(store)


def test_a_database_that_is_made_of_the_log_knows_what_the_first_one_knew(store: MemoryStore, tmp_path: Path) -> None:
    log = filled(store)
    other = make_store(tmp_path / "two.sqlite")

    restored = restore(other, log, SHOP)

    assert restored == Restored(known=log.count("\n"), refused=0)
    assert log_of(other) == log
    assert {one.id for one in other.lessons(SHOP)} == {one.id for one in store.lessons(SHOP)} != set()
    assert {json.loads(line)["kind"] for line in log.splitlines()} == {kind.value for kind in EndingKind}


def test_restoring_twice_changes_nothing(store: MemoryStore) -> None:
    log = filled(store)

    again = restore(store, log, SHOP)

    assert (again.refused, log_of(store)) == (0, log)


def test_a_reference_leads_to_its_hold_in_a_scope_of_another_name(store: MemoryStore, tmp_path: Path) -> None:
    other, elsewhere = make_store(tmp_path / "two.sqlite"), type(SHOP)(installation="ci", repository=SHOP.repository)

    restored = restore(other, filled(store), elsewhere)

    assert restored.refused == 0
    final = [one for one in other.all_endings(elsewhere) if one.ending.run == "held" and one.ending.final]
    assert final[0].ending.refers_to in {one.id for one in other.all_endings(elsewhere)}


def test_two_jobs_that_add_at_the_same_time_lose_nothing_whatever_the_order(store: MemoryStore, tmp_path: Path) -> None:
    first = filled(store)
    other = make_store(tmp_path / "two.sqlite")
    other.record(ended(DROP, run=RunId("another"), final=True))
    second = log_of(other)

    both = {merged(*order) for order in itertools.permutations([first, second, first])}

    assert len(both) == 1
    assert set(both.pop().splitlines()) == {*first.splitlines(), *second.splitlines()}


def test_git_s_own_union_of_two_logs_is_read_too(store: MemoryStore) -> None:
    log = filled(store)
    lines = log.splitlines()

    assert merged("\n".join([*lines[3:], *reversed(lines)]) + "\n") == log


@pytest.mark.parametrize(
    "broken",
    [
        "no json", "[]", "{}", '{"v": 1}', "\x00", "[" * 5_000, '{"v":1,"id":7,"at":"","final":true}',
        "x" * (LINE_AT_MOST + 1), "<<<<<<< HEAD", '{"v":true,"id":"x","at":"","final":1}',
    ],
)  # fmt: skip
def test_what_is_no_line_is_left_out(store: MemoryStore, broken: str) -> None:
    log = filled(store)

    assert merged(f"{broken}\n{log}") == log


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "danced"}, {"body": {}}, {"at": "yesterday"}, {"at": "2026-11-03T12:00:00"}, {"final": None}, {"v": 2},
        {"paths": [7]}, {"signatures": [[1]]}, {"evidence": "a feeling"}, {"commit": 5},
    ],
)  # fmt: skip
def test_a_line_that_says_nothing_or_something_else_is_not_taken(store: MemoryStore, change: dict[str, Any]) -> None:
    (line,) = [one for one in filled(store).splitlines() if '"run":"r0"' in one]

    assert endings_in(json.dumps({**json.loads(line), **change}), SHOP) == ()


def test_a_line_of_a_later_format_is_kept_for_those_who_can_read_it(store: MemoryStore) -> None:
    later = '{"v":9,"id":"zz","at":"2027","final":false,"news":1}'

    assert later in merged(filled(store), later).splitlines()


def test_an_ending_that_contradicts_another_is_refused_and_the_rest_taken(store: MemoryStore, tmp_path: Path) -> None:
    log = filled(store)
    lines = [json.loads(line) for line in log.splitlines()]
    alone = next(line for line in lines if line["refers_to"])
    forged = json.dumps({**alone, "id": "forged", "run": "nobody"})
    other = make_store(tmp_path / "two.sqlite")

    restored = restore(other, f"{log}{forged}\n", SHOP)

    assert restored == Restored(known=len(lines), refused=1)


def test_no_text_of_anybody_is_in_a_line(store: MemoryStore) -> None:
    store.record(ended(DROP, run=RunId("one")))

    (line,) = log_of(store).splitlines()

    assert set(json.loads(line)) == {
        "v", "id", "at", "final", "run", "ticket", "author", "kind", "commit", "evidence", "environment", "signatures",
        "paths", "refers_to", "body",
    }  # fmt: skip
    assert line.isascii()


@given(st.lists(st.text(max_size=40), max_size=8))
def test_whatever_stands_in_a_log_it_can_be_merged_again_and_again(texts: list[str]) -> None:
    once = merged(*texts)

    assert merged(once, once) == once
    assert endings_in(once, SHOP) == ()
