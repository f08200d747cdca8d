"""Which notes nothing is searched of, in a version and in the newest one of each repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memory.database import open_database
from memory.notes import flaw
from memory.store import MemoryStore
from memory.types import NoteFile, RepositoryId, Sources
from memory.unread import unread_now
from tests.memory.store_kit import AT, COMMIT, SHOP, make_store

FLAWED = NoteFile(path="redis.md", text="---\nstatus: retird\n---\nWisdom")
RETIRED = NoteFile(path="old.md", text="---\nstatus: deprecated\n---\nOld wisdom")
GOOD = NoteFile(path="till.md", text="Prices are whole cents.")


def sources(*notes: NoteFile) -> Sources:
    return Sources(commit=COMMIT, notes=notes)


def paths(notes: tuple[NoteFile, ...]) -> list[str]:
    return [one.path for one in notes]


def test_notes_of_which_nothing_is_searched_are_told_for_each_version(tmp_path: Path) -> None:
    store: MemoryStore = make_store(tmp_path / "memory.sqlite")

    first = store.publish_sources(SHOP, sources(FLAWED, RETIRED, GOOD), AT)
    second = store.publish_sources(SHOP, sources(GOOD), AT)

    assert paths(store.unread(first)) == ["old.md", "redis.md"]
    assert [flaw(one) is not None for one in store.unread(first)] == [False, True]
    assert store.unread(second) == ()


def test_what_is_not_searched_now_is_told_for_each_repository(tmp_path: Path) -> None:
    store = make_store(tmp_path / "memory.sqlite")
    mended = replace(SHOP, repository=RepositoryId("github.com/acme/mended"))
    bakery = replace(SHOP, repository=RepositoryId("github.com/acme/bakery"))
    for scope in (SHOP, mended, bakery):
        store.publish_sources(scope, sources(FLAWED, GOOD), AT)
    store.publish_sources(mended, sources(GOOD), AT)

    found = unread_now(open_database(tmp_path / "memory.sqlite"))

    assert {repository: paths(notes) for repository, notes in found.items()} == {
        bakery.repository: ["redis.md"],
        SHOP.repository: ["redis.md"],
    }
