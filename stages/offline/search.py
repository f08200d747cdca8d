"""The repair search: candidates by rank, each one edit and one run, until the reproduction is green."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from stages.agents.embedded import Call, call
from stages.offline.account import clues, hints, names_at_fault, traceback_lines
from stages.offline.behind import files_behind
from stages.offline.body import Body
from stages.offline.candidate import Candidate
from stages.offline.job import FILES_AT_MOST, Base, Job, job_of, look
from stages.offline.lessons import Taught, taught
from stages.offline.paths import is_test_file
from stages.offline.ranking import Suspicion, ranked
from stages.offline.results import Seen, refused, seen
from stages.offline.source import Focus
from stages.offline.steps import Steps, files_that_define, focused, programs, read_files, run, runs

_NEAR_LINES: Final = 60
"""How far from the line of a lesson its edit is looked for: the file may have grown above it since."""
_HURRY_SECONDS: Final = 1
"""What a test may take with a candidate; one that takes long at the base has more. Most that take longer never end."""
_LATE_AT_MOST: Final = 4
"""Candidates that have their whole time at the end: on a busy machine that may not be enough for a right one."""
_SAME: Final = 3
"""Lines between where a hunk of a diff begins and the first line that an edit changes, at most."""
_AGAIN_AT_LEAST: Final = 100
"""Candidates that an attempt after a hold may run, however many the one before it ran."""
_MORE_FOR_THE_REST: Final = 150
"""Candidates that are still tried for the other red tests, once the reproduction is green."""


@dataclass(frozen=True, kw_only=True)
class Fallback:
    """An edit that turned the reproduction green and left `left` of the other red tests red."""

    candidate: Candidate
    left: int
    at: int


@dataclass(kw_only=True)
class Attempt:
    """Where the search stands: what stands in the tree, how many candidates ran, what would do.

    `late` are those that did not end in a hurry: they have their time when all others have failed.
    """

    at_most: int
    applied: Candidate | None = None
    ran: int = 0
    fallback: Fallback | None = None
    late: list[Candidate] = field(default_factory=list)

    @property
    def undo(self) -> tuple[Call, ...]:
        return (_edit(self.applied, undo=True),) if self.applied else ()

    @property
    def late_turn(self) -> bool:
        """True when what is left of the runs is for those that did not end in a hurry."""
        return self.over or self.ran >= self.at_most - min(len(self.late), _LATE_AT_MOST)

    @property
    def over(self) -> bool:
        """True when enough was tried."""
        settled = self.fallback is not None and self.ran >= self.fallback.at + _MORE_FOR_THE_REST
        return settled or self.ran >= self.at_most

    def would_do(self, candidate: Candidate, left: int) -> None:
        """Keep the edit that leaves the fewest other tests red, the first among equals."""
        if self.fallback is None or left < self.fallback.left:
            first = self.fallback.at if self.fallback else self.ran
            self.fallback = Fallback(candidate=candidate, left=left, at=first)


def repair(body: Body, *, candidate_runs: int) -> Steps[None]:
    """Look for a single small edit that turns the reproduction green, and hand it in; else say so and hand in none."""
    lessons = taught(body)
    attempt = Attempt(at_most=candidate_runs)
    job = job_of(body, body.held_tests)
    found = yield from _from_lessons(body, job, lessons, attempt)
    if found is None:
        job, found = yield from _search(body, job, lessons, attempt)
    if found is not None:
        yield from _hand_in(_summary(found, job, attempt))
        return
    yield from _give_up(attempt, job)


def _held(body: Body) -> frozenset[str]:
    return frozenset(edit.digest for edit in body.held_edits)


def _from_lessons(body: Body, job: Job, lessons: Taught, attempt: Attempt) -> Steps[Candidate | None]:
    """Try the edits that worked before, without looking at anything else first."""
    wanted = lessons.worked - _held(body)
    if not wanted:
        return None
    texts = yield from read_files([path for path in lessons.places if not is_test_file(path)])
    sources = programs(
        texts, hints(body.ticket), {path: Focus(lines=_around(at)) for path, at in lessons.places.items()}
    )
    known = [one for one in ranked(sources, Suspicion(sources, {})) if _among(one, wanted)]
    return (yield from _try_all(_distinct(known), job, attempt))


def _around(lines: Iterable[int]) -> frozenset[int]:
    return frozenset(near for line in lines for near in range(line - _NEAR_LINES, line + _NEAR_LINES + 1))


def _search(body: Body, job: Job, lessons: Taught, attempt: Attempt) -> Steps[tuple[Job, Candidate | None]]:
    """Rank by what the base shows, and try. What a held patch broke only guards: the order stays that of its search."""
    shown = job_of(body, lessons.broken)
    base = yield from look(body, shown, attempt.undo)
    attempt.applied = None
    sound = [test for test in shown.tests[1:] if test not in base.failed]
    if base.tests < len(shown.tests):  # a test that a lesson names is gone
        base = yield from look(body, job_of(body, ()), ())
        sound = []
    guards = [test for test in body.held_tests if test not in body.red]
    job = job_of(body, (*guards, *sound), base.related)
    named = names_at_fault(base.account)
    paths = base.files(body.files) or (yield from _files_without_coverage(body, job, base, named))
    texts = yield from read_files(paths)
    sources = programs(texts, hints(body.ticket, base.account), focused(texts, base.red_lines))
    suspicion = Suspicion(sources, base.hits, traceback_lines(base.account, list(texts)), named)
    order = list(_distinct(ranked(sources, suspicion, clues(base.account))))
    start = next((place + 1 for place, one in enumerate(order) if _is_held(one, body)), 0)
    attempt.at_most = max(_AGAIN_AT_LEAST, attempt.at_most - start) if start else attempt.at_most
    return job, (yield from _try_all(_in_turn(order, start, lessons, body), job, attempt))


def _files_without_coverage(body: Body, job: Job, base: Base, named: Sequence[str]) -> Steps[list[str]]:
    """What fails before it runs any line of ours, or in a check that tells no lines, is looked for by its names."""
    define = yield from files_that_define(named)
    behind = (yield from files_behind(job.tests, f"{base.account}\n{body.ticket}")) if base.tests else []
    return list(dict.fromkeys((*define, *behind)))[:FILES_AT_MOST]


def _in_turn(order: Sequence[Candidate], start: int, lessons: Taught, body: Body) -> Iterator[Candidate]:
    """What worked before, then by rank from where the held patch stood, then what a lesson says was held.

    Candidates that rank above a held one were tried before it by the same search, so they wait.
    """
    first = [one for one in order if _among(one, lessons.worked)]
    last = [one for one in order if _among(one, lessons.held)]
    turn = [*first, *order[start:], *order[:start]]
    waiting = {one.key for one in last}
    done: set[object] = set()
    for one in (*(one for one in turn if one.key not in waiting), *last):
        if one.key not in done and not _is_held(one, body):
            done.add(one.key)
            yield one


def _is_held(one: Candidate, body: Body) -> bool:
    """True for the edit of a held patch itself: the same lines may stand at other places of the file."""
    near = [edit for edit in body.held_edits if edit.path == one.source.path and abs(edit.line - one.line) <= _SAME]
    return _among(one, frozenset(edit.digest for edit in near))


def _distinct(order: Sequence[Candidate]) -> Iterator[Candidate]:
    keys: set[object] = set()
    for one in order:
        if one.key not in keys:
            keys.add(one.key)
            yield one


def _among(one: Candidate, digests: frozenset[str]) -> bool:
    return bool(digests) and any(digests >= own for own in one.digests)


def _try_all(order: Iterator[Candidate], job: Job, attempt: Attempt) -> Steps[Candidate | None]:
    for one in order:
        if attempt.late_turn:
            break
        if not one.works_as_python or one.touches_tests or one.change is None:
            continue
        if (yield from _does(one, job, attempt, seconds=_HURRY_SECONDS)):
            return one
    for one in attempt.late[:_LATE_AT_MOST]:
        if not attempt.over and (yield from _does(one, job, attempt)):
            return one
    return (yield from _fall_back(attempt))


def _does(one: Candidate, job: Job, attempt: Attempt, *, seconds: float = 0) -> Steps[bool]:
    """Whether an edit is what is looked for; one that would do for want of a better one is kept."""
    found = yield from _try(one, job.run(seconds=seconds), attempt)
    if found is None:
        return False
    if not found.green:
        if seconds and found.hung:
            attempt.late.append(one)
        return False
    left = yield from _still_red(job, attempt)
    if left:
        attempt.would_do(one, left)
    return left == 0


def _try(one: Candidate, asked: Call, attempt: Attempt) -> Steps[Seen | None]:
    """Put an edit into the tree in the place of the last one, and run. None when the edit was refused."""
    results = yield (*attempt.undo, _edit(one), asked)
    if attempt.undo and refused(results[0]):  # the tree is no longer what this search made of it
        attempt.applied, attempt.at_most = None, attempt.ran
        return None
    if refused(results[-2]):
        attempt.applied = None
        return None
    attempt.applied, attempt.ran = one, attempt.ran + 1
    return seen(results[-1])


def _still_red(job: Job, attempt: Attempt) -> Steps[int | None]:
    """How many of the other red tests the edit in the tree leaves red; None when it breaks what passed before.

    The whole check is run after a hold only.
    """
    if not job.tests or not (job.after_hold or job.others):
        return 0
    attempt.ran += 1
    others = run(job.check) if job.after_hold else run(job.check, job.others, seconds=_HURRY_SECONDS)
    (found,) = yield from runs(others)
    if found is None:
        return 0
    failed = set(found.failed)
    if job.after_hold and not (found.whole and found.exit_status in (0, 1) and failed <= job.red - set(job.tests)):
        return None
    return len(failed & set(job.others)) if found.whole else len(job.others)


def _fall_back(attempt: Attempt) -> Steps[Candidate | None]:
    """The edit that was kept, in the tree again."""
    if attempt.fallback is None:
        return None
    kept = attempt.fallback.candidate
    if attempt.applied is not kept:
        yield (*attempt.undo, _edit(kept))
        attempt.applied = kept
    return kept


def _edit(one: Candidate, *, undo: bool = False) -> Call:
    assert one.change is not None
    change = one.change.undone if undo else one.change
    return call("edit", path=change.path, old=change.old, new=change.new)


def _summary(found: Candidate, job: Job, attempt: Attempt) -> str:
    verb = "pass" if len(job.tests) > 1 else "passes"
    fallback = attempt.fallback if attempt.fallback and attempt.fallback.candidate is found else None
    left = f" {fallback.left} other tests that were red stay red." if fallback else ""
    return (
        f"Changed {found.source.path}, line {found.line} ({found.template}). {job.names} {verb} now.{left} "
        f"Found within {attempt.ran} runs of a search for small edits: the tests agree, its meaning was not judged."
    )


def _give_up(attempt: Attempt, job: Job) -> Steps[None]:
    if attempt.applied is not None:
        yield attempt.undo
        attempt.applied = None
    first = job.tests[0] if job.tests else job.check
    yield from _hand_in(f"Not found: none of {attempt.ran} small edits that were tried turned {first} green.")


def _hand_in(summary: str) -> Steps[None]:
    while True:
        yield (call("finish", summary=summary),)
