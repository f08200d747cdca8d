"""What a repair must turn green, and what the base shows before any change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stages.agents.embedded import Call
from stages.offline.account import frames
from stages.offline.body import Body
from stages.offline.paths import is_test_file
from stages.offline.results import Hits, Seen
from stages.offline.steps import Steps, run, runs

LOOK_SECONDS: Final = 0.5
"""What a test may take where its lines are watched; one that takes long at the base has more."""
FILES_AT_MOST: Final = 12
"""Files that are read for one repair: those that the failing test runs."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """`tests` are the reproduction and what an earlier patch broke; no edit is handed in before all of them pass.

    `others` are further tests that were red before any change and seem to have the same cause: an edit that turns them
    green too is better. `with_files` runs the whole files of `tests`, for what earlier tests leave behind. After a hold
    the whole check has the last word, and only tests in `red` may fail there.
    """

    check: str
    tests: tuple[str, ...]
    others: tuple[str, ...] = ()
    with_files: bool = False
    red: frozenset[str] = frozenset()
    after_hold: bool = False

    @property
    def names(self) -> str:
        return ", ".join(self.tests) or self.check

    def run(self, *, coverage: bool = False, seconds: float = 0) -> Call:
        """A run of the tests; of the whole check where it has none."""
        return run(
            self.check,
            self.tests,
            with_files=self.with_files,
            coverage=coverage,
            stop_at_first=not (coverage or self.with_files),
            seconds=seconds,
        )


def job_of(body: Body, broken: Sequence[str], others: Sequence[str] = ()) -> Job:
    """The job of a prompt; `broken` are tests that an earlier patch broke."""
    wanted = [test for test in dict.fromkeys(broken) if test != body.test and "::" in test]
    tests = (body.test, *wanted) if body.test else ()
    return Job(
        check=body.check,
        tests=tests,
        others=tuple(test for test in others if test not in tests),
        with_files=body.with_file,
        red=frozenset(body.red),
        after_hold=bool(body.held_edits or body.held_tests),
    )


@dataclass(frozen=True, kw_only=True)
class Base:
    """What the reproduction and the whole check showed before any change.

    `tests` is how many tests the first run had, `failed` are the accounts of those that failed in it, `related` are
    other failing tests that may have the same cause.
    """

    tests: int = 0
    failed: Mapping[str, str]
    hits: Mapping[str, Hits]
    account: str = ""
    related: tuple[str, ...] = ()

    @property
    def red_lines(self) -> dict[str, frozenset[int]]:
        """The lines that the reproduction runs, by file."""
        return {path: frozenset(line for line, hit in lines.items() if hit[0]) for path, lines in self.hits.items()}

    def files(self, named: Sequence[str]) -> list[str]:
        """Python files to repair: those that the reproduction runs, those that the diagnosis names first."""
        ran = [path for path, lines in self.red_lines.items() if lines]
        first = [path for path in named if path in ran]
        wanted = dict.fromkeys((*first, *ran)) if ran else dict.fromkeys(named)
        return [path for path in wanted if path.endswith(".py") and not is_test_file(path)][:FILES_AT_MOST]


def look(body: Body, job: Job, undo: Sequence[Call]) -> Steps[Base]:
    """Run the tests with coverage, and the whole check once for what other tests run."""
    whole = (run(job.check, coverage=True, seconds=LOOK_SECONDS),) if body.test else ()
    first_run = job.run(coverage=True, seconds=LOOK_SECONDS)
    found = [one for one in (yield from runs(*undo, first_run, *whole)) if one is not None]
    if not found:
        return Base(failed={}, hits={})
    first, every = found[0], found[1] if len(found) > 1 and found[1].whole else None
    return Base(
        tests=first.tests,
        failed=first.failed,
        hits=_joined(first.hits, every.hits) if every else first.hits,
        account="\n".join(first.failed.values()) or first.output,
        related=_related(body, first, every) if every else (),
    )


def _joined(mine: Mapping[str, Hits], every: Mapping[str, Hits]) -> dict[str, Hits]:
    """Lines of the files that the reproduction runs: passed as in the whole check; failed only where it ran them, as
    often as any failing test did."""
    nothing = (0, 0)
    joined: dict[str, Hits] = {}
    for path, lines in mine.items():
        others = every.get(path, {})
        joined[path] = {
            line: _hit(lines.get(line, nothing), others.get(line, nothing)) for line in sorted({*lines, *others})
        }
    return joined


def _hit(mine: tuple[int, int], every: tuple[int, int]) -> tuple[int, int]:
    return (max(mine[0], every[0]) if mine[0] else 0, max(mine[1], every[1]))


def _related(body: Body, first: Seen, every: Seen) -> tuple[str, ...]:
    """Failing tests of the same file, and those whose failure went through the same lines."""
    path = body.test.partition("::")[0]
    places = {place for place in frames("\n".join(first.failed.values())) if not is_test_file(place[0])}
    return tuple(
        test
        for test, account in every.failed.items()
        if test != body.test and "::" in test and (test.startswith(f"{path}::") or places & set(frames(account)))
    )
