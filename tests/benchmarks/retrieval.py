"""How well notes are found: `python -m tests.benchmarks.retrieval --notes DIR --queries DIR --json`.

DIR holds `docs.jsonl` and `queries.jsonl`, or folders that do. With `--thresholds-from DIR` thresholds come from the
questions there, else from the same ones that are counted. Everything goes through `memory.recall`, as a ticket does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from memory.calibrated import Calibrated
from memory.calibration import ALGORITHM, Calibration
from memory.measuring import measure
from memory.rules import PerWord, Rule
from tests.benchmarks.intervals import Share
from tests.benchmarks.retrieval_data import SCOPE, Corpus, read
from tests.benchmarks.retrieval_score import VERSION, Asked, ask, figures, foreign, milliseconds, opened, threshold_for

LEVELS = (0.01, 0.03, 0.05)
SEED = 1.8
_CUT_FROM = 1_000  # notes: a corpus of more is also measured in parts of the size that a repository has
_FOREIGN = 60  # questions of each other corpus
_LEAST = 1.0  # bm25 for a word: the lines that are looked for lie far above, and what is below takes long to list
_OPEN: Mapping[str, Rule] = {"calibrated": Calibrated(threshold=-1e9), "per_word": PerWord(threshold=_LEAST)}
Answers: TypeAlias = Sequence[tuple[int, Asked]]
"""Each with the part of the corpus that it comes from."""
_SHARED = Path("shared") / "data" / "retrieval"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    given = _options(arguments)
    if given is None:
        return 0
    corpora = _corpora(given.notes, given.queries)
    dev = {corpus.name: corpus for corpus in _corpora(given.thresholds_from, given.thresholds_from)}
    report = {"algorithm": ALGORITHM, "corpora": [_measured(corpus, dev, corpora, given.levels) for corpus in corpora]}
    print(json.dumps(report, indent=2) if given.json else "\n".join(_told(report["corpora"])))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace | None:
    beside = Path(__file__).resolve().parents[2].parent / _SHARED
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval", description=__doc__)
    parser.add_argument("--notes", type=Path, default=beside)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--thresholds-from", type=Path)
    parser.add_argument("--levels", type=_levels, default=LEVELS, help="shares of false admissions: 0.01,0.03,0.05")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    given.queries = given.queries or given.notes
    for path in (given.notes, given.queries, given.thresholds_from):
        if path is not None and not path.is_dir():
            if path == beside:
                print(f"skipped: {beside} is not there; name data with --notes and --queries")
                return None
            parser.error(f"{path} is not there")
    return given


def _levels(written: str) -> tuple[float, ...]:
    levels = tuple(float(level) for level in written.split(","))
    if not all(0 < level < 1 for level in levels):
        raise ValueError(written)
    return levels


def _corpora(notes: Path | None, queries: Path | None) -> list[Corpus]:
    if notes is None or queries is None:
        return []
    if (notes / "docs.jsonl").is_file():
        return [read(notes, queries)]
    names = sorted(path.parent.name for path in notes.glob("*/docs.jsonl"))
    return [read(notes / name, queries / name) for name in names if (queries / name / "queries.jsonl").is_file()]


def _measured(
    corpus: Corpus, dev: Mapping[str, Corpus], all_of_them: Sequence[Corpus], levels: Sequence[float]
) -> dict[str, object]:
    other = dev.get(corpus.name)
    return {
        "name": corpus.name,
        "notes": len(corpus.notes),
        "questions": len(corpus.questions),
        "thresholds": "other questions" if other else "these questions",
        "settings": {
            setting: _setting(parts, dict(_settings(other))[setting] if other else parts, all_of_them, levels)
            for setting, parts in _settings(corpus)
        },
    }


def _settings(corpus: Corpus) -> Iterator[tuple[str, list[Corpus]]]:
    if len(corpus.notes) > _CUT_FROM:
        yield "parts", corpus.folds()
    yield "whole", [corpus]


def _setting(
    parts: Sequence[Corpus], dev: Sequence[Corpus], all_of_them: Sequence[Corpus], levels: Sequence[float]
) -> dict[str, object]:
    asked = _asked(parts)
    learned = asked if dev is parts else _asked(dev)
    sizes = [len(part.notes) for part in parts]
    strange = {name: _strangers(parts, all_of_them, rule) for name, rule in _OPEN.items()}
    return {
        "notes_in_index": [min(sizes), max(sizes)],
        **{
            name: {f"{level:g}": _at(level, asked[name], learned[name], strange[name]) for level in levels}
            for name in _OPEN
        },
        "without_labels": _without_labels(asked["calibrated"], parts, strange["calibrated"], levels),
        "answer_struck_off": {name: _struck(asked[name], levels) for name in _OPEN},
        "per_word_at_1.8": _counted([SEED] * len(parts), asked["per_word"], strange["per_word"]),
        "milliseconds": {
            name: round(milliseconds(parts[0], rule), 3)
            for name, rule in (("calibrated", Calibrated(threshold=0.6)), ("per_word", PerWord()))
        },
    }


def _asked(parts: Sequence[Corpus]) -> dict[str, list[tuple[int, Asked]]]:
    """By rule: the answers, each with the part that it comes from."""
    asked: dict[str, list[tuple[int, Asked]]] = {name: [] for name in _OPEN}
    for number, part in enumerate(parts):
        for name, answers in ask(part, _OPEN).items():
            asked[name].extend((number, one) for one in answers)
    return asked


def _strangers(parts: Sequence[Corpus], all_of_them: Sequence[Corpus], rule: Rule) -> list[tuple[int, float]]:
    """The best scores of questions of the other corpora, each with the part that was asked."""
    others = [q for corpus in all_of_them if corpus.name != parts[0].name for q in corpus.questions[:_FOREIGN]]
    return [(number, score) for number, part in enumerate(parts) for score in foreign(part, others, rule)]


def _at(level: float, asked: Answers, learned: Answers, strange: Sequence[tuple[int, float]]) -> dict[str, object]:
    threshold = threshold_for([one for _, one in learned], level)
    parts = 1 + max((number for number, _ in asked), default=0)
    return {"threshold": round(threshold, 4), **_counted([threshold] * parts, asked, strange)}


def _struck(asked: Answers, levels: Sequence[float]) -> dict[str, object]:
    """Recall where words are counted with the answer when false admission is: for comparison, not to be believed."""
    other = [(number, replace(one, false=one.struck)) for number, one in asked]
    return {f"{level:g}": _at(level, other, other, ()) for level in levels}


def _without_labels(
    asked: Answers, parts: Sequence[Corpus], strange: Sequence[tuple[int, float]], levels: Sequence[float]
) -> dict[str, object]:
    """Each index with the threshold that it calibrates by itself, by level."""
    made = [_calibrations(part, levels) for part in parts]
    found: dict[str, object] = {}
    for at, level in enumerate(levels):
        thresholds = [of_part[at].threshold for of_part in made]
        found[f"{level:g}"] = {
            "thresholds": [round(threshold, 4) for threshold in thresholds],
            "bases": sorted({of_part[at].basis.value for of_part in made}),
            **_counted(thresholds, asked, strange),
        }
    return found


def _calibrations(part: Corpus, levels: Sequence[float]) -> list[Calibration]:
    with opened(part.chunks) as (shelf, search):
        index = search.open(VERSION.digest, lambda: shelf.chunks(VERSION))
        return [measure(index, SCOPE, datetime(2026, 1, 1, tzinfo=UTC), level=level).calibration for level in levels]


def _counted(thresholds: Sequence[float], asked: Answers, strange: Sequence[tuple[int, float]]) -> dict[str, object]:
    """What thresholds give, one for each part."""
    counted = figures([(one, thresholds[number]) for number, one in asked])
    if strange:
        hits = sum(score >= thresholds[number] for number, score in strange)
        counted["cross_domain"] = Share(hits=hits, of=len(strange)).as_json()
    return counted


def _told(corpora: object) -> Iterator[str]:
    assert isinstance(corpora, list)
    for corpus in corpora:
        yield f"{corpus['name']}: {corpus['notes']} notes, {corpus['questions']} questions"
        for setting, measured in corpus["settings"].items():
            yield f"  {setting}, {measured['notes_in_index']} notes in an index, ms {measured['milliseconds']}"
            rows = [(f"{rule} at {level}", counted) for rule in ("calibrated", "without_labels", "per_word")
                    for level, counted in measured[rule].items()]  # fmt: skip
            for name, counted in [*rows, ("per_word at 1.8", measured["per_word_at_1.8"])]:
                yield f"    {name:24}" + "  ".join(
                    f"{key} {counted[key]['share']:.3f} [{counted[key]['low']:.3f} {counted[key]['high']:.3f}]"
                    for key in ("recall", "false_admission", "precision", "cross_domain")
                    if key in counted
                )


if __name__ == "__main__":
    sys.exit(main())
