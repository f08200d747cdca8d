"""What never arrived is found: over real sockets, against a GitHub that remembers, with our server behind it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.app_settings import AppSettings
from bot.book import Book
from bot.forge.github import Forge
from bot.intake import Own
from bot.job import JobKind, Start, StartCause
from bot.jobs import Jobs
from bot.log import Log
from bot.reconciling import EVERY, Found, Reconciler, is_due
from bot.webhooks import PATH
from memory.database import open_database
from memory.scrub import Scrubber
from tests.bot.books import make_book
from tests.bot.served import HOOK_SECRET, Served, served
from tests.github_server.fixtures import github  # noqa: F401
from tests.github_server.github import GitHub
from tests.github_server.state import APP_ID

LATER: Final = timedelta(minutes=11)


class World:
    """GitHub, our server, and the reconciler, whose clock may be ahead."""

    def __init__(self, hub: GitHub, server: Served, jobs: Jobs) -> None:
        self.github, self.server, self.jobs = hub, server, jobs
        self.ahead = timedelta()
        self.lines = io.StringIO()
        forge = Forge.for_app(app_id=hub.app_id, key=hub.key, base_url=hub.url, sleep=lambda _: None, clock=self.now)
        self.reconciler = Reconciler(
            forge, jobs, AppSettings(base_url=hub.url), now=self.now, log=Log(stream=self.lines)
        )

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def look(self, after: timedelta = LATER) -> Found:
        self.ahead = after
        found = self.reconciler.look()
        self.github.hooks.flush()
        return found

    def starts(self) -> list[tuple[int, StartCause]]:
        found = [(one.number, one.data.cause) for one in self.jobs.waiting() if isinstance(one.data, Start)]
        return sorted(found)


@pytest.fixture
def world(tmp_path: Path, github: GitHub) -> Iterator[World]:  # noqa: F811
    jobs = Jobs(make_book(tmp_path), web=github.web)
    arriving = Jobs(Book(open_database(tmp_path / "runs.sqlite", busy_seconds=0.0), Scrubber()), web=github.web)
    with served(tmp_path, arriving, own=Own(app=APP_ID), now=lambda: datetime.now(UTC)) as server:
        github.hooks.url, github.hooks.secret = server.url + PATH, HOOK_SECRET.decode()
        yield World(github, server, jobs)


def test_f8_r3_an_issue_that_was_labelled_while_webhooks_were_down_is_begun_once(world: World) -> None:
    world.github.hooks.url = ""  # not even a delivery is known
    issue = world.github.people.issue(world.github.till, world.github.ada, "Too dear", "It says 100.")
    world.github.people.label(world.github.till, issue, world.github.ada)

    looks = [world.look(timedelta(minutes=minutes)) for minutes in (1, 11, 16, 21)]

    assert [look.begun for look in looks] == [0, 1, 0, 0]
    (job,) = world.jobs.waiting()
    assert (job.number, job.actor and job.actor.login) == (issue.number, "ada")
    assert isinstance(job.data, Start)
    assert (job.data.title, job.data.body, job.data.cause) == ("Too dear", "It says 100.", StartCause.SWEPT)


def test_f2_a_delivery_that_failed_is_sent_again_and_begins_the_run(world: World) -> None:
    world.github.hooks.down = True
    issue = world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith",))
    world.github.hooks.down = False

    first, second = world.look(timedelta(minutes=1)), world.look(timedelta(minutes=6))

    assert (first.redelivered, second.redelivered) == (2, 0)
    assert [number for number, _ in world.starts()] == [issue.number]


def test_f1_a_delivery_that_was_kept_but_answered_too_late_is_not_sent_again(world: World) -> None:
    world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith",))
    for delivery in world.github.state.deliveries:
        delivery.status_code = 504

    assert world.look().redelivered == 0


def test_a_delivery_of_an_event_that_nobody_reads_is_not_sent_again(world: World) -> None:
    world.github.hooks.down = True
    world.github.hooks.keep("push", None, {"ref": "refs/heads/main"}, 71, world.github.till.id)
    world.github.hooks.flush()

    assert world.look().redelivered == 0


def test_r6_a_finished_issue_is_not_begun_again(world: World) -> None:
    issue = world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith",))
    (job,) = [one for one in world.jobs.waiting() if one.kind is JobKind.START]
    world.jobs.done(job.id, "dropped")

    looks = [world.look(timedelta(hours=hours)) for hours in (1, 24)]

    assert [look.begun for look in looks] == [0, 0]
    assert len(world.jobs.of_issue(world.github.till.id, issue.number)) == 1


@pytest.mark.parametrize("label", ["ticketsmith:working", "ticketsmith:held", "ticketsmith:pr", "ticketsmith:dropped"])
def test_r6_an_issue_with_a_label_of_the_bot_is_not_begun_even_by_an_empty_database(world: World, label: str) -> None:
    world.github.hooks.url = ""
    world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith", label))

    assert world.look().begun == 0


def test_f7_a_label_that_came_back_while_its_webhook_was_lost_is_found(world: World) -> None:
    people, till, ada = world.github.people, world.github.till, world.github.ada
    issue = people.issue(till, ada, "Too dear", labels=("ticketsmith",))
    people.unlabel(till, issue, ada)
    world.github.hooks.url = ""
    people.label(till, issue, ada)

    looks = [world.look(timedelta(minutes=minutes)).begun for minutes in (5, 11, 16)]

    assert looks == [0, 1, 0]
    assert [one.kind for one in world.jobs.of_issue(till.id, issue.number)] == [
        JobKind.START,
        JobKind.STOP,
        JobKind.START,
    ]


def test_other_labels_pull_requests_and_closed_issues_are_left_alone(world: World) -> None:
    world.github.hooks.url = ""
    people, till, ada = world.github.people, world.github.till, world.github.ada
    people.issue(till, ada, "Other", labels=("bug",))
    closed = people.issue(till, ada, "Closed", labels=("ticketsmith",))
    people.close(till, closed, ada)
    people.push(till, "feature", {"a.txt": "a"}, ada)
    pull = people.pull(till, ada, head="feature", title="A pull request")
    people.label(till, pull, ada)

    assert world.look().begun == 0


def test_what_goes_wrong_at_one_place_keeps_no_other_from_being_looked_at(world: World) -> None:
    world.github.hooks.url = ""
    world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith",))
    world.github.fault("GET /app/hook/deliveries", times=9, status=500)

    found = world.look()

    assert (found.redelivered, found.begun) == (0, 1)
    assert "deliveries not looked at" in world.lines.getvalue()


def test_an_installation_that_is_suspended_or_does_not_answer_is_left_out(world: World) -> None:
    world.github.hooks.url = ""
    world.github.people.issue(world.github.till, world.github.ada, "Too dear", labels=("ticketsmith",))
    world.github.fault("GET /installation/repositories", times=9, status=500)
    unanswered = world.look()
    world.github.installation.suspended = True

    suspended = world.look()

    assert (unanswered.begun, suspended.begun) == (0, 0)
    assert "issues not looked at" in world.lines.getvalue()


def test_a_delivery_is_sent_again_ever_less_often() -> None:
    looks = [age for minutes in range(0, 72 * 60, 5) if is_due(age := timedelta(minutes=minutes))]

    often = [age for age in looks if age < timedelta(hours=1)]
    assert len(often) == timedelta(hours=1) / EVERY
    assert [age / timedelta(hours=1) for age in looks if age >= timedelta(hours=1)] == [1, 2, 4, 8, 16, 32, 64]
