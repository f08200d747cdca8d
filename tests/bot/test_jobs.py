"""Deliveries and jobs in a real database: each event once, whatever arrives how often and in which order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.book import Book
from bot.errors import NoSuchJob
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.job import (
    Added,
    Arrival,
    Closed,
    Command,
    Decision,
    Deployed,
    FollowUp,
    FollowUpReason,
    Gone,
    GoneCause,
    JobData,
    JobKind,
    JobState,
    NewJob,
    Remark,
    Start,
    StartCause,
    Unlabelled,
)
from bot.jobs import Jobs
from bot.keeping import JOINS_FOR
from memory.database import DatabaseLocked, open_database
from memory.scrub import Scrubber
from tests.bot.books import MORNING, SECRET, Clock, make_book

REF: Final = RepositoryRef(installation=9, id=4_100_000_001, full_name="acme/till")
MIRA: Final = Account(id=11, login="mira", kind=AccountKind.USER)


def start(number: int = 7, cause: StartCause = StartCause.LABELLED, body: str = "It says 100.00.") -> NewJob:
    data = Start(title="Too dear", body=body, author=MIRA, labels=("ticketsmith",), updated=MORNING, cause=cause)
    return job(JobKind.START, data, number, subject=f"start:{number}:{cause.value}")


def stop(number: int = 7) -> NewJob:
    return job(JobKind.STOP, Unlabelled(), number, subject="ignored")


def job(kind: JobKind, data: JobData, number: int = 7, subject: str = "s:1") -> NewJob:
    return NewJob(kind=kind, ref=REF, number=number, subject=subject, actor=MIRA, at=MORNING, data=data)


_ids = itertools.count()


def arrival(name: str = "") -> Arrival:
    name = name or f"guid-{next(_ids)}"
    return Arrival(id=name, event="issues", action="labeled", digest="0" * 64, received=MORNING, installation=9)


def asks(new: NewJob) -> Decision:
    return Decision(reason="label", job=new)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(tmp_path: Path, clock: Clock) -> Jobs:
    return Jobs(make_book(tmp_path, clock))


@pytest.mark.parametrize(
    "data",
    [
        start().data,
        Unlabelled(),
        Command(name="retry", argument="", comment=4, pull=None),
        Remark(comment=5),
        FollowUp(pull=8, head="4be1", reason=FollowUpReason.CHECK, ref=5_000_000_000),
        Deployed(deployment=1, commit="4be1", environment="shop"),
        Closed(pull=8, merged=True, merge_commit="4be1", by=MIRA),
        Gone(cause=GoneCause.REMOVED, repositories=(1, 2)),
    ],
    ids=lambda data: type(data).__name__,
)
def test_a_job_comes_back_as_it_was_asked(jobs: Jobs, data: JobData) -> None:
    asked = job(JobKind.HELP, data, subject="once")

    added = jobs.add(arrival("g"), asks(asked))

    (kept,) = jobs.waiting()
    assert added is Added.STORED
    assert (kept.data, kept.ref, kept.number, kept.actor, kept.at) == (data, REF, 7, MIRA, MORNING)
    assert (kept.delivery, kept.state) == ("g", JobState.WAITING)


def test_r2_a_delivery_that_is_sent_again_is_known_and_gives_no_second_job(jobs: Jobs) -> None:
    jobs.add(arrival("g"), asks(start()))

    again = jobs.add(arrival("g"), asks(start(8)))

    assert again is Added.REPEATED
    assert [one.number for one in jobs.waiting()] == [7]
    assert jobs.deliveries() == 1


def test_r2_one_delivery_twice_in_one_group_is_kept_once(jobs: Jobs) -> None:
    added = jobs.add_all([(arrival("g"), asks(start())), (arrival("g"), asks(start(8)))])

    assert added == (Added.STORED, Added.REPEATED)
    assert len(jobs.waiting()) == 1


def test_f5_the_same_event_under_two_ids_is_one_job_of_two_deliveries(jobs: Jobs) -> None:
    for name in ("from the app", "from a hook"):
        jobs.add(arrival(name), asks(job(JobKind.RETRY, Command(name="retry", argument="", comment=4), subject="c:4")))

    assert len(jobs.waiting()) == 1
    assert jobs.deliveries() == 2


def test_f7_label_on_off_on_gives_three_jobs_in_that_order_and_a_repetition_none(jobs: Jobs) -> None:
    for wish in (start(), start(), stop(), stop(), start(), start(cause=StartCause.OPENED)):
        jobs.add(arrival(), asks(wish))

    assert [(one.kind, one.subject) for one in jobs.waiting()] == [
        (JobKind.START, f"label:{REF.id}#7:1"),
        (JobKind.STOP, f"label:{REF.id}#7:2"),
        (JobKind.START, f"label:{REF.id}#7:3"),
    ]


def test_f6_a_label_that_is_told_after_its_end_is_looked_at_after_it(jobs: Jobs) -> None:
    for wish in (stop(), start()):
        jobs.add(arrival(), asks(wish))

    assert [one.kind for one in jobs.waiting()] == [JobKind.STOP, JobKind.START]


@pytest.mark.parametrize(("minutes", "count"), [(1, 1), (11, 2)])
def test_r6_a_label_joins_a_run_that_is_just_over_and_begins_a_new_one_later(
    jobs: Jobs, clock: Clock, minutes: int, count: int
) -> None:
    jobs.add(arrival(), asks(start()))
    jobs.done(jobs.waiting()[0].id, "published")
    clock.at += timedelta(minutes=minutes)

    jobs.add(arrival(), asks(start()))

    assert len(jobs.of_issue(REF.id, 7)) == count
    assert timedelta(minutes=1) < JOINS_FOR < timedelta(minutes=11)


def test_a_label_joins_a_run_that_is_still_open_however_long(jobs: Jobs, clock: Clock) -> None:
    jobs.add(arrival(), asks(start()))
    jobs.taken(jobs.waiting()[0].id)
    clock.at += timedelta(days=3)

    assert jobs.add(arrival(), asks(start())) is Added.JOINED


def test_an_issue_that_is_opened_again_begins_anew(jobs: Jobs) -> None:
    jobs.add(arrival(), asks(start()))
    jobs.add(arrival(), asks(start(cause=StartCause.REOPENED)))

    assert len(jobs.waiting()) == 2


def test_a_job_moves_from_waiting_to_taken_to_its_end(jobs: Jobs) -> None:
    jobs.add(arrival(), asks(start()))
    jobs.add(arrival(), asks(start(8)))
    first, second = (one.id for one in jobs.waiting())

    jobs.taken(first)
    jobs.done(first, "published")
    jobs.taken(first)
    jobs.dead(second, "five times")

    assert [(one.state, one.outcome) for one in (jobs.get(first), jobs.get(second))] == [
        (JobState.DONE, "published"),
        (JobState.DEAD, "five times"),
    ]
    assert jobs.waiting() == ()


def test_a_job_that_is_not_there_is_told(jobs: Jobs) -> None:
    with pytest.raises(NoSuchJob, match="There is no job 9"):
        jobs.done(9, "")
    with pytest.raises(NoSuchJob):
        jobs.get(9)


def test_secrets_in_the_text_of_an_issue_are_not_kept(jobs: Jobs, tmp_path: Path) -> None:
    jobs.add(arrival(), asks(start(body=f"my key is {SECRET}\0")))

    data = jobs.waiting()[0].data

    assert isinstance(data, Start)
    assert SECRET not in data.body
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_repository_keeps_its_memory_when_it_is_renamed(jobs: Jobs) -> None:
    new = replace(REF, full_name="acme/counter")
    jobs.add(arrival(), asks(start()))
    jobs.add(arrival(), Decision(reason="renamed", renamed=new))
    jobs.add(arrival(), Decision(reason="renamed", renamed=replace(new, id=5, full_name="never/seen")))

    assert jobs.repository(new) == "github.com/acme/till"
    assert jobs.named(REF) == new
    assert jobs.named(replace(REF, id=5)).full_name == "acme/till"
    assert jobs.repository(replace(REF, id=6, full_name="Acme/Other")) == "github.com/acme/other"


def test_old_deliveries_are_forgotten_and_their_jobs_stay(jobs: Jobs) -> None:
    jobs.add(arrival("old"), asks(start()))
    jobs.add(replace(arrival("new"), received=MORNING + timedelta(days=40)), Decision(reason="ignored"))

    dropped = jobs.forget_deliveries(MORNING + timedelta(days=30))

    assert dropped == 1
    assert (jobs.has_delivery("old"), jobs.has_delivery("new")) == (False, True)
    assert len(jobs.waiting()) == 1


def test_a_wish_without_a_delivery_is_a_job_too_and_joins_like_any_other(jobs: Jobs) -> None:
    swept = start(cause=StartCause.SWEPT)

    assert [jobs.wish(swept), jobs.wish(swept)] == [Added.STORED, Added.JOINED]
    assert jobs.add(arrival(), asks(start())) is Added.JOINED


def test_f3_nothing_is_half_written_when_the_database_stays_locked(tmp_path: Path) -> None:
    book = make_book(tmp_path)
    impatient = Book(open_database(tmp_path / "runs.sqlite", busy_seconds=0.05), Scrubber())

    with book.writing(), pytest.raises(DatabaseLocked):
        Jobs(impatient).add(arrival("g"), asks(start()))

    assert (Jobs(book).deliveries(), Jobs(book).waiting()) == (0, ())
