"""What it costs to know that notes did not change, and to take in one that did.

`python -m tests.benchmarks.freshness [--notes 10000] [--json]`. A repository with so many notes is published once; then
what a run does first is measured: CPU milliseconds of this process and of git together, medians of rounds in turn with
a bare walk that asks the file system about each file.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.repository_config import RepositoryConfig
from bot.sources import default_commit, fresh
from memory.authorship import KEY_BYTES, Authorship
from memory.database import open_database, upgrade_memory
from memory.scrub import Scrubber
from memory.store import MemoryStore
from memory.types import Scope
from stages.repository import Repository
from tests.benchmarks.engine_notes import notes_of

NOTES: Final = 10_000
ROUNDS: Final = 15
LIMIT_MS: Final = 20.0
RATIO: Final = 2.0
_AT: Final = datetime(2026, 11, 3, tzinfo=UTC)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when the check keeps within its limits."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.freshness", description=__doc__)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.notes, given.rounds)
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):<46} {value:>10.2f}")
    return 0 if figures["unchanged_ms"] < LIMIT_MS and figures["unchanged_to_walk"] <= RATIO else 1


def measure(folder: Path, notes: int, rounds: int) -> dict[str, float]:
    """Medians, and how the check compares with the walk."""
    repository = _repository(folder / "shop", notes)
    memory = _memory(folder / "memory.sqlite")
    config, scope = RepositoryConfig(), Scope(installation="benchmark", repository=repository.id)

    def check() -> None:
        fresh(memory, scope, repository, default_commit(repository), config, _AT)

    first = _cpu_ms(check)
    taken: dict[str, list[float]] = {"unchanged": [], "walk": []}
    for _ in range(rounds):
        taken["walk"].append(_cpu_ms(lambda: _walk(repository.folder / config.notes)))
        taken["unchanged"].append(_cpu_ms(check))
    (repository.folder / config.notes / "n000001.md").write_text("# Another\n\nAnother text.\n")
    _git(repository.folder, "commit", "-qam", "change one")
    unchanged, walk = (statistics.median(taken[name]) for name in ("unchanged", "walk"))
    return {
        "notes": notes,
        "first_ms": round(first, 1),
        "unchanged_ms": round(unchanged, 2),
        "walk_ms": round(walk, 2),
        "unchanged_to_walk": round(unchanged / walk, 2),
        "one_changed_ms": round(_cpu_ms(check), 1),
    }


def _repository(folder: Path, notes: int) -> Repository:
    at = folder / RepositoryConfig().notes
    at.mkdir(parents=True)
    for note in notes_of(notes):
        (at / note.path).write_text(note.text, encoding="utf-8")
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "notes")
    return Repository.open(folder)


def _git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True)


def _memory(file: Path) -> MemoryStore:
    engine = open_database(file)
    upgrade_memory(engine)
    return MemoryStore(engine, Scrubber(("a-secret-of-the-benchmark",)), Authorship(bytes(KEY_BYTES)))


def _walk(folder: Path) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_size for entry in entries)


def _cpu_ms(work: Callable[[], object]) -> float:
    begun = _used()
    work()
    return (_used() - begun) * 1000


def _used() -> float:
    """CPU seconds of this process and of those it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    sys.exit(main())
