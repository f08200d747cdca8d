"""The retrieval benchmark on a few notes: its figures can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.calibrated import Calibrated
from memory.recall import Recall
from memory.rules import PerWord, Rule
from tests.benchmarks.retrieval import main
from tests.benchmarks.retrieval_data import read
from tests.benchmarks.retrieval_score import VERSION, ask, hiding, opened


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "few"
    folder.mkdir()
    docs = [
        {"id": f"n{n}", "title": f"Gear{n} wheel{n} stuck", "body": f"The gear{n} needs oil{n} and rest."}
        for n in range(30)
    ]
    asked: list[dict[str, object]] = [
        {"id": f"q{n}", "title": f"Stuck gear{n} wheel{n}", "body": f"No oil{n} left.", "gold": [f"n{n}"]}
        for n in range(9)
    ]
    asked.append({"id": "q9", "title": "Colour of the sky", "body": "It is green.", "gold": []})
    for name, lines in (("docs", docs), ("queries", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


def test_figures_come_with_intervals_and_the_seeds_rule_beside_ours(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--notes", str(data), "--queries", str(data), "--thresholds-from", str(data), "--json"]) == 0

    (corpus,) = json.loads(capsys.readouterr().out)["corpora"]
    whole = corpus["settings"]["whole"]
    assert (corpus["notes"], corpus["questions"], corpus["thresholds"]) == (30, 10, "other questions")
    assert whole["calibrated"]["0.01"]["recall"] == {"hits": 9, "of": 9, "share": 1.0, "low": 0.6637, "high": 1.0}
    assert whole["calibrated"]["0.01"]["false_admission"]["hits"] == 0
    assert whole["per_word_at_1.8"]["recall"]["of"] == 9
    assert whole["milliseconds"]["calibrated"] > 0


def test_levels_can_be_named(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--notes", str(data), "--levels", "0.015,0.2", "--json"]) == 0

    (corpus,) = json.loads(capsys.readouterr().out)["corpora"]
    whole = corpus["settings"]["whole"]
    assert [list(whole[one]) for one in ("calibrated", "per_word", "without_labels")] == [["0.015", "0.2"]] * 3


@pytest.mark.parametrize("levels", ["none", "0", "1", "0.01,2"])
def test_a_level_that_is_no_share_is_refused(data: Path, levels: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--notes", str(data), "--levels", levels])

    assert "--levels" in capsys.readouterr().err


def test_people_get_lines(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--notes", str(data.parent)]) == 0

    assert "per_word at 1.8" in capsys.readouterr().out


def test_missing_data_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--notes", str(tmp_path / "nowhere")])


def test_a_question_finds_neither_itself_nor_without_its_answer_a_duplicate(tmp_path: Path) -> None:
    alike = [
        {"id": name, "title": "Gear seven is stuck", "body": f"The gear needs oil. {said}"}
        for name, said in (
            ("a", "Since Monday."),
            ("b", "On every mill."),
            ("gold", "Grease helps for an hour or two."),
        )
    ]
    other = [{"id": f"n{n}", "title": f"Colour{n} of sky{n}", "body": f"It is green{n}."} for n in range(30)]
    asked = [{**one, "gold": ["gold"]} for one in alike[:2]]
    for name, lines in (("docs", alike + other), ("queries", asked)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))

    of_a, of_b = ask(read(tmp_path, tmp_path), {"calibrated": Calibrated(threshold=-9.0)})["calibrated"]

    assert [{name for name, _ in one.found} for one in (of_a, of_b)] == [{"b", "gold"}, {"a", "gold"}]
    assert [one.false for one in (of_a, of_b)] == [(), ()]


@pytest.mark.parametrize("rule", [PerWord(threshold=0.01), Calibrated(threshold=-9.0)])
def test_a_note_that_was_taken_out_leaves_nothing_behind(data: Path, rule: Rule) -> None:
    corpus = read(data, data)
    rest = [chunk for note, parts in corpus.notes.items() if note != "n3" for chunk in parts]
    query = next(one.query() for one in corpus.questions if one.id == "q3")

    with hiding(corpus) as (shelf, search), opened(rest) as (smaller, anew):
        search.hide({"n5"})
        search.hide({"n3"})
        hidden, built = (Recall(one, by, rule)(query, VERSION).notes for one, by in ((shelf, search), (smaller, anew)))

    assert [record.id for record in hidden.shown] == [record.id for record in built.shown]
    assert [record.score for record in hidden.shown] == pytest.approx([record.score for record in built.shown])
    assert "n3" not in [record.id for record in hidden.shown]
