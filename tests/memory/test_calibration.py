"""Calibration: a threshold, and how sure it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory.calibration import ALGORITHM, Basis, Calibration, fixed_threshold
from memory.index import FtsIndex, FtsSearch
from memory.intervals import Share
from memory.measuring import Labelled, measure
from memory.rules import Coverage, PerWord
from memory.types import NoteFile
from memory.without import Without
from tests.memory.recall_kit import NOW, SCOPE, asking, chunks_of, note

WORDS = [f"{a}{b}{c}um" for a in "bdfgk" for b in "aeiou" for c in "lmnrt"]


def topic(number: int) -> NoteFile:
    """A note with six words of its own, and three that others have too."""
    called = "".join("hjkpqvwxyz"[int(digit)] for digit in f"{number:03}")
    own = [WORDS[(7 * number + 13 * step) % len(WORDS)] + called for step in range(6)]
    common = [WORDS[(number + step) % 11] for step in range(3)]
    return note(f"n{number:03}.md", f"# {' '.join(own[:4])}\n{' '.join([*own, *common])}")


def index_of(folder: Path, count: int) -> FtsIndex:
    return FtsSearch(folder).open(f"d{count}", lambda: chunks_of([topic(n) for n in range(count)]))


def ticket(number: int) -> Labelled:
    title = topic(number).text.partition("\n")[0].strip("# ")
    return Labelled(query=asking(title, body="It stopped today."), notes=(f"n{number:03}.md",))


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 8, 0.0, 0.3694), (0, 100, 0.0, 0.0362), (5, 100, 0.0164, 0.1128), (8, 8, 0.6306, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_exact(hits: int, of: int, low: float, high: float) -> None:
    share = Share(hits=hits, of=of)

    assert share.low == pytest.approx(low, abs=1e-4)
    assert share.high == pytest.approx(high, abs=1e-4)
    assert share.low <= share.value <= share.high


@pytest.mark.parametrize(("of", "bound"), [(8, 0.3123), (59, 0.0495), (299, 0.00997)])
def test_no_false_admission_at_all_still_proves_only_so_much(of: int, bound: float) -> None:
    assert Share(hits=0, of=of).surely_below == pytest.approx(bound, abs=1e-4)


def test_all_of_all_bounds_nothing() -> None:
    assert Share(hits=3, of=3).surely_below == 1.0


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    return measure(index_of(tmp_path_factory.mktemp("index"), 110), SCOPE, NOW).calibration


def test_without_tickets_the_notes_ask_the_index_without_themselves(calibration: Calibration) -> None:
    assert calibration.basis is Basis.NOTES
    assert calibration.false.of == 110
    assert calibration.false.value <= 0.01
    assert calibration.threshold < fixed_threshold(110)
    assert calibration.found == Share(hits=0, of=0)


def test_fewer_than_299_questions_never_prove_one_percent(calibration: Calibration) -> None:
    assert not calibration.proven
    assert calibration.told().endswith("≤ 1 % is not proven")
    assert replace(calibration, false=Share(hits=0, of=299)).told().endswith("≤ 1 % is proven")


@pytest.mark.parametrize(
    ("basis", "told"),
    [
        (Basis.TICKETS, "these tickets"),
        (Basis.NOTES, "these notes"),
        (Basis.FIXED, "public reports"),
        (Basis.PREVIOUS, "the calibration before"),
    ],
)
def test_a_line_says_in_words_what_the_threshold_rests_on(calibration: Calibration, basis: Basis, told: str) -> None:
    assert f" by {told}: " in replace(calibration, basis=basis).told()


def test_few_notes_leave_the_fixed_threshold(tmp_path: Path) -> None:
    calibration = measure(index_of(tmp_path, 30), SCOPE, NOW).calibration

    assert (calibration.basis, calibration.threshold) == (Basis.FIXED, fixed_threshold(30))


def test_siblings_among_the_notes_do_not_raise_the_threshold(tmp_path: Path) -> None:
    pairs = [replace(topic(n // 2), path=f"n{n:03}.md", text=topic(n // 2).text + f" part{n}") for n in range(120)]
    index = FtsSearch(tmp_path).open("d", lambda: chunks_of(pairs))

    assert measure(index, SCOPE, NOW).calibration.basis is Basis.FIXED


def test_with_enough_tickets_the_threshold_rests_on_them(tmp_path: Path) -> None:
    index = index_of(tmp_path, 150)

    calibration = measure(index, SCOPE, NOW, [ticket(n) for n in range(120)]).calibration

    assert calibration.basis is Basis.TICKETS
    assert calibration.false.of == 120
    assert calibration.false.hits <= 1
    assert calibration.found.value > 0.9
    assert calibration.precision.value > 0.9


def test_a_ticket_that_no_note_answers_counts_only_as_a_negative(tmp_path: Path) -> None:
    tickets = [*map(ticket, range(99)), Labelled(query=asking("No such thing")), Labelled(query=asking(""))]

    calibration = measure(index_of(tmp_path, 150), SCOPE, NOW, tickets).calibration

    assert (calibration.false.of, calibration.found.of) == (101, 99)


def test_a_calibration_ends_when_the_algorithm_changes(calibration: Calibration) -> None:
    assert calibration.algorithm == ALGORITHM
    assert calibration.fits
    assert not replace(calibration, algorithm="older").fits


def test_a_calibration_grows_stricter_with_the_notes_and_never_looser(calibration: Calibration) -> None:
    thresholds = [calibration.threshold_at(notes) for notes in (50, 110, 500, 5_000)]

    assert thresholds[0] == thresholds[1] == calibration.threshold
    assert thresholds == sorted(thresholds)
    assert thresholds[2] < thresholds[3]


def test_the_fixed_threshold_grows_with_the_notes_and_with_strictness() -> None:
    assert fixed_threshold(100) < fixed_threshold(1_000) < fixed_threshold(10_000)
    assert fixed_threshold(500, 0.05) < fixed_threshold(500, 0.03) < fixed_threshold(500, 0.01)
    assert fixed_threshold(0) > 0


def test_a_view_without_a_note_knows_what_an_index_without_it_knows(tmp_path: Path) -> None:
    whole, smaller = index_of(tmp_path, 41), index_of(tmp_path, 40)
    words = [*topic(40).text.split(), *topic(3).text.split()]

    view = Without(whole, [40])

    assert view.totals == smaller.totals
    assert view.notes_with(words) == smaller.notes_with(words)
    assert view.chunks_with(words) == smaller.chunks_with(words)
    assert view.rows_of("balum") == smaller.rows_of("balum")
    assert {hit.note for hit in view.best(words, 9)} == {hit.note for hit in smaller.best(words, 9)}
    assert view.digest == whole.digest


def test_every_rule_can_ask_a_view(tmp_path: Path) -> None:
    view = Without(index_of(tmp_path, 41), [3])

    for rule in (PerWord(threshold=0.0), Coverage(threshold=0.0)):
        judged = rule.judge(view, ticket(3).query)
        assert 3 not in {one.note for one in judged.scored}
