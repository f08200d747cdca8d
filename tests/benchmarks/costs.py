"""What the program costs: start, memory, recall, and a run without its model's and its tests' own time.

`python -m tests.benchmarks.costs [--json]`. Every figure is a ratio to something measured in the same run, or says its
unit; medians of several rounds, taken in turn, so that a machine that changes its speed changes both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bot.markers.listening import by_model
from bot.markers.probe import follow, prepare
from bot.markers.ways import Recording, provider
from stages.sandbox import Command, choose, needed_by

ROUNDS: Final = 7
_KIB: Final = 1024


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure, with the limit that was asked for; None where there is none."""

    what: str
    value: float
    unit: str
    at_most: float | None = None

    @property
    def told(self) -> str:
        limit = "" if self.at_most is None else f"  (at most {self.at_most:g})"
        return f"{self.what:<62} {self.value:>9.2f} {self.unit}{limit}"


def run(arguments: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak MiB of one process, by the operating system's own account."""
    began = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / _KIB


def start() -> list[Figure]:
    """`ticketsmith --help` and `runs list` against an interpreter that does nothing."""
    code = "import sys; from bot.cli import ticketsmith; ticketsmith(sys.argv[1:], prog_name='ticketsmith')"
    with tempfile.TemporaryDirectory() as home:
        os.environ["TICKETSMITH_HOME"] = home
        bare, helps, lists = [], [], []
        for _ in range(ROUNDS):
            bare.append(run([sys.executable, "-c", "pass"]))
            helps.append(run([sys.executable, "-c", code, "--help"]))
            lists.append(run([sys.executable, "-c", code, "runs", "list"]))
        del os.environ["TICKETSMITH_HOME"]
    seconds = statistics.median(one[0] for one in bare)
    return [
        Figure(
            what="ticketsmith --help against a bare interpreter",
            value=statistics.median(one[0] for one in helps) / seconds,
            unit="times",
            at_most=12,
        ),
        Figure(
            what="ticketsmith runs list against a bare interpreter",
            value=statistics.median(one[0] for one in lists) / seconds,
            unit="times",
        ),
        Figure(
            what="peak memory of runs list (no model is called)",
            value=statistics.median(one[1] for one in lists),
            unit="MiB",
            at_most=150,
        ),
    ]


def litellm_import() -> Figure:
    code = "import os; os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'; import litellm"
    seconds = statistics.median(run([sys.executable, "-c", code])[0] for _ in range(3))
    return Figure(what="importing litellm, once in a process that calls a model", value=seconds, unit="s")


def overhead() -> list[Figure]:
    """A run through all eight entry points, held once and verified, with a model that takes no time.

    Without what its checks took; its home, its repository and what memory knows are there before it begins.
    """
    spent, checked = [], []
    for round_ in range(ROUNDS + 1):
        with tempfile.TemporaryDirectory() as folder, _counted() as seconds:
            recording = Recording()
            app, repository = prepare([by_model(recording, provider(recording))], known=True, folder=Path(folder))
            began = time.perf_counter()
            follow(app, repository)
            if round_:  # the first one imports litellm
                spent.append(time.perf_counter() - began - sum(seconds))
                checked.append(sum(seconds))
    return [
        Figure(
            what="a run and its verification, without litellm's import and its checks",
            value=statistics.median(spent),
            unit="s",
            at_most=1,
        ),
        Figure(what="the checks of that run, in the sandbox", value=statistics.median(checked), unit="s"),
    ]


def memory() -> list[Figure]:
    """Peaks of the processes of one run: the program with the embedded model, and the tests in the sandbox."""
    code = "import sys; from bot.cli import ticketsmith; ticketsmith(sys.argv[1:], prog_name='ticketsmith')"
    with tempfile.TemporaryDirectory() as home:
        os.environ["TICKETSMITH_HOME"] = home
        _, program = run([sys.executable, "-c", code, "demo"])
        del os.environ["TICKETSMITH_HOME"]
        repository = next(Path(home).glob("demo/*/till"))
        # The kernel of the sandbox tells nobody outside: the tests' own parent asks, inside.
        inside = "import resource, subprocess, sys; subprocess.run([sys.executable, '-m', 'pytest', '-q'], stdout=2)"
        asked = f"{inside}; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        python = Path(sys.executable)
        ran = choose("auto", trusted=True).run(
            Command(arguments=(str(python), "-s", "-P", "-B", "-c", asked), tree=repository, readable=needed_by(python))
        )
    tests = int(ran.output.split()[-1]) / _KIB
    return [
        Figure(
            what="peak memory of a run with the embedded model, litellm and libcst included", value=program, unit="MiB"
        ),
        Figure(what="peak memory of its tests in the sandbox", value=tests, unit="MiB"),
    ]


class _counted:  # noqa: N801 - reads as a statement
    """Counts the seconds that sandboxed commands take while it is open."""

    def __enter__(self) -> list[float]:
        from stages.sandbox import Ran, Sandbox

        self._original = Sandbox.run
        seconds: list[float] = []
        original = self._original

        def counting(sandbox: Sandbox, command: Command, *, stopped: Callable[[], bool] = lambda: False) -> Ran:
            began = time.perf_counter()
            try:
                return original(sandbox, command, stopped=stopped)
            finally:
                seconds.append(time.perf_counter() - began)

        Sandbox.run = counting  # type: ignore[method-assign,misc,assignment]
        return seconds

    def __exit__(self, *_: object) -> None:
        from stages.sandbox import Sandbox

        Sandbox.run = self._original  # type: ignore[method-assign,misc]


def figures() -> list[Figure]:
    return [*start(), litellm_import(), *overhead(), *memory()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    found = figures()
    if parser.parse_args().json:
        print(json.dumps([asdict(figure) for figure in found], indent=2))
        return
    for figure in found:
        print(figure.told)


if __name__ == "__main__":
    main()
