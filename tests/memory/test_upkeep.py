"""Calibrations over time: kept with a version, carried along, measured anew when notes or scores change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memory.calibration import ALGORITHM, Basis, Calibration, fixed_threshold
from memory.index import FtsSearch
from memory.intervals import Share
from memory.measuring import Labelled
from memory.recall import Recall
from memory.store import MemoryStore
from memory.types import CommitId, MemoryVersion, NoteFile, Sources
from memory.upkeep import Due, Upkeep
from tests.memory.recall_kit import NOW, SCOPE, ShelfOf, asking, version
from tests.memory.store_kit import AT, COMMIT, DAY, make_store
from tests.memory.test_calibration import topic


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return make_store(tmp_path / "memory.sqlite")


@pytest.fixture
def upkeep(store: MemoryStore, tmp_path: Path) -> Upkeep:
    return Upkeep(store, FtsSearch(tmp_path / "index"))


def published(store: MemoryStore, notes: Sequence[NoteFile], days: int = 0) -> MemoryVersion:
    return store.publish_sources(SCOPE, Sources(commit=CommitId(COMMIT), notes=tuple(notes)), AT + days * DAY)


def topics(count: int) -> list[NoteFile]:
    return [topic(number) for number in range(count)]


def calibration(**fields: object) -> Calibration:
    nothing = Share(hits=0, of=0)
    made = Calibration(
        algorithm=ALGORITHM,
        basis=Basis.NOTES,
        level=0.01,
        threshold=0.5,
        notes=60,
        false=Share(hits=0, of=60),
        found=nothing,
        precision=nothing,
        at=AT,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def test_a_version_carries_its_last_calibration_to_the_next_ones(store: MemoryStore) -> None:
    first = published(store, topics(3))
    measured = store.keep_calibration(first, calibration())
    later = published(store, topics(4), days=1)

    assert store.calibration(first) is None
    assert store.calibration(measured) == store.calibration(later) == calibration()
    assert (measured.digest, later.number) == (first.digest, measured.number + 1)


def test_r36_a_run_that_pinned_a_version_sees_no_later_calibration(store: MemoryStore) -> None:
    first = published(store, topics(3))
    before = store.keep_calibration(first, calibration(threshold=0.4))

    store.keep_calibration(before, calibration(threshold=0.6))

    seen = store.calibration(before)
    assert seen is not None
    assert seen.threshold == 0.4


def test_r19_a_calibration_of_another_repository_is_never_seen(store: MemoryStore) -> None:
    mine = store.keep_calibration(published(store, topics(3)), calibration())
    theirs = replace(mine, scope=replace(SCOPE, installation="another"))

    assert store.calibration(theirs) is None


@pytest.mark.parametrize(
    ("notes", "due"),
    [
        (topics(60), None),
        (topics(66), None),
        (topics(67), Due.NOTES),
        (topics(53), Due.NOTES),
        ([replace(one, text=one.text + " more") if n < 6 else one for n, one in enumerate(topics(60))], None),
        ([replace(one, text=one.text + " more") if n < 7 else one for n, one in enumerate(topics(60))], Due.NOTES),
    ],
    ids=["the same", "six more", "seven more", "seven fewer", "six edited", "seven edited"],
)
def test_it_is_due_when_more_than_a_tenth_of_the_notes_changed(
    store: MemoryStore, upkeep: Upkeep, notes: list[NoteFile], due: Due | None
) -> None:
    store.keep_calibration(published(store, topics(60)), calibration())

    assert upkeep.due(published(store, notes, days=1)) is due


def test_it_is_due_when_it_was_never_made_and_when_scores_are_computed_otherwise(
    store: MemoryStore, upkeep: Upkeep
) -> None:
    first = published(store, topics(60))
    old = store.keep_calibration(first, calibration(algorithm="c0"))

    assert (upkeep.due(first), upkeep.due(old)) == (Due.NEVER, Due.ALGORITHM)


def test_few_notes_need_no_calibration_and_keep_none(store: MemoryStore, upkeep: Upkeep) -> None:
    few = published(store, topics(19))

    assert upkeep.due(few) is None
    assert upkeep.calibrate(few, AT).version is None
    assert store.current(SCOPE) == few


def test_what_was_measured_is_kept_with_a_new_version(store: MemoryStore, upkeep: Upkeep) -> None:
    first = published(store, topics(110))
    asked: list[tuple[int, int]] = []

    made = upkeep.calibrate(first, NOW, told=lambda done, of: asked.append((done, of)))

    assert made.version == store.current(SCOPE)
    assert made.version is not None
    assert store.calibration(made.version) == made.measured.calibration
    assert upkeep.due(made.version) is None
    assert asked[-1] == (110, 110)


def test_the_threshold_before_stays_when_the_new_one_lets_in_more_than_asked(
    store: MemoryStore, upkeep: Upkeep
) -> None:
    alike = [replace(topic(n // 2), path=f"n{n:03}.md", text=topic(n // 2).text + f" part{n}") for n in range(60)]
    first = published(store, alike)
    before = store.keep_calibration(first, calibration(threshold=0.93))

    made = upkeep.calibrate(before, NOW)

    assert made.before == calibration(threshold=0.93)
    assert (made.measured.calibration.basis, made.measured.calibration.threshold) == (Basis.PREVIOUS, 0.93)


@pytest.mark.parametrize(
    "earlier",
    [calibration(threshold=0.1), calibration(threshold=0.93, level=0.05), calibration(threshold=0.93, algorithm="c0")],
    ids=["looser", "for another level", "of other scores"],
)
def test_a_threshold_before_that_is_no_stricter_answer_gives_way_to_the_measured_one(
    store: MemoryStore, upkeep: Upkeep, earlier: Calibration
) -> None:
    alike = [replace(topic(n // 2), path=f"n{n:03}.md", text=topic(n // 2).text + f" part{n}") for n in range(60)]
    before = store.keep_calibration(published(store, alike), earlier)

    made = upkeep.calibrate(before, NOW).measured.calibration

    assert not made.held
    assert (made.basis, made.threshold) == (Basis.FIXED, fixed_threshold(60))


def test_without_one_before_what_was_measured_is_kept_though_it_lets_in_more(
    store: MemoryStore, upkeep: Upkeep
) -> None:
    alike = [replace(topic(n // 2), path=f"n{n:03}.md", text=topic(n // 2).text + f" part{n}") for n in range(60)]

    made = upkeep.calibrate(published(store, alike), NOW)

    assert not made.measured.calibration.held
    assert made.measured.calibration.threshold >= fixed_threshold(60)


def test_tickets_that_notes_name_are_counted_too(store: MemoryStore, upkeep: Upkeep) -> None:
    title = topic(7).text.partition("\n")[0].strip("# ")

    made = upkeep.calibrate(published(store, topics(60)), NOW, [Labelled(query=asking(title), notes=("n007.md",))])

    assert made.measured.calibration.found == Share(hits=1, of=1)
    assert made.measured.calibration.precision == Share(hits=1, of=1)


# --- Recall ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "wanted", "measured", "rule"),
    [
        (60, "auto", None, "per_word"),
        (60, "auto", calibration(), "calibrated"),
        (60, "auto", calibration(algorithm="c0"), "per_word"),
        (60, "per_word", calibration(), "per_word"),
        (60, "coverage", calibration(), "coverage"),
        (60, "calibrated", None, "calibrated"),
        (19, "auto", calibration(), "coverage"),
        (19, "calibrated", calibration(), "coverage"),
    ],
)
def test_the_rule_is_what_the_repository_wants_and_what_was_measured(
    tmp_path: Path, count: int, wanted: str, measured: Calibration | None, rule: str
) -> None:
    shelf = ShelfOf(notes=topics(count), measured=measured)

    context = Recall(shelf, FtsSearch(tmp_path))(asking("balumx3", rule=wanted), version())

    assert context.rule == rule


def test_a_note_gets_in_by_the_threshold_that_its_version_carries(store: MemoryStore, tmp_path: Path) -> None:
    recall = Recall(store, FtsSearch(tmp_path / "index"))
    first = published(store, topics(60))
    title = topic(7).text.partition("\n")[0].strip("# ")
    loose, strict = (store.keep_calibration(first, calibration(threshold=line)) for line in (0.1, 5.0))

    contexts = [recall(asking(title), one) for one in (loose, strict)]

    assert [[record.id for record in context.notes.shown] for context in contexts] == [["n007.md"], []]
    assert "above the threshold 0.10: subject words of the note found: " in contexts[0].notes.shown[0].why
    assert "below the threshold 5.00: subject words of the note found: " in contexts[1].notes.left_out[0].why
