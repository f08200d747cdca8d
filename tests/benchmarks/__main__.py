"""All benchmarks, one after the other: `python -m tests.benchmarks [NAME …] [--json FILE]`, or `make bench`.

Each is a module of its own with options of its own; see its `--help`. With `--json` their figures go into one file,
and are shown as one list.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

BENCHMARKS: Final = (
    "costs",
    "recall_costs",
    "signatures",
    "engines",
    "freshness",
    "retrieval",
    "webhooks",
    "walls",
    "repairs",
    "search_alone",
    "lessons_effect",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all that were named ran to their end."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    given = parser.parse_args(arguments)
    if unknown := sorted(set(given.names) - set(BENCHMARKS)):
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    failed, found = 0, dict[str, Any]()
    for name in given.names or BENCHMARKS:
        print(f"\n=== {name}", flush=True)
        command = [sys.executable, "-m", f"tests.benchmarks.{name}"]
        if given.json is None:
            failed |= subprocess.run(command, check=False).returncode
            continue
        done = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, text=True, check=False)
        failed |= done.returncode
        found[name] = read(done.stdout)
        given.json.write_text(json.dumps(found, indent=1), "utf-8")
        show(name, found[name])
    return failed


def read(printed: str) -> Any:
    """What a benchmark printed as JSON; the text itself where it is none, as that of a benchmark that was skipped."""
    try:
        return json.loads(printed)
    except ValueError:
        return printed.strip()


def show(name: str, figures: Any) -> None:
    """One line for each figure."""
    table = Table(title=name, show_header=False)
    for path, value in flat(figures):
        table.add_row(path, f"{value:g}" if isinstance(value, float) else str(value))
    Console().print(table)


def flat(figures: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Figures by the way to them; `rows` are details that only the file holds."""
    match figures:
        case dict():
            for key, value in figures.items():
                if key != "rows":
                    yield from flat(value, f"{path} · {key}" if path else str(key))
        case list() if any(isinstance(one, dict | list) for one in figures):
            for number, value in enumerate(figures, 1):
                yield from flat(value, f"{path} {number}")
        case _:
            yield path, figures


if __name__ == "__main__":
    sys.exit(main())
