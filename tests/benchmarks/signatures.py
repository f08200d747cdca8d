"""How well signatures tell bugs apart: `python -m tests.benchmarks.signatures --traces DIR --pairs FILE --json`.

DIR holds `python.jsonl` and `java.jsonl` (labelled traces), and may hold `issues.jsonl`; FILE holds pairs of texts.
Everything goes through `memory.signature`, as a ticket does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

from memory.signature import ALGO, STRONG, RepoView, match, signatures
from memory.signature.cleaning import clean
from memory.signature.python import parse
from tests.benchmarks.intervals import Share
from tests.benchmarks.signature_words import told
from tests.benchmarks.traces import Labelled, lines, read, repositories
from tests.memory.signature.changes import CHANGES

Keys = frozenset[str]
_SHARED = Path("shared") / "data"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; 0 when all pairs are right."""
    given = _options(arguments)
    if given is None:
        return 0
    figures = measure(given.traces, given.pairs, given.tickets)
    if given.json:
        print(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        print("\n".join(told(figures)))
    return 0 if not figures["pairs"]["wrong"] else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace | None:
    beside = Path(__file__).resolve().parents[2].parent / _SHARED
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.signatures", description=__doc__)
    parser.add_argument("--traces", type=Path, default=beside / "traces")
    parser.add_argument("--pairs", type=Path, default=beside / "signatures" / "pairs.jsonl")
    parser.add_argument("--tickets", type=Path, help="tickets whose texts hold the tracebacks of issues.jsonl")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    for path in (given.traces, given.pairs):
        if not path.exists():
            if beside in path.parents:
                print(f"skipped: {path} is not there; name data with --traces and --pairs")
                return None
            parser.error(f"{path} is not there")
    if given.tickets is None:
        given.tickets = given.traces.parent / "tickets" / "python_issues.jsonl"
    return given


def measure(traces: Path, pairs: Path, tickets: Path) -> dict[str, Any]:
    """All figures of one run."""
    figures: dict[str, Any] = {"algorithm": ALGO}
    texts: list[str] = []
    wrong = Share(hits=0, of=0)
    for language in ("python", "java"):
        path = traces / f"{language}.jsonl"
        if path.exists():
            found = _corpus(path)
            wrong = Share(hits=wrong.hits + found["all"]["wrong_bug"]["hits"], of=wrong.of + found["all"]["traces"])
            figures[language] = found
            texts += [trace.text for trace in read(path)]
    figures["wrong_bug_of_all_traces"] = wrong.as_json()
    if (traces / "issues.jsonl").exists() and tickets.exists():
        figures["issues"] = _issues(traces / "issues.jsonl", tickets)
    figures["pairs"] = _pairs(lines(pairs))
    texts += [row[side] for row in lines(pairs) for side in ("a", "b")]
    figures["changes"] = _changes(texts)
    figures["time"] = _time(texts)
    return figures


# --- Labelled traces -----------------------------------------------------------------------------------------------


def _corpus(path: Path) -> dict[str, Any]:
    known = repositories(lines(path))
    traces = read(path)
    keys = {trace.id: _strong(trace.text, known.get(trace.project)) for trace in traces}
    inside = [trace for trace in traces if trace.inside]
    found: dict[str, Any] = {
        "inside": _scores(inside, lambda trace: keys[trace.id]),
        "all": _scores(traces, lambda trace: keys[trace.id]),
        "simple_rule_inside": _scores(
            inside, lambda trace: frozenset((trace.simple,)) if trace.simple else frozenset()
        ),
        "type_and_message_inside": _scores(inside, lambda trace: frozenset((trace.words,))),
        "by_project": {
            name: _scores([trace for trace in inside if trace.project == name], lambda trace: keys[trace.id])
            for name in sorted({trace.project for trace in inside})
        },
    }
    variants = _variants(traces, keys)
    if variants.of:
        found["other_version_and_folder"] = variants.as_json()
    return found


def _strong(text: str, repo: RepoView | None) -> Keys:
    return frozenset(key for one in signatures("", text, repo) for level, key in one.keys.items() if level in STRONG)


def _scores(traces: Sequence[Labelled], keys: Callable[[Labelled], Keys]) -> dict[str, Any]:
    """Over pairs of one project: precision, recall, F1; and the share of traces that meet another bug's."""
    met = same = both = 0
    offered: set[str] = set()
    for project in {trace.project for trace in traces}:
        for one, other in combinations([trace for trace in traces if trace.project == project], 2):
            meets, twins = bool(keys(one) & keys(other)), one.group == other.group
            met, same, both = met + meets, same + twins, both + (meets and twins)
            if meets and not twins:
                offered |= {one.id, other.id}
    precision, recall = Share(hits=both, of=met), Share(hits=both, of=same)
    total = precision.value + recall.value
    return {
        "traces": len(traces),
        "with_key": sum(bool(keys(trace)) for trace in traces),
        "precision": precision.as_json(),
        "recall": recall.as_json(),
        "f1": round(2 * precision.value * recall.value / total, 4) if total else 0.0,
        "wrong_bug": Share(hits=len(offered), of=len(traces)).as_json(),
    }


def _variants(traces: Sequence[Labelled], keys: Mapping[str, Keys]) -> Share:
    """One test of one commit under two interpreters, which stand in other folders: do the two traces meet?"""
    of = hits = 0
    runs: dict[tuple[str, str, str], list[Labelled]] = {}
    for trace in traces:
        if trace.variant.startswith("py"):
            runs.setdefault((trace.project, trace.group, trace.test), []).append(trace)
    for run in runs.values():
        for one, other in combinations(run, 2):
            if one.variant != other.variant:
                of += 1
                hits += bool(keys[one.id] & keys[other.id])
    return Share(hits=hits, of=of)


# --- Issues, pairs, changes ----------------------------------------------------------------------------------------


def _issues(issues: Path, tickets: Path) -> dict[str, Any]:
    """Tracebacks in issue texts: read with the right type and number of frames; and tickets that get a signature."""
    texts = {row["id"]: row for row in lines(tickets)}
    told = [row for row in lines(issues) if row.get("where") == "body" and row["group"] in texts]
    shown = [row for row in texts.values() if row["has_traceback"]]
    missed = [row["id"] for row in told if not _is_read(row, texts[row["group"]])]
    bare = [row["id"] for row in shown if not signatures(row["title"], row["body"])]
    return {
        "tracebacks_read": Share(hits=len(told) - len(missed), of=len(told)).as_json(),
        "not_read": missed,
        "tickets_with_signature": Share(hits=len(shown) - len(bare), of=len(shown)).as_json(),
        "without_signature": bare,
    }


def _is_read(row: Mapping[str, Any], ticket: Mapping[str, Any]) -> bool:
    short = row["etype"].rsplit(".", 1)[-1]
    return any(
        thrown.type.rsplit(".", 1)[-1] == short and len(thrown.frames) >= len(row["frames"])
        for trace in parse(clean(ticket["title"], ticket["body"]).lines)
        for thrown in trace.chain
    )


def _pairs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    met = {row["id"]: match(signatures("", row["a"]), signatures("", row["b"])) for row in rows}
    wrong = [row["id"] for row in rows if bool(met[row["id"]]) != row["same"]]
    return {
        "right": Share(hits=len(rows) - len(wrong), of=len(rows)).as_json(),
        "wrong": wrong,
        "by_words_alone": [name for name, found in met.items() if found and not found.strong],
    }


def _changes(texts: Sequence[str]) -> dict[str, Any]:
    """For each change of a text: the share of texts whose keys stay, of those that have keys."""
    before = {text: _all_keys(text) for text in texts}
    kept = {text: keys for text, keys in before.items() if keys}
    return {
        name: Share(hits=sum(_all_keys(change(text)) == keys for text, keys in kept.items()), of=len(kept)).as_json()
        for name, change in CHANGES.items()
    }


def _all_keys(text: str) -> Keys:
    return frozenset(key for one in signatures("", text) for key in one.keys.values())


def _time(texts: Sequence[str]) -> dict[str, float]:
    taken: list[float] = []
    for text in texts:
        begun = perf_counter()
        signatures("", text)
        taken.append((perf_counter() - begun) * 1000)
    taken.sort()
    return {"median_ms": round(taken[len(taken) // 2], 2), "most_ms": round(taken[-1], 2)} if taken else {}


if __name__ == "__main__":
    sys.exit(main())
