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

from memory.index import FtsSearch
from memory.search import Hit, IndexUnusable
from memory.types import Chunk, NoteFile
from tests.memory.nobody import as_nobody
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

    profile = index.profiles([index.note_of(row)])[index.note_of(row)]

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


def test_files_beyond_the_room_for_them_go_and_those_opened_last_stay(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    for number in range(3):
        FtsSearch(folder).open(f"d{number}", held(NOTES[:1]))
        os.utime(FtsSearch(folder)._path(f"d{number}"), (number, number))
    size = FtsSearch(folder)._path("d0").stat().st_size
    FtsSearch(folder).open("d0", refused)

    FtsSearch(folder, bytes_kept=3 * size).open("d3", held(NOTES[:1]))

    assert {path.name.partition(".")[0] for path in folder.iterdir()} == {"d0", "d2", "d3"}


def test_the_index_that_was_just_built_stays_whatever_its_size(tmp_path: Path) -> None:
    folder = tmp_path / "index"

    FtsSearch(folder, bytes_kept=1).open("d1", held())

    assert FtsSearch(folder).open("d1", refused)


def test_more_repositories_than_are_held_open_are_not_built_again(search: FtsSearch) -> None:
    for number in range(40):
        search.open(f"d{number}", held([]))

    built = {path: path.stat().st_ino for path in search.folder.iterdir()}
    for number in range(40):
        search.open(f"d{number}", refused)

    assert {path: path.stat().st_ino for path in search.folder.iterdir()} == built
    assert len(search._open) <= 32


def test_the_index_that_is_used_most_stays_open(search: FtsSearch) -> None:
    first = search.open("busy", held(NOTES[:1]))

    for number in range(40):
        search.open(f"d{number}", held([]))
        assert search.open("busy", refused) is first


def test_an_index_that_may_not_be_read_is_built_anew(open_folder: Path) -> None:
    FtsSearch(open_folder).open("d1", held(NOTES[:1]))
    FtsSearch(open_folder)._path("d1").chmod(0)
    open_folder.chmod(0o777)

    with as_nobody():
        index = FtsSearch(open_folder).open("d1", held())

    assert index.totals.notes == len(NOTES)


def test_a_folder_that_may_not_be_entered_is_told_with_the_way_out(open_folder: Path) -> None:
    FtsSearch(open_folder / "index").open("d1", held(NOTES[:1]))
    (open_folder / "index").chmod(0)

    with as_nobody(), pytest.raises(IndexUnusable, match="Make the folder writable"):
        FtsSearch(open_folder / "index").open("d1", held())


def test_a_file_that_goes_while_it_is_opened_is_built_anew(search: FtsSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda _: True)

    assert search.open("d1", held()).totals.notes == len(NOTES)


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
