"""What the embedded model repairs: `python -m tests.benchmarks.repairs [--sets SET …] [--half HALF] [--json]`.

Each defect goes through the whole program, as `ticketsmith fix TICKET --model offline/repair` does it: a repository
with the defect committed, a ticket with what the failing test says, runner, sandbox, gate. A patch that the gate passes
is then compared with the text without the defect, which the program never sees.

Archives, the mutation library, QuixBugs and HumanEvalPack are looked for in the folder that BENCH_CORPUS names; see
CONTRIBUTING.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from rich.console import Console

from tests.benchmarks import carried, mutants, quixbugs
from tests.benchmarks.cases import Case, Row, tried
from tests.benchmarks.repair_tables import show, summary

DEFECTS: Final = 12
"""Mutants, and as many programs of HumanEvalPack, that `make bench` tries. The written figures are of more."""

SETS: Final = ("mutants", "quixbugs", "carried")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; 0 when everything that was asked for ran."""
    given = _options(arguments)
    console = Console(width=140, stderr=given.json)
    rows: list[Row] = []
    with corpus_folder() as folder:
        work = work_in(folder)
        for case in _cases(given, folder, console):
            row = tried(case, work)
            rows.append(row)
            console.print(f"{len(rows):>4} {row.line}", highlight=False)
            if given.rows:
                given.rows.write_text(json.dumps([one.as_json() for one in rows], indent=1), "utf-8")
    show(rows, console)
    if given.json:
        print(json.dumps({**summary(rows), "rows": [row.as_json() for row in rows]}, indent=1))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.repairs", description=__doc__)
    parser.add_argument("--defects", type=int, default=DEFECTS, help="mutants to try")
    parser.add_argument("--half", choices=("tuning", "held-back", "both"), default="held-back")
    parser.add_argument(
        "--skip", type=int, default=0, help="mutants, and programs of HumanEvalPack, to leave out before the first one"
    )
    parser.add_argument(
        "--carried", type=int, default=DEFECTS, help="defects of HumanEvalPack to try: at most 69 in a half"
    )
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS)
    parser.add_argument("--only", nargs="*", default=(), help="programs of QuixBugs and of HumanEvalPack")
    parser.add_argument("--rows", type=Path, help="write what became of each defect to this file, one by one")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def _cases(given: argparse.Namespace, folder: Path, console: Console) -> Iterator[Case]:
    if "mutants" in given.sets and given.defects:
        corpus = mutants.Corpus(folder)
        wanted = (one for one in corpus.mutants() if given.half == "both" or one.held_back == (given.half != "tuning"))
        for one in islice(wanted, given.skip, given.skip + given.defects):
            yield one.case
        console.print(f"{corpus.drawn.caught} of {corpus.drawn.defects} defects that were drawn are caught by a test")
    if "quixbugs" in given.sets:
        home = quixbugs.folder(os.environ)
        if isinstance(home, str):
            console.print(f"skipped: {home}")
        else:
            yield from quixbugs.cases(home, only=given.only)
    if "carried" in given.sets:
        found = carried.file(os.environ)
        if isinstance(found, str):
            console.print(f"skipped: {found}")
        else:
            carried_over = carried.cases(found, half=given.half, only=given.only)
            yield from islice(carried_over, given.skip, given.skip + given.carried)


def work_in(folder: Path) -> Path:
    """Where this process works: several may measure at once with the archives of one folder."""
    return folder / f"work-{os.getpid()}"


@contextmanager
def corpus_folder() -> Iterator[Path]:
    """The folder of archives and environments: the one that is named, else one for as long as this runs."""
    named = os.environ.get("BENCH_CORPUS")
    if named:
        given = Path(named).absolute()
        try:
            yield given
        finally:
            shutil.rmtree(work_in(given), ignore_errors=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
