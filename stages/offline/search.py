"""The repair search: candidates by rank, each one edit and one run, until the reproduction is green."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stages.offline.account import hints, traceback_lines
from stages.offline.body import Body
from stages.offline.candidate import Candidate, Change
from stages.offline.conversation import ToolCall, call
from stages.offline.lessons import Taught, taught
from stages.offline.paths import is_test_file
from stages.offline.ranking import Suspicion, ranked
from stages.offline.results import Hits, Seen, refused, seen
from stages.offline.steps import Steps, programs, read_files, run, runs

FILES_AT_MOST: Final = 12
"""Files that are read for one repair: those that the failing test runs."""


_NEAR_LINES: Final = 60


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a repair must turn green: the reproduction, and what an earlier patch broke."""

    check: str
    tests: tuple[str, ...]
    red: frozenset[str]  # what failed before any change
    whole_check: bool  # a patch was held before: run the whole check before handing in another one

    def run(self, *, coverage: bool = False) -> ToolCall:
        return run(self.check, self.tests, coverage=coverage, stop_at_first=not coverage)


@dataclass(kw_only=True)
class Attempt:
    """Where the search stands: what stands in the tree, how many candidates ran."""

    at_most: int
    applied: Change | None = None
    ran: int = 0

    @property
    def undo(self) -> tuple[ToolCall, ...]:
        return (_edit(self.applied.undone),) if self.applied else ()


def repair(body: Body, *, candidate_runs: int) -> Steps[None]:
    """Look for a single small edit that turns the reproduction green, and hand it in; else say so and hand in none."""
    lessons = taught(body)
    attempt = Attempt(at_most=candidate_runs)
    found = yield from _from_lessons(body, lessons, attempt)
    job = _job(body, body.held_tests, after_hold=_after_hold(body))
    if found is None:
        job, found = yield from _search(body, job, lessons, attempt)
    if found is not None:
        yield from _hand_in(_summary(found, job, attempt))
        return
    yield from _give_up(attempt, job)


def _job(body: Body, broken: Sequence[str], *, after_hold: bool) -> Job:
    """`broken` are tests that an earlier patch broke; they are run too, and must stay green."""
    wanted = [test for test in dict.fromkeys(broken) if test != body.test and "::" in test]
    tests = (body.test, *wanted) if body.test else ()
    return Job(check=body.check, tests=tests, red=frozenset(body.red), whole_check=after_hold)


def _after_hold(body: Body) -> bool:
    return bool(body.held_edits or body.held_tests)


def _held(body: Body) -> frozenset[str]:
    return frozenset(edit.digest for edit in body.held_edits)


def _from_lessons(body: Body, lessons: Taught, attempt: Attempt) -> Steps[Candidate | None]:
    """Try the edits that worked before, without looking at anything else first."""
    held = _held(body)
    if not lessons.worked - held:
        return None
    texts = yield from read_files([path for path in lessons.places if not is_test_file(path)])
    sources = programs(texts, hints(body.ticket), {path: _around(lines) for path, lines in lessons.places.items()})
    job = _job(body, body.held_tests, after_hold=_after_hold(body))
    known = [one for one in ranked(sources, Suspicion(sources, {})) if _among(one, lessons.worked - held)]
    return (yield from _try_all(_distinct(known), job, attempt))


def _search(body: Body, job: Job, lessons: Taught, attempt: Attempt) -> Steps[tuple[Job, Candidate | None]]:
    guarded = _job(body, (*body.held_tests, *lessons.broken), after_hold=job.whole_check)
    base = yield from _look(body, guarded, attempt)
    if base.tests >= len(guarded.tests):
        sound = [test for test in guarded.tests[1:] if test not in base.failed]
        job = _job(body, sound, after_hold=job.whole_check)
    elif guarded.tests != job.tests:
        base = yield from _look(body, job, attempt)
    texts = yield from read_files(_files(base.hits, body))
    sources = programs(texts, hints(body.ticket, base.account), _red_lines(base.hits))
    order = ranked(sources, Suspicion(sources, base.hits, traceback_lines(base.account, list(texts))))
    return job, (yield from _try_all(_in_turn(order, lessons, _held(body)), job, attempt))


@dataclass(frozen=True, kw_only=True)
class Base:
    """What the reproduction and the whole check showed before any change.

    `tests` is how many tests the first run had, `failed` are those that failed in it.
    """

    tests: int
    failed: frozenset[str]
    hits: dict[str, Hits]
    account: str


def _look(body: Body, job: Job, attempt: Attempt) -> Steps[Base]:
    """Run the reproduction with coverage, and the whole check once for what passing tests run."""
    calls = [*attempt.undo, job.run(coverage=True)]
    if body.test:
        calls.append(run(job.check, coverage=True))
    found = [one for one in (yield from runs(*calls)) if one is not None]
    attempt.applied = None
    if not found:
        return Base(tests=0, failed=frozenset(), hits={}, account="")
    first, hits = found[0], dict(found[0].hits)
    if len(found) > 1 and found[1].whole:
        hits = {path: _joined(lines, found[1].hits.get(path, {})) for path, lines in hits.items()}
    account = "\n".join(first.failed.values()) or first.output
    return Base(tests=first.tests, failed=frozenset(first.failed), hits=hits, account=account)


