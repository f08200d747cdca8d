"""The benchmarks of search engines and of freshness run through the product's own code, and say what they left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import engines, freshness
from tests.benchmarks.engine_notes import notes_of, questions_of


def test_engines_are_measured_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    status = engines.main(["--sizes", "30", "--rounds", "1", "--json"])

    figures = {one["engine"]: one for one in json.loads(capsys.readouterr().out)}
    assert status == 0
    assert {"recall and section", "bare FTS5 query"} <= set(figures)
    assert figures["recall and section"]["query_ms"] > figures["bare FTS5 query"]["query_ms"] > 0
    assert {one["notes"] for one in figures.values()} == {30}


def test_an_engine_that_is_not_installed_is_named_with_the_way_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    engines.main(["--sizes", "25", "--rounds", "1"])

    told = capsys.readouterr().out
    here = {name for name in engines.OTHERS if f"  {name} " in told}
    assert [line.split(" ")[0] for line in told.splitlines() if "is not installed (pip install" in line] == [
        name for name in engines.OTHERS if name not in here
    ]


@pytest.mark.parametrize(
    ("engine", "notes", "query_ms", "slow"),
    [
        ("recall and section", 2_000, 4.99, False),
        ("recall and section", 2_000, 5.0, True),
        ("recall and section", 10_000, 15.1, True),
        ("recall and section", 100_000, 500.0, False),
        ("bare FTS5 query", 2_000, 9.0, False),
    ],
)
def test_recall_has_its_limits_and_other_engines_have_none(
    engine: str, notes: int, query_ms: float, *, slow: bool
) -> None:
    measured = engines.Measured(engine=engine, notes=notes, query_ms=query_ms, most_ms=query_ms, build_ms=0.0)

    assert engines.is_slow(measured) is slow


def test_notes_are_as_many_as_asked_for_and_the_same_each_time() -> None:
    assert len(notes_of(40)) == 40
    assert notes_of(40) == notes_of(40)
    assert all(question.title for question in questions_of())


def test_the_check_of_unchanged_notes_is_measured_beside_a_walk(tmp_path: Path) -> None:
    figures = freshness.measure(tmp_path, notes=40, rounds=3)

    assert figures["notes"] == 40
    assert 0 < figures["unchanged_ms"] < figures["first_ms"]
    assert figures["walk_ms"] > 0
    assert figures["one_changed_ms"] > 0
