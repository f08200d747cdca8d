"""QuixBugs: forty small programs with one defect each, from a folder that BENCH_CORPUS names."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from stages.sandbox import Command, choose, needed_by
from tests.benchmarks.cases import Case
from tests.benchmarks.mutants import shown
from tests.benchmarks.packages import check_of, checks, laid
from tests.benchmarks.pipeline import ticket_text

CANDIDATE_RUNS: Final = 1_000
SEED: Final = 11
_SCRIPT: Final = Path(__file__).with_name("further_inputs.py")
_SECONDS_AT_MOST: Final = 120.0
_SHARED: Final = ("python_testcases/load_testdata.py", "python_testcases/node.py", "python_programs/node.py")


def folder(environment: Mapping[str, str]) -> Path | str:
    """Where QuixBugs lies; else why it cannot be measured."""
    named = environment.get("BENCH_CORPUS")
    if not named:
        return "BENCH_CORPUS names no folder with a copy of QuixBugs in it"
    home = Path(named).absolute() / "QuixBugs"
    return home if (home / "python_programs").is_dir() else f"{home} holds no copy of QuixBugs"


def cases(home: Path, *, only: Sequence[str] = ()) -> Iterator[Case]:
    """One repository for each program: its text, its tests and their data, and nothing of the repaired version."""
    runner = checks()
    for test in sorted(home.glob("python_testcases/test_*.py")):
        name = test.stem.removeprefix("test_")
        if only and name not in only:
            continue
        files = _files(home, name)
        check = check_of(files)
        assert check is not None
        with tempfile.TemporaryDirectory() as tree:
            found = shown(runner, check, laid(files, Path(tree) / "tree"))
        if found is None:
            raise SystemExit(f"no test of {name} fails")
        path = f"python_programs/{name}.py"
        reference = (home / "correct_python_programs" / f"{name}.py").read_text("utf-8")
        yield Case(
            set="QuixBugs",
            name=name,
            kind="QuixBugs",
            files=files,
            ticket=ticket_text(*found),
            references={path: reference},
            same=partial(_same, home, name, path, reference),
            candidate_runs=CANDIDATE_RUNS,
        )


def _files(home: Path, name: str) -> dict[str, bytes]:
    wanted = (f"python_programs/{name}.py", f"python_testcases/test_{name}.py", f"json_testcases/{name}.json", *_SHARED)
    files = {path: (home / path).read_bytes() for path in wanted if (home / path).is_file()}
    # Its own settings file, reduced to what the tests ask for.
    return {**files, "conftest.py": b"import pytest\n\npytest.use_correct = False\npytest.run_slow = False\n"}


def _same(home: Path, name: str, path: str, reference: str, patched: Mapping[str, str]) -> bool | None:
    if set(patched) != {path}:
        return None
    data = home / "json_testcases" / f"{name}.json"
    lines = data.read_text("utf-8").splitlines() if data.is_file() else []
    inputs = [json.loads(line)[0] for line in lines if line.strip()]
    return compared(
        name=name,
        reference=reference,
        patched=patched[path],
        node=(home / "python_programs" / "node.py").read_text("utf-8"),
        inputs=[one if isinstance(one, list) else [one] for one in inputs],
    )


def compared(**asked: Any) -> bool | None:
    """Whether a patched program does what its reference does, on inputs made of those of its tests, in the sandbox.

    `asked` is what the script asks for. None when the reference answers none of them, and when it cannot be run.
    """
    python = Path(sys.executable)
    with tempfile.TemporaryDirectory() as tree:
        ran = choose("auto", trusted=False).run(
            Command(
                arguments=(str(python), "-s", "-P", "-B", str(_SCRIPT)),
                tree=Path(tree),
                readable=(*needed_by(python), _SCRIPT),
                stdin=json.dumps({**asked, "seed": SEED}).encode(),
                timeout_seconds=_SECONDS_AT_MOST,
            )
        )
    if ran.exit_status != 0:
        return None
    found = json.loads(ran.output)
    return found["different"] == 0 if found["answered"] else None