def _red_lines(hits: Mapping[str, Hits]) -> dict[str, frozenset[int]]:
    return {path: frozenset(line for line, hit in lines.items() if hit[0]) for path, lines in hits.items()}


def _around(lines: Iterable[int]) -> frozenset[int]:
    """These lines and their neighbourhood: a file may have grown above them since."""
    return frozenset(near for line in lines for near in range(line - _NEAR_LINES, line + _NEAR_LINES + 1))


def _joined(mine: Hits, all_tests: Hits) -> Hits:
    """Failed as the reproduction ran it, passed as the whole check did."""
    nothing = (0, 0)
    lines = {*mine, *all_tests}
    return {
        line: (mine.get(line, nothing)[0], max(mine.get(line, nothing)[1], all_tests.get(line, nothing)[1]))
        for line in sorted(lines)
    }


def _files(hits: dict[str, Hits], body: Body) -> list[str]:
    ran = [path for path, lines in hits.items() if path.endswith(".py") and any(hit[0] for hit in lines.values())]
    named = [path for path in body.files if path.endswith(".py")]
    wanted = [path for path in named if path in ran] + [path for path in ran if path not in named]
    return [path for path in wanted or named if not is_test_file(path)][:FILES_AT_MOST]


def _in_turn(order: Sequence[Candidate], lessons: Taught, held: frozenset[str]) -> Iterator[Candidate]:
    """What worked before, then by rank from where the held patch stood, then what a lesson says was held.

    Candidates that rank above a held one were tried before it by the same search, so they wait.
    """
    distinct = list(_distinct(order))
    first = [one for one in distinct if _among(one, lessons.worked)]
    last = [one for one in distinct if _among(one, lessons.held)]
    places = [place for place, one in enumerate(distinct) if _among(one, held)]
    start = max(places, default=-1) + 1
    turn = [*first, *distinct[start:], *distinct[:start]]
    waiting = {one.key for one in last}
    done: set[object] = set()
    for one in (*(one for one in turn if one.key not in waiting), *last):
        if one.key not in done and not _among(one, held):
            done.add(one.key)
            yield one


def _distinct(order: Sequence[Candidate]) -> Iterator[Candidate]:
    keys: set[object] = set()
    for one in order:
        if one.key not in keys:
            keys.add(one.key)
            yield one


def _among(one: Candidate, digests: frozenset[str]) -> bool:
    return bool(digests) and bool(one.digests) and digests.issuperset(one.digests)


def _try_all(order: Iterator[Candidate], job: Job, attempt: Attempt) -> Steps[Candidate | None]:
    for one in order:
        if attempt.ran >= attempt.at_most:
            return None
        if not one.works_as_python or (change := one.change) is None:
            continue
        results = yield (*attempt.undo, _edit(change), job.run())
        if attempt.undo and refused(results[0]):
            return None  # the tree is no longer what this search made of it
        if refused(results[-2]):
            attempt.applied = None
            continue
        attempt.applied, attempt.ran = change, attempt.ran + 1
        if _green(seen(results[-1])) and (yield from _holds_everywhere(job, attempt)):
            return one
    return None


def _holds_everywhere(job: Job, attempt: Attempt) -> Steps[bool]:
    """After a hold, the whole check has the last word: nothing may fail that passed before."""
    if not job.whole_check or not job.tests:
        return True
    attempt.ran += 1
    (found,) = yield from runs(run(job.check))
    if found is None:
        return True
    return found.whole and found.exit_status in (0, 1) and set(found.failed) <= job.red - set(job.tests)


def _green(found: Seen | None) -> bool:
    return found is not None and found.green


def _edit(change: Change) -> ToolCall:
    return call("edit", path=change.path, old=change.old, new=change.new)


def _summary(found: Candidate, job: Job, attempt: Attempt) -> str:
    what = ", ".join(job.tests) or job.check
    return (
        f"Changed {found.source.path}, line {found.line} ({found.template}). {what} failed before and "
        f"{'pass' if len(job.tests) > 1 else 'passes'} now. Found as candidate {attempt.ran} of a search for small "
        "edits: the tests agree with it, its meaning was not judged."
    )


def _give_up(attempt: Attempt, job: Job) -> Steps[None]:
    if attempt.applied is not None:
        yield attempt.undo
        attempt.applied = None
    what = job.tests[0] if job.tests else job.check
    yield from _hand_in(f"Not found: none of {attempt.ran} small edits that were tried turned {what} green.")


def _hand_in(summary: str) -> Steps[None]:
    while True:
        yield (call("finish", summary=summary),)
