"""Notes and rules of the default branch: read when they changed, known as unchanged without being read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot.repository_config import RepositoryConfig
from bot.sources import default_commit, fresh, read_sources
from memory.database import open_database, upgrade_memory
from memory.scrub import Scrubber
from memory.store import MemoryStore
from memory.types import MemoryVersion, Scope, Sources
from stages.errors import Refused
from stages.git import Git, Said
from stages.repository import READ_AT_MOST, Repository
from tests.empty_database import lay_empty
from tests.memory.store_kit import AT, AUTHOR, SHOP
from tests.stages.repositories import commit, git, make

NOTES = ".github/ticketsmith/notes"
FILES = {
    f"{NOTES}/redis.md": "# Redis\nFail over by hand.",
    f"{NOTES}/deploy/blue.md": "# Blue\nThen green.",
    f"{NOTES}/picture.svg": "<svg/>",
    ".github/ticketsmith/tuning.md": "- Be kind.\n",
    "src/cart.py": "TAX = 19\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make(tmp_path / "shop", FILES)


class Memory(MemoryStore):
    """Counts how often sources were read and compared."""

    published = 0

    def publish_sources(self, scope: Scope, sources: Sources, at: datetime) -> MemoryVersion:
        self.published += 1
        return super().publish_sources(scope, sources, at)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(open_database(lay_empty(tmp_path / "memory.sqlite", upgrade_memory)), Scrubber(), AUTHOR)


def looked(memory: MemoryStore, repository: Repository, notes: str = NOTES) -> MemoryVersion:
    config = RepositoryConfig(notes=notes)
    return fresh(memory, SHOP, repository, default_commit(repository), config, AT)


@pytest.mark.parametrize("at_origin", [False, True])
def test_the_default_commit_is_the_newest_at_each_moment_and_takes_one_process(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, at_origin: bool
) -> None:
    first = repository.resolve()
    if at_origin:  # as in a mirror, which has no branch of its own
        git(repository.folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        git(repository.folder, "update-ref", "refs/remotes/origin/trunk", first)
    verbs, run = list[str](), Git._execute

    def counted(self: Git, verb: str, *more: Any) -> Said:
        verbs.append(verb)
        return run(self, verb, *more)

    monkeypatch.setattr(Git, "_execute", counted)
    before, asked = default_commit(repository), len(verbs)
    monkeypatch.undo()
    second = commit(repository.folder, {"src/cart.py": "TAX = 20\n"})
    if at_origin:
        git(repository.folder, "update-ref", "refs/remotes/origin/trunk", second)

    assert (before, asked) == (first, 1)
    assert default_commit(repository) == second


def test_all_notes_and_rules_are_read(repository: Repository) -> None:
    read = read_sources(repository, default_commit(repository), RepositoryConfig())

    assert {note.path: note.text for note in read.notes} == {
        "redis.md": "# Redis\nFail over by hand.",
        "deploy/blue.md": "# Blue\nThen green.",
    }
    assert read.tuning == "- Be kind.\n"


def test_bytes_that_are_not_utf8_are_replaced(repository: Repository) -> None:
    commit(repository.folder, {f"{NOTES}/odd.md": b"# Odd \xff\n"})

    read = read_sources(repository, default_commit(repository), RepositoryConfig())

    assert "# Odd \ufffd\n" in [note.text for note in read.notes]


def test_a_note_of_binary_data_says_nothing(repository: Repository) -> None:
    data = b"\x89PNG\r\n\0\0 redis"
    at = commit(repository.folder, {f"{NOTES}/picture.md": data})

    notes = {note.path: note.text for note in read_sources(repository, at, RepositoryConfig()).notes}

    assert notes["picture.md"] == ""
    assert "Fail over" in notes["redis.md"]


def test_a_repository_without_notes_has_none(tmp_path: Path, memory: Memory) -> None:
    bare = make(tmp_path / "bare", {"a.txt": "a"})

    version = looked(memory, bare)

    assert memory.notes(version) == ()
    assert looked(memory, bare) == version
    assert memory.published == 1


def test_what_did_not_change_is_not_read_again(repository: Repository, memory: Memory) -> None:
    first = looked(memory, repository)
    commit(repository.folder, {"src/cart.py": "TAX = 20\n"})

    second = looked(memory, repository)

    assert second == first
    assert memory.published == 1


@pytest.mark.parametrize("path", [f"{NOTES}/redis.md", f"{NOTES}/deploy/new.md", ".github/ticketsmith/tuning.md"])
def test_what_changed_is_read(repository: Repository, memory: Memory, path: str) -> None:
    first = looked(memory, repository)
    commit(repository.folder, {path: "- Be brief.\n"})

    second = looked(memory, repository)

    assert second.number == first.number + 1
    assert memory.published == 2


def test_another_folder_of_notes_is_a_change(repository: Repository, memory: Memory) -> None:
    looked(memory, repository)

    version = looked(memory, repository, f"{NOTES}/deploy")

    assert [note.path for note in memory.notes(version)] == ["blue.md"]


def test_the_newest_lesson_changes_nothing_of_it(repository: Repository, memory: Memory) -> None:
    first = looked(memory, repository)

    assert memory.unchanged(SHOP, "something else") is None
    assert looked(memory, repository) == first


def test_a_note_that_is_too_big_is_refused_as_every_file_is(repository: Repository) -> None:
    commit(repository.folder, {f"{NOTES}/big.md": "x" * (READ_AT_MOST + 1)})

    with pytest.raises(Refused, match="more than"):
        read_sources(repository, default_commit(repository), RepositoryConfig())


def test_links_among_notes_are_not_followed(repository: Repository) -> None:
    (repository.folder / NOTES / "link.md").symlink_to("/etc/passwd")
    commit(repository.folder, {"a.txt": "a"})

    read = read_sources(repository, default_commit(repository), RepositoryConfig())

    assert "link.md" not in [note.path for note in read.notes]
