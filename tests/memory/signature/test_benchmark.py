"""The benchmark scores labelled traces through the product's own code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.intervals import Share
from tests.benchmarks.signatures import main

_TRACE = """Traceback (most recent call last):
  File "/w/{folder}/tests/test_{name}.py", line 3, in test_{name}
    {name}()
  File "/w/{folder}/shop/{name}.py", line {line}, in {name}
    rows[3]
IndexError: list index out of range"""


def _row(number: int, name: str, variant: str) -> dict[str, object]:
    test = {"rel": f"tests/test_{name}.py", "func": f"test_{name}", "in_app": True, "test": True}
    code = {"rel": f"shop/{name}.py", "func": name, "in_app": True, "test": False}
    return {
        "id": f"{name}-{variant}",
        "language": "python",
        "project": "shop",
        "group": name,
        "variant": variant,
        "test": f"tests/test_{name}.py::test_{name}",
        "etype": "IndexError",
        "message": "list index out of range",
        "frames": [test, code],
        "text": _TRACE.format(folder=variant, name=name, line=number),
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [_row(number, name, variant) for number, (name, variant) in enumerate(
        [("cart", "py311"), ("cart", "py39"), ("till", "py311"), ("till", "py39")]
    )]  # fmt: skip
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "python.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    pair = {"id": "one", "a": rows[0]["text"], "b": rows[1]["text"], "same": True}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    return tmp_path


def test_all_figures_come_with_counts_and_bounds(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--traces", str(data / "traces"), "--pairs", str(data / "pairs.jsonl"), "--json"])

    figures = json.loads(capsys.readouterr().out)
    assert status == 0
    assert figures["python"]["inside"]["f1"] == 1.0
    assert figures["python"]["inside"]["wrong_bug"] == {"hits": 0, "of": 4, "share": 0.0, "low": 0.0, "high": 0.6024}
    assert figures["python"]["type_and_message_inside"]["wrong_bug"]["share"] == 1.0
    assert figures["python"]["other_version_and_folder"]["hits"] == 2
    assert figures["pairs"] == {
        "right": {"hits": 1, "of": 1, "share": 1.0, "low": 0.025, "high": 1.0},
        "wrong": [],
        "by_words_alone": [],
    }
    assert all(figure["share"] == 1.0 for figure in figures["changes"].values())


def test_a_wrong_pair_is_named_and_ends_with_an_exit_status(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = json.loads((data / "pairs.jsonl").read_text()) | {"same": False}
    (data / "pairs.jsonl").write_text(json.dumps(pair))

    status = main(["--traces", str(data / "traces"), "--pairs", str(data / "pairs.jsonl")])

    assert status == 1
    told = capsys.readouterr().out
    assert "pairs right: 0.000 [0.000, 0.975] of 1 one" in told
    assert "python, raised inside the program: F1 1.000" in told


def test_a_pair_that_meets_by_words_alone_is_named_for_it_is_offered_no_lesson(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = json.loads((data / "pairs.jsonl").read_text())["a"].replace(
        "IndexError: list index out of range", "ModuleNotFoundError: No module named 'psycopg_pool'"
    )
    pair = {"id": "bare", "a": trace, "b": "`ModuleNotFoundError: No module named 'psycopg_pool'`", "same": True}
    (data / "pairs.jsonl").write_text(json.dumps(pair))

    status = main(["--traces", str(data / "traces"), "--pairs", str(data / "pairs.jsonl")])

    assert status == 0
    assert "pairs that meet by words alone, which offers no lesson: 1 bare" in capsys.readouterr().out


def test_data_that_was_named_and_is_missing_is_an_error(data: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--traces", str(data / "nowhere"), "--pairs", str(data / "pairs.jsonl")])


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"), [(0, 299, 0.0, 0.0123), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0)]
)
def test_the_interval_of_a_share_is_exact(hits: int, of: int, low: float, high: float) -> None:
    share = Share(hits=hits, of=of)

    assert (round(share.low, 4), round(share.high, 4)) == (low, high)
