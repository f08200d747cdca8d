"""The search without the program around it: `python -m tests.benchmarks.search_alone [--half HALF] [--json]`.

The same defects as `repairs --sets carried`, in a tree in memory that answers as the tools do (the playground of the
tests): all of a half in minutes, where the whole program takes hours. No sandbox, no git, no pytest; the gate is that
all tests pass. What a candidate may run is counted in lines, so that a busy machine changes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Final

from rich.console import Console

from stages.patch import edit_digest
from tests.benchmarks import carried
from tests.benchmarks.cases import program
from tests.benchmarks.intervals import Share
from tests.benchmarks.pipeline import ticket_text
from tests.benchmarks.repair_tables import spread
from tests.stages.offline.playground import STEPS_AT_MOST, OutOfSteps, Played, Playground, Ran, play
from tests.stages.offline.scenes import SECTION

ATTEMPTS: Final = 3
_TIMES_LONGER: Final = 50  # than in the tests of the search, whose programs are tiny
_SECONDS_AT_MOST: Final = 5.0  # of CPU, for one test: one line may hold a loop without end
_CPU_SECONDS_AT_MOST: Final = 180  # for one defect


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the search made of a defect; `right` is None where nothing was found, and where it could not be told."""

    name: str
    kind: str
    green: bool = False
    right: bool | None = None
    candidate_runs: int = 0
    attempts: int = 0


class _Ground(Playground):
    def run_test(self, test: str, at_most: int = STEPS_AT_MOST) -> Ran:
        with _ended_after(_SECONDS_AT_MOST):
            return super().run_test(test, at_most * _TIMES_LONGER)

    @property
    def red(self) -> list[str]:
        return [test for test in self.tests() if self.run_test(test).error is not None]


def searched(defect: carried.Defect) -> Found:
    """Develop, and refix while tests are red, as the program does."""
    files = {path: data.decode() for path, data in defect.files.items() if data}
    base = _Ground(dict(files))
    red = base.red
    ticket = ticket_text(red[0], base.run_test(red[0]).account)
    runs, held = 0, ""
    for attempt in range(1, ATTEMPTS + 1):
        ground = _Ground(dict(files))
        played = play(_prompt(ticket, red, held), ground, candidate_runs=carried.CANDIDATE_RUNS)
        runs += ground.candidate_runs
        left = ground.red
        if not left or ground.files == files:
            break
        held = _held(defect, played, left, attempt)
    green, patched = not left and runs <= carried.CANDIDATE_RUNS, ground.files[defect.path]
    right = defect.same({defect.path: patched}) if green else None
    if green and program(patched) == program(defect.repaired):
        right = True
    return Found(name=defect.name, kind=defect.kind, green=green, right=right, candidate_runs=runs, attempts=attempt)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each defect of the tuning half, and figures for either."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.search_alone", description=__doc__)
    parser.add_argument("--half", choices=("tuning", "held-back"), default="held-back")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    console = Console(width=140, stderr=given.json)
    path = carried.file(os.environ)
    if isinstance(path, str):
        console.print(f"skipped: {path}")
        return 0
    wanted = [one for one in carried.defects(path) if one.held_back == (given.half == "held-back")]
    rows: list[Found] = []
    for defect in wanted:
        rows.append(_apart(defect))
        if given.half == "tuning":
            console.print(rows[-1], highlight=False)
    figures = _figures(rows)
    console.print(given.half, figures)
    if given.json:
        print(json.dumps({given.half: figures}, indent=1))
    return 0


def _figures(rows: Sequence[Found]) -> dict[str, object]:
    green = [row.candidate_runs for row in rows if row.green]
    return {
        "green": Share(hits=len(green), of=len(rows)).as_json(),
        "right": Share(hits=sum(row.right is True for row in rows), of=len(rows)).as_json(),
        "wrong": sum(row.right is False for row in rows),
        "candidate_runs_median_p90_max": spread(green) if green else None,
    }


def _apart(defect: carried.Defect) -> Found:
    """In a process of its own: a candidate may do anything to the one that it runs in."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS_AT_MOST, _CPU_SECONDS_AT_MOST))
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        warnings.simplefilter("ignore")
        os.write(writing, json.dumps(asdict(searched(defect))).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        said = told.read()
    os.waitpid(child, 0)
    return Found(**json.loads(said)) if said else Found(name=defect.name, kind=defect.kind)


@contextmanager
def _ended_after(seconds: float) -> Iterator[None]:
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _late(_number: int, _frame: object) -> None:
    raise OutOfSteps


def _prompt(ticket: str, red: Sequence[str], held: str) -> str:
    title = "Refix" if held else "Develop"
    section = SECTION.format(count="0 of 0", lessons="")
    blocks = [
        f"{section}# {title}: do it.",
        f"Ticket:\n{_quoted(ticket.splitlines())}",
        "Checks: pytest",
        f"Reproduction: check pytest, test {red[0]}",
        f"Red before any change:\n{_quoted(red)}",
        held,
    ]
    return "\n\n".join(blocks)


def _held(defect: carried.Defect, played: Played, red: Sequence[str], attempt: int) -> str:
    before, after = defect.broken.split("\n"), played.ground.files[defect.path].split("\n")
    edits: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            lines = [*(f"-{line}" for line in before[i1:i2]), *(f"+{line}" for line in after[j1:j2])]
            edits.append(f"edit {defect.path}:{i1 + 1} #{edit_digest(lines)}")
    told = [*(f"failed {test}" for test in red), *edits]
    return f"Held: at the gate, attempt {attempt}, cause check\n{_quoted(told)}"


def _quoted(lines: Sequence[str]) -> str:
    return "\n".join(f"| {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
