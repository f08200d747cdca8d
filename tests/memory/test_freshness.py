"""Notes that did not change are known as that without being read; everything else is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory.store import MemoryStore
from memory.types import CommitId, NoteFile, RepositoryId, Sources
from tests.memory.store_kit import AT, DAY, HOLD, SHOP, ended, make_store

STATE = "100644 tree 4be1f0a notes"
NOTE = NoteFile(path="redis.md", text="# Redis\nFail over by hand.")
SOURCES = Sources(commit=CommitId("a" * 40), notes=(NOTE,), tuning="Be kind.", state=STATE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def store(file: Path) -> MemoryStore:
    return make_store(file)


def test_nothing_is_known_before_anything_was_published(store: MemoryStore) -> None:
    assert store.unchanged(SHOP, STATE) is None


def test_sources_in_the_state_that_was_published_are_unchanged(store: MemoryStore) -> None:
    version = store.publish_sources(SHOP, SOURCES, AT)

    assert store.unchanged(SHOP, STATE) == version


def test_another_state_is_a_change(store: MemoryStore) -> None:
    store.publish_sources(SHOP, SOURCES, AT)

    assert store.unchanged(SHOP, f"{STATE}2") is None


def test_sources_whose_state_is_not_known_are_always_read(store: MemoryStore) -> None:
    store.publish_sources(SHOP, replace(SOURCES, state=""), AT)

    assert store.unchanged(SHOP, "") is None


def test_a_lesson_since_then_gives_the_newest_version_and_no_change(store: MemoryStore) -> None:
    store.publish_sources(SHOP, SOURCES, AT)
    store.record(ended(HOLD))

    assert store.unchanged(SHOP, STATE) == store.current(SHOP)


@pytest.mark.parametrize("change", [{"notes": ()}, {"tuning": "Be brief."}])
def test_what_was_published_otherwise_since_then_is_a_change(store: MemoryStore, change: dict[str, object]) -> None:
    store.publish_sources(SHOP, SOURCES, AT)
    store.publish_sources(SHOP, replace(SOURCES, state="", **change), AT + DAY)  # type: ignore[arg-type]

    assert store.unchanged(SHOP, STATE) is None


def test_the_state_is_that_of_one_repository(store: MemoryStore) -> None:
    store.publish_sources(SHOP, SOURCES, AT)

    assert store.unchanged(replace(SHOP, repository=RepositoryId("github.com/acme/other")), STATE) is None


def test_a_secret_that_is_known_since_then_makes_notes_be_read_again(file: Path, store: MemoryStore) -> None:
    store.publish_sources(SHOP, SOURCES, AT)
    knowing = make_store(file, "hunter2hunter2")

    before = knowing.unchanged(SHOP, STATE)
    version = knowing.publish_sources(SHOP, SOURCES, AT + DAY)

    assert before is None
    assert knowing.unchanged(SHOP, STATE) == version


def test_the_last_state_is_the_one_that_counts(store: MemoryStore) -> None:
    store.publish_sources(SHOP, SOURCES, AT)
    version = store.publish_sources(SHOP, replace(SOURCES, notes=(), state="another"), AT + DAY)

    assert store.unchanged(SHOP, "another") == version
    assert store.unchanged(SHOP, STATE) is None
