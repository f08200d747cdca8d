"""Notes and tuning are made ready before the lock is taken, and again when something became a secret."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory import prepared, publishing
from memory.database import reading, writing
from memory.index import FtsSearch
from memory.notes import chunks
from memory.prepared import NOTE_AT_MOST, RULES_AT_MOST, prepare
from memory.scrub import Scrubber
from memory.store import MemoryStore
from memory.types import Chunk, CommitId, NoteFile, Sources
from tests.memory.store_kit import AT, AUTHOR, DAY, HOLD, SHOP, ended, make_store, tables

SECRET = "hunter2hunter2"
NOTE = NoteFile(path="deploy/redis.md", text=f"# Redis\nLog in with {SECRET} by hand.", changed="2026-10-11")
OTHER = NoteFile(path="other.md", text="# Other\nNothing of the kind.")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite"


@pytest.fixture
def store(file: Path) -> MemoryStore:
    return make_store(file)


def sources(*notes: NoteFile, tuning: str = "") -> Sources:
    return Sources(commit=CommitId("a" * 40), notes=notes, tuning=tuning)


# --- Secrets -------------------------------------------------------------------------------------------------------


def test_what_became_a_secret_is_out_of_notes_and_tuning_of_the_next_run(store: MemoryStore, file: Path) -> None:
    told = sources(NOTE, OTHER, tuning=f"Never print {SECRET}.")
    before = store.publish_sources(SHOP, told, AT)

    knowing = make_store(file, SECRET)
    after = knowing.publish_sources(SHOP, told, AT + DAY)

    assert after.number == before.number + 1
    assert after.digest != before.digest
    assert SECRET not in repr((knowing.notes(after), knowing.chunks(after), knowing.tuning(after)))
    assert len([row for row in tables(file)["note"] if "Nothing of the kind" in str(row)]) == 1
    assert knowing.publish_sources(SHOP, told, AT) == after


def test_values_that_stand_in_no_note_publish_nothing(store: MemoryStore, file: Path) -> None:
    before = store.publish_sources(SHOP, sources(NOTE, tuning="Be kind."), AT)

    after = make_store(file, "another-secret").publish_sources(SHOP, sources(NOTE, tuning="Be kind."), AT)

    assert after == before


def test_a_secret_in_the_name_of_a_note_goes_too(store: MemoryStore, file: Path) -> None:
    told = sources(replace(OTHER, path=f"{SECRET}.md"))
    store.publish_sources(SHOP, told, AT)
    knowing = make_store(file, SECRET)

    assert [chunk.note for chunk in knowing.chunks(knowing.publish_sources(SHOP, told, AT))] == ["[secret].md"]


def test_a_secret_that_only_folding_lays_bare_is_not_kept(file: Path) -> None:
    wide = "".join(chr(ord(character) + 0xFEE0) for character in SECRET)
    store = make_store(file, SECRET)

    version = store.publish_sources(SHOP, sources(replace(NOTE, text=f"Say {wide}."), tuning=f"Not {wide}."), AT)

    assert store.chunks(version)[0].text == "Say [secret]."
    assert store.tuning(version) == ("Not [secret].",)


def test_another_form_of_what_is_kept_publishes_all_notes_anew(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.publish_sources(SHOP, sources(NOTE), AT)
    monkeypatch.setattr(prepared, "PREPARED_FORMAT", "p0")

    after = store.publish_sources(SHOP, sources(NOTE), AT)

    assert (after.number, after.digest == before.digest) == (2, False)


# --- The lock ------------------------------------------------------------------------------------------------------


def test_notes_are_made_ready_without_the_write_lock(
    store: MemoryStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free: list[bool] = []

    def look(note: NoteFile) -> tuple[Chunk, ...]:
        with sqlite3.connect(file, timeout=0, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        free.append(True)
        return chunks(note)

    monkeypatch.setattr(prepared, "chunks", look)

    store.publish_sources(SHOP, sources(NOTE, OTHER), AT)

    assert free == [True, True]


def test_only_what_changed_is_made_again(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.publish_sources(SHOP, sources(NOTE, OTHER), AT)
    made: list[str] = []

    def look(note: NoteFile) -> tuple[Chunk, ...]:
        made.append(note.path)
        return chunks(note)

    monkeypatch.setattr(prepared, "chunks", look)

    version = store.publish_sources(SHOP, sources(NOTE, replace(OTHER, text="changed")), AT)

    assert made == ["other.md"]
    assert len(store.chunks(version)) == 2


class Meddled(Scrubber):
    """Has something done once while notes are made ready."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._acts = [act]

    def scrub(self, text: str) -> str:
        while self._acts:
            self._acts.pop()()
        return super().scrub(text)


def meddled(file: Path, act: Callable[[], object]) -> MemoryStore:
    return MemoryStore(make_store(file)._engine, Meddled(act), AUTHOR)


