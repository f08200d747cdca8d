"""The figures of a set of repairs, as a table and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.benchmarks.cases import Row
from tests.benchmarks.intervals import Share


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """By set, and within a set by kind."""
    return {
        name: {"all": _figures(found), **{kind: _figures(some) for kind, some in _by(found, "kind")}}
        for name, found in _by(rows, "set")
    }


def show(rows: Sequence[Row], console: Console) -> None:
    """One table for each set."""
    for name, found in _by(rows, "set"):
        table = Table(title=f"{name}: {len(found)} defects")
        for column in ("kind", "repaired", "right", "wrong", "runs", "tool calls", "s repaired", "s given up"):
            table.add_column(column, justify="left" if column == "kind" else "right")
        for kind, some in [*_by(found, "kind"), ("all", found)]:
            table.add_row(kind, *_cells(some), end_section=kind == "all")
        console.print(table)


def _cells(rows: Sequence[Row]) -> Iterator[str]:
    done = [row for row in rows if row.repaired]
    share = Share(hits=len(done), of=len(rows))
    yield f"{share.hits}/{share.of} {share.value:.0%} [{share.low:.0%} {share.high:.0%}]"
    yield str(sum(row.right is True for row in done))
    yield f"{sum(row.right is False for row in done)} (+{sum(row.right is None for row in done)} not told)"
    yield _spread([row.worked.searched for row in done])
    yield _spread([row.worked.tools for row in done])
    yield _spread([row.worked.seconds for row in done])
    yield _spread([row.worked.seconds for row in rows if not row.repaired])


def _spread(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.0f}" for value in spread(values)) if values else "-"


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, nine in ten, and the most."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], ordered[-1]


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    done = [row for row in rows if row.repaired]
    given_up = [row for row in rows if not row.repaired]
    return {
        "repaired": Share(hits=len(done), of=len(rows)).as_json(),
        "right": Share(hits=sum(row.right is True for row in done), of=len(rows)).as_json(),
        "equal_text": sum(row.equal for row in done),
        "wrong": sum(row.right is False for row in done),
        "not_told": sum(row.right is None for row in done),
        "median_p90_max": {
            "candidate_runs": spread([row.worked.searched for row in done]) if done else None,
            "tool_calls": spread([row.worked.tools for row in done]) if done else None,
            "seconds_repaired": spread([row.worked.seconds for row in done]) if done else None,
            "seconds_given_up": spread([row.worked.seconds for row in given_up]) if given_up else None,
        },
    }


def _by(rows: Sequence[Row], name: str) -> Iterator[tuple[str, list[Row]]]:
    names = dict.fromkeys(getattr(row.case, name) for row in rows)
    for value in names if name == "set" else sorted(names):
        yield value, [row for row in rows if getattr(row.case, name) == value]
