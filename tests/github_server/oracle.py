"""What must hold after every fault, whatever it was: I1 to I11, one function for all tests.

It reads the tables and GitHub's own state, not what the program says of itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.app import App
from bot.facts import Asked
from bot.jobs import Jobs
from bot.run import RunState
from memory.types import Hold
from stages.journal import ModelAnswered
from tests.github_server.github import GitHub
from tests.github_server.state import BOT_ID, Delivery, Issue, Repository

_MARKER: Final = re.compile(r"<!-- ticketsmith:([0-9a-f]{32}) -->")
_OURS: Final = re.compile(r"refs/heads/(ticketsmith/issue-(\d+)(?:-\d+)?)")
_PIECE: Final = 12  # characters of a secret that must not be found


@dataclass(frozen=True, kw_only=True)
class World:
    """What the oracle looks at. `answered` are the deliveries that got a 2xx; `people` the commits that people pushed,
    each with its repository; `said` everything else that was written: logs.
    """

    github: GitHub
    app: App
    home: Path
    answered: Sequence[Delivery] = ()
    people: Sequence[tuple[Repository, str]] = ()
    secrets: Sequence[str] = ()
    said: Sequence[str] = ()


def check_world(world: World) -> None:
    """Raises AssertionError with everything that does not hold."""
    wrong = [f"{rule.__name__}: {one}" for rule in RULES for one in rule(world)]
    assert not wrong, "\n".join(wrong)


def i1_each_delivery_that_was_answered_is_stored(world: World) -> Iterator[str]:
    jobs = Jobs(world.app.book)
    for delivery in world.answered:
        if not jobs.has_delivery(delivery.guid):
            yield f"delivery {delivery.event} {delivery.guid} is lost"


def i2_one_open_run_for_each_issue(world: World) -> Iterator[str]:
    open_runs = Counter((run.scope, run.ticket.id) for run in world.app.stores.runs.list() if run.open)
    yield from (f"{count} open runs of {ticket}" for (_, ticket), count in open_runs.items() if count > 1)


def i3_one_pull_request_one_comment_one_branch(world: World) -> Iterator[str]:
    for repository in world.github.state.repositories.values():
        texts = list(_ours(repository))
        made = Counter(found for text in texts for found in _MARKER.findall(text))
        yield from (f"{count} artefacts with one marker" for count in made.values() if count > 1)
        yield from (f"without a marker: {text[:60]!r}" for text in texts if not _MARKER.search(text))
        heads = Counter(_issue_of(issue) for issue in _open_pulls(repository))
        yield from (f"{count} open pull requests for issue {number}" for number, count in heads.items() if count > 1)


def i4_one_final_ending_and_one_lesson_for_each_ending(world: World) -> Iterator[str]:
    for run in world.app.stores.runs.list():
        recorded = world.app.stores.memory.endings(run.scope, run.id)
        finals = [one for one in recorded if one.ending.final]
        if len(finals) != (0 if run.open else 1):
            yield f"run {run.id} ({run.state.value}) has {len(finals)} final endings"
        for one in recorded:
            if one.lesson is None:
                yield f"an ending of run {run.id} taught nothing: {one.ending.ending}"
            if one.ending.final and isinstance(one.ending.ending, Hold) and one.ending.refers_to is None:
                yield f"the final hold of run {run.id} refers to none"


def i5_no_secret_anywhere(world: World) -> Iterator[str]:
    shown = [*world.said, *_everything_kept(world)]
    for repository in world.github.state.repositories.values():
        shown += list(_ours(repository))
        shown += [str(check.output) for check in repository.checks.values()]
    secrets = [_pieces(secret) for secret in world.secrets]
    assert all(secrets), "one is too short to be looked for"
    for text in shown:
        pieces = _pieces(text)
        found = (number for number, secret in enumerate(secrets) if not secret.isdisjoint(pieces))
        yield from (f"secret {number} is in {text[:40]!r}" for number in found)


def i6_every_commit_of_people_is_reachable(world: World) -> Iterator[str]:
    for repository, commit in world.people:
        if not repository.git.git("for-each-ref", f"--contains={commit}").strip():
            yield f"commit {commit[:12]} of a person is lost"


def i7_what_was_pushed_is_of_the_last_epoch(world: World) -> Iterator[str]:
    """Our branches hold what our tables say that was pushed last, and nothing of a process that was overtaken."""
    from bot.course.store import CourseStore

    courses = CourseStore(world.app.book)
    for run in world.app.stores.runs.list():
        if run.epoch < 0 or (course := courses.of(run.id)) is None or course.pushed is None:
            continue
        repository = world.github.state.repositories[course.ref.id]
        if not repository.git.has(course.pushed):
            yield f"run {run.id} says that {course.pushed[:12]} was pushed, and GitHub has it not"


def i8_what_was_spent_stays_below_the_cap(world: World) -> Iterator[str]:
    limits = world.app.settings.limits
    for run in world.app.stores.runs.list():
        if run.spent.calls > limits.calls or run.spent.money > limits.money:
            yield f"run {run.id} spent {run.spent}"
        answered = [fact for fact in _facts(world, run.id) if isinstance(fact, ModelAnswered)]
        if len(answered) > run.spent.calls:
            yield f"run {run.id}: {len(answered)} calls in the record, {run.spent.calls} in the sum"


def i9_the_diff_of_a_developed_run_is_kept(world: World) -> Iterator[str]:
    for run in world.app.stores.runs.list():
        developed = any(step.name == "gate" and step.finished for step in world.app.stores.steps.of(run.id))
        if developed and not run.patch:
            yield f"run {run.id} has lost its patch"


def i10_nothing_of_a_sandbox_is_left(world: World) -> Iterator[str]:
    work = world.home / "work"
    left = [path.name for path in work.iterdir() if path.is_dir()] if work.is_dir() else []
    working = {run.id for run in world.app.stores.runs.list() if run.state is RunState.WORKING}
    yield from (f"{name} is left" for name in left if name.split("-")[0] not in working)
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(work).encode() in status.read_bytes():
                yield f"process {status.parent.name} still runs in {work}"
        except OSError:
            continue


def i11_every_call_is_recorded_with_its_context(world: World) -> Iterator[str]:
    for run in world.app.stores.runs.list():
        audited = {one.prompt_hash for one in world.app.stores.memory.injections(run.scope, run.id)}
        asked = [fact.hash for fact in _facts(world, run.id) if isinstance(fact, Asked)]
        yield from (f"run {run.id}: prompt {one[:12]} has no audit" for one in asked if one not in audited)


RULES: Final = (
    i1_each_delivery_that_was_answered_is_stored,
    i2_one_open_run_for_each_issue,
    i3_one_pull_request_one_comment_one_branch,
    i4_one_final_ending_and_one_lesson_for_each_ending,
    i5_no_secret_anywhere,
    i6_every_commit_of_people_is_reachable,
    i7_what_was_pushed_is_of_the_last_epoch,
    i8_what_was_spent_stays_below_the_cap,
    i9_the_diff_of_a_developed_run_is_kept,
    i10_nothing_of_a_sandbox_is_left,
    i11_every_call_is_recorded_with_its_context,
)


def _pieces(text: str) -> set[str]:
    return {text[at : at + _PIECE] for at in range(len(text) - _PIECE + 1)}


def _ours(repository: Repository) -> Iterator[str]:
    """Everything that we wrote there."""
    for issue in repository.issues.values():
        if issue.pull and issue.author.id == BOT_ID:
            yield issue.body
        yield from (one.body for one in issue.comments if one.author.id == BOT_ID)


def _open_pulls(repository: Repository) -> Iterator[Issue]:
    for issue in repository.issues.values():
        if issue.pull and issue.state == "open" and issue.author.id == BOT_ID:
            yield issue


def _issue_of(pull: Issue) -> str:
    assert pull.pull is not None
    found = _OURS.fullmatch(f"refs/heads/{pull.pull.head}")
    return found[2] if found else pull.pull.head


def _facts(world: World, run: Any) -> list[object]:
    return [event.fact for event in world.app.stores.events.of(run)]


def _everything_kept(world: World) -> Iterable[str]:
    """Each row of each table, as text."""
    with world.app.book.engine.connect() as connection:
        names = [row[0] for row in connection.exec_driver_sql("select name from sqlite_master where type = 'table'")]
        for name in names:
            for row in connection.exec_driver_sql(f'select * from "{name}"'):
                yield " ".join(str(value) for value in row)