def test_what_another_process_published_meanwhile_is_not_published_again(file: Path) -> None:
    other = make_store(file)
    store = meddled(file, lambda: other.publish_sources(SHOP, sources(NOTE), AT))

    version = store.publish_sources(SHOP, sources(NOTE), AT)

    assert version.number == 1
    assert version == other.current(SHOP)


def test_a_lesson_that_was_written_meanwhile_is_no_reason_to_begin_again(file: Path) -> None:
    other = make_store(file)
    store = meddled(file, lambda: other.record(ended(HOLD)))

    version = store.publish_sources(SHOP, sources(NOTE), AT)

    assert (version.number, len(store.chunks(version)), len(store.lessons(SHOP))) == (2, 1, 1)


def test_a_note_that_another_process_took_away_meanwhile_is_there_again(file: Path) -> None:
    other = make_store(file)
    other.publish_sources(SHOP, sources(NOTE), AT)
    store = meddled(file, lambda: other.publish_sources(SHOP, sources(), AT))

    version = store.publish_sources(SHOP, sources(NOTE, OTHER), AT)

    assert [chunk.note for chunk in store.chunks(version)] == ["deploy/redis.md", "other.md"]


def test_what_was_published_until_the_lock_was_there_is_not_published_again(store: MemoryStore, file: Path) -> None:
    ready = prepare(sources(NOTE), {}, Scrubber())
    first = store.publish_sources(SHOP, sources(NOTE), AT)
    before = tables(file)

    with writing(store._engine) as session:
        second = publishing.publish_prepared(session, SHOP, ready, AT)

    assert second == first
    assert tables(file) == before


def test_nothing_is_written_while_a_note_is_missing(store: MemoryStore, file: Path) -> None:
    store.publish_sources(SHOP, sources(NOTE), AT)
    with reading(store._engine) as session:
        kept = publishing.kept_notes(session, SHOP)
    ready = prepare(sources(NOTE, OTHER), kept, Scrubber())
    store.publish_sources(SHOP, sources(), AT)
    before = tables(file)

    with writing(store._engine) as session:
        assert publishing.publish_prepared(session, SHOP, ready, AT) is None

    assert tables(file) == before


# --- Sizes, names and rules ----------------------------------------------------------------------------------------


def test_a_note_that_is_too_long_says_what_is_missing(store: MemoryStore) -> None:
    line = "All work and no play.\n"
    text = line * (NOTE_AT_MOST // len(line) + 10)

    version = store.publish_sources(SHOP, sources(replace(NOTE, text=text)), AT)

    kept = store.notes(version)[0].text
    assert len(kept) < NOTE_AT_MOST + 200
    missing = len(text) - kept.index("\n\n(This note")
    assert store.chunks(version)[-1].text.endswith(f"too long: {missing} characters that follow here are not read.)")


def test_a_note_without_lines_is_cut_too(store: MemoryStore) -> None:
    version = store.publish_sources(SHOP, sources(replace(NOTE, text="a b " * NOTE_AT_MOST)), AT)

    assert "(This note is too long: " in store.notes(version)[0].text


def test_an_own_note_in_a_folder_called_shared_is_no_shared_one(store: MemoryStore, tmp_path: Path) -> None:
    shared = NoteFile(path="x.md", text="alpha beta gamma", shared=True)
    own = NoteFile(path="shared:x.md", text="omega psi chi")
    version = store.publish_sources(SHOP, sources(shared, own, replace(own, path="./shared:x.md")), AT)

    index = FtsSearch(tmp_path / "index").open(version.digest, lambda: store.chunks(version))

    assert index.totals.notes == 3
    assert {chunk.note for chunk in store.chunks(version)} == {"shared:x.md", "./shared:x.md", "././shared:x.md"}


def test_another_rule_of_tuning_needs_no_other_index(store: MemoryStore) -> None:
    first = store.publish_sources(SHOP, sources(NOTE, tuning="Be kind."), AT)

    second = store.publish_sources(SHOP, sources(NOTE, tuning="Be brief."), AT)

    assert (second.number, second.digest) == (first.number + 1, first.digest)
    assert (store.tuning(first), store.tuning(second)) == (("Be kind.",), ("Be brief.",))


def test_a_rule_loses_one_bullet_and_no_more(store: MemoryStore) -> None:
    tuning = "- Run the linter.\n\n* Be kind.\n+ Push never.\n- - nested\n-\n*bold* it\n"

    version = store.publish_sources(SHOP, sources(tuning=tuning), AT)

    assert store.tuning(version) == ("Run the linter.", "Be kind.", "Push never.", "- nested", "*bold* it")


def test_no_more_rules_are_read_than_could_ever_be_shown(store: MemoryStore) -> None:
    version = store.publish_sources(SHOP, sources(tuning="\n".join(f"- r{n}" for n in range(5_000))), AT)

    rules = store.tuning(version)
    assert (len(rules), rules[-1]) == (RULES_AT_MOST, f"r{RULES_AT_MOST - 1}")
