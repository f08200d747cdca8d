"""What a lesson is worth: `python -m tests.benchmarks.lessons_effect [--set SET] [--pairs N] [--json]`.

Mutants, or the tuning half of what `carried` draws, are repaired as in `repairs` until some had a first attempt that
the gate held. Then the same failure is
reported once more: the first patch was merged and verified, and the failure is still there on a maintenance branch.
Once it is reported to the program as the first run left it, once to a copy that differs in one thing: no lesson is
eligible. What counts is how many tool calls the second run takes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from bot.app import App
from bot.stores import Stores
from memory.calibration import Calibration
from memory.index import FtsSearch
from memory.recall import Recall, Shelf
from memory.types import Chunk, Eligible, MemoryQuery, MemoryVersion
from stages.git import Git
from tests.benchmarks import carried, mutants
from tests.benchmarks.cases import CANDIDATE_RUNS, Case
from tests.benchmarks.pipeline import Worked, app, merge, repository, work
from tests.benchmarks.repairs import corpus_folder, work_in

AT_MOST: Final = 0.5
OLD: Final = "1.x"
"""A maintenance branch, where the failure is still there after it was repaired on the main one."""
DEFECTS: Final = 12
PAIRS: Final = 3


class _Forgetful:
    """A memory whose lessons are never eligible."""

    def __init__(self, memory: Shelf) -> None:
        self._memory = memory

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Eligible:
        return Eligible()

    def tuning(self, version: MemoryVersion) -> Sequence[str]:
        return self._memory.tuning(version)

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        return self._memory.chunks(version)

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        return self._memory.calibration(version)


class Withheld(App):
    """The program without lessons in its prompts, and nothing else changed."""

    @cached_property
    def stores(self) -> Stores:
        usual = super().stores
        search = FtsSearch(self.settings.home / "index")
        return replace(usual, recall=Recall(_Forgetful(usual.memory), search, scrub=self.scrubber.scrub))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A defect whose first attempt was held: the second run with the lessons of the first one, and without."""

    case: Case
    first: Worked
    told: Worked
    untold: Worked

    @property
    def ratio(self) -> float:
        return self.told.tools / self.untold.tools

    def as_json(self) -> dict[str, Any]:
        runs = {"first": self.first, "with_lesson": self.told, "withheld": self.untold}
        return {"name": self.case.name, "ratio": round(self.ratio, 3)} | {
            name: run.as_json() for name, run in runs.items()
        }


def pair(case: Case, folder: Path) -> Pair | None:
    """None where the first run had no attempt that was held: then there is nothing to learn of it."""
    shutil.rmtree(folder, ignore_errors=True)
    made = repository(folder / "repository", case.files)
    Git(folder=made).run("branch", OLD)
    tickets = [folder / name for name in ("first.md", "second.md")]
    for ticket in tickets:
        ticket.write_text(case.ticket, "utf-8")
    program = app(folder / "home", candidate_runs=CANDIDATE_RUNS)
    first = work(program, made, tickets[0])
    if not first.holds:
        return None
    if first.repaired:
        merge(program, made, first.run)
    program.book.engine.dispose()
    shutil.copytree(folder / "home", folder / "without")
    told = work(app(folder / "home", candidate_runs=CANDIDATE_RUNS), made, tickets[1], OLD)
    plain = app(folder / "without", candidate_runs=CANDIDATE_RUNS)
    untold = work(Withheld(plain.settings, plain.choices), made, tickets[1], OLD)
    return Pair(case=case, first=first, told=told, untold=untold)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line for each pair, and the median of the ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.lessons_effect", description=__doc__)
    parser.add_argument("--set", choices=("mutants", "carried"), default="mutants")
    parser.add_argument("--defects", type=int, default=DEFECTS, help="defects to look for held attempts in")
    parser.add_argument("--only", nargs="*", default=(), help="programs of HumanEvalPack")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs that are enough")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    console = Console(width=140, stderr=given.json)
    with corpus_folder() as folder:
        pairs = list(islice(_pairs(folder, given, console), given.pairs))
    ratios = [one.ratio for one in pairs]
    median = round(statistics.median(ratios), 3) if ratios else None
    console.print(f"median of {len(ratios)} pairs: {median} of the tool calls (at most {AT_MOST})")
    if given.json:
        rows = [one.as_json() for one in pairs]
        print(json.dumps({"pairs": len(pairs), "median_ratio": median, "at_most": AT_MOST, "rows": rows}, indent=1))
    return 0


def _pairs(folder: Path, given: argparse.Namespace, console: Console) -> Iterator[Pair]:
    for one in islice(_cases(folder, given), given.skip, given.skip + given.defects):
        found = pair(one, work_in(folder))
        if found is None:
            console.print(f"not held: {one.name}", highlight=False)
            continue
        calls = f"{found.told.tools} tool calls with the lesson, {found.untold.tools} without"
        console.print(f"{found.ratio:.2f}  {calls}, {found.first.tools} the first time  {one.name}", highlight=False)
        yield found


def _cases(folder: Path, given: argparse.Namespace) -> Iterator[Case]:
    if given.set == "mutants":
        yield from (one.case for one in mutants.Corpus(folder).mutants())
        return
    found = carried.file({"BENCH_CORPUS": str(folder)})
    if isinstance(found, str):
        raise SystemExit(f"skipped: {found}")
    yield from carried.cases(found, half="tuning", only=given.only)


if __name__ == "__main__":
    sys.exit(main())
