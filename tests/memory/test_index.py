"""The index of notes: named by what it holds, whole or not there."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory.index import FtsSearch, IndexUnusable
from memory.search import Hit
from memory.types import Chunk, NoteFile
from tests.memory.recall_kit import chunks_of, filler, note

NOTES = [note("redis.md", "# Redis\nFail over by hand when the sentinel is down"), *filler(30)]


def held(notes: Sequence[NoteFile] = NOTES) -> Callable[[], list[Chunk]]:
    return lambda: chunks_of(notes)


def refused() -> list[Chunk]:
    raise AssertionError("the notes were read again")


@pytest.fixture
def search(tmp_path: Path) -> FtsSearch:
    return FtsSearch(tmp_path / "index")


def test_an_index_knows_how_much_it_holds_and_what(search: FtsSearch) -> None:
    index = search.open("d1", held())

    assert (index.digest, index.totals.notes, index.totals.chunks) == ("d1", 31, 31)
    assert index.chunks_with(["sentinel", "filler", "unheard"]) == {"sentinel": 1, "filler": 30}
    assert index.notes_with(["sentinel", "alpha0"]) == {"sentinel": 1, "alpha0": 5}


def test_more_words_than_sqlite_takes_at_once_are_looked_up(search: FtsSearch) -> None:
    index = search.open("d1", held())

    assert index.chunks_with([f"word{n}" for n in range(2_000)] + ["sentinel"]) == {"sentinel": 1}


def test_the_best_chunk_comes_first_with_the_greater_score(search: FtsSearch) -> None:
    index = search.open("d1", held())

    hits = index.best(["sentinel", "alpha1", "redis"], 10)

    assert index.chunk(hits[0].row).note == "redis.md"
    assert hits[0].bm25 > hits[1].bm25 > 0


def test_no_word_finds_nothing(search: FtsSearch) -> None:
    assert search.open("d1", held()).best([], 10) == ()


def test_the_profile_of_a_note_counts_its_words(search: FtsSearch) -> None:
    index = search.open("d1", held())
    row = index.best(["sentinel"], 1)[0].row

    profile = index.profile(index.note_of(row))

    assert profile.title == {"redis": 1}
    assert profile.text["sentinel"] == 1


def test_chunks_come_back_as_they_were(search: FtsSearch) -> None:
    chunk = Chunk(
        note="a\udce9.md", anchor="x", ordinal=0, heading="T > X [t]", text="é 数据\nb", scope={"environment": "p"}
    )

    index = search.open("d2", lambda: [chunk])

    assert index.chunk(index.best(["数据"], 1)[0].row) == chunk


def test_an_index_that_is_there_is_not_built_again(search: FtsSearch) -> None:
    search.open("d1", held())

    assert FtsSearch(search.folder).open("d1", refused).totals.notes == 31
    assert search.open("d1", refused).totals.notes == 31


def test_another_digest_is_another_index(search: FtsSearch) -> None:
    search.open("d1", held())

    assert search.open("d2", held(NOTES[:3])).totals.notes == 3


def test_two_digests_of_one_file_name_are_not_mixed_up(search: FtsSearch) -> None:
    search.open("a/b", held())

    assert FtsSearch(search.folder).open("a:b", held(NOTES[:3])).digest == "a:b"


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no database at all" * 100),
        lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        lambda path: path.write_bytes(path.read_bytes()[:4096] + os.urandom(path.stat().st_size - 4096)),
        lambda path: sqlite3.connect(path, isolation_level=None).execute("DELETE FROM meta WHERE key = 'chunks'"),
    ],
    ids=["empty", "foreign", "cut", "overwritten", "half-built"],
)
def test_a_damaged_file_is_built_anew(search: FtsSearch, damage: Callable[[Path], object]) -> None:
    search.open("d1", held())
    (path,) = search.folder.glob("*.sqlite")
    damage(path)

    index = FtsSearch(search.folder).open("d1", held())

    assert index.best(["sentinel"], 1)


def test_a_folder_that_cannot_be_written_is_told_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(IndexUnusable, match="Make the folder writable"):
        FtsSearch(tmp_path / "file" / "index").open("d1", held())


def test_damage_that_shows_while_searching_is_told(search: FtsSearch) -> None:
    index = search.open("d1", held())
    index.close()

    with pytest.raises(IndexUnusable):
        index.best(["sentinel"], 1)


def test_a_discarded_index_is_gone(search: FtsSearch) -> None:
    search.open("d1", held())

    search.discard("d1")
    search.discard("d1")

    assert list(search.folder.iterdir()) == []
    assert search.open("d1", held(NOTES[:2])).totals.notes == 2


def test_only_the_newest_files_stay(search: FtsSearch) -> None:
    for number in range(40):
        search.open(f"d{number}", held(NOTES[:1]))

    assert len(list(search.folder.iterdir())) <= 32
    assert FtsSearch(search.folder).open("d39", refused)


def test_what_a_killed_build_left_is_cleared_when_it_is_old(search: FtsSearch) -> None:
    search.folder.mkdir()
    old, new = search.folder / ".old.tmp", search.folder / ".new.tmp"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)

    search.open("d1", held())

    assert (old.exists(), new.exists()) == (False, True)


def test_a_failed_build_leaves_nothing_behind(search: FtsSearch) -> None:
    search.folder.mkdir()

    with pytest.raises(AssertionError):
        search.open("d1", refused)

    assert list(search.folder.iterdir()) == []


def _open_and_search(folder: Path, results: multiprocessing.Queue[tuple[int, int]]) -> None:
    index = FtsSearch(folder).open("d1", held())
    results.put((index.totals.notes, len(index.best(["sentinel"], 5))))


def test_two_processes_may_build_the_same_index_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue[tuple[int, int]] = context.Queue()
    workers = [context.Process(target=_open_and_search, args=(tmp_path / "index", results)) for _ in range(4)]

    for worker in workers:
        worker.start()
    found = [results.get(timeout=30) for _ in workers]
    for worker in workers:
        worker.join(timeout=30)

    assert found == [(31, 1)] * 4


def test_one_index_serves_several_threads(search: FtsSearch) -> None:
    index = search.open("d1", held())
    found: list[tuple[Hit, ...]] = []

    threads = [
        threading.Thread(target=lambda: found.extend(index.best(["sentinel"], 1) for _ in range(50))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {hits[0].row for hits in found} == {found[0][0].row}
    assert len(found) == 200
