"""A process that dies at any place of any step leaves a job that the next process takes to the same end, once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Final

from bot.book import utc_now
from bot.course.points import OWN_RECORD, CourseStep, Moment
from bot.job import JobKind, NewJob, Unchecked
from bot.run import RunState
from tests.bot.children import in_child
from tests.bot.course.test_silence import WORKFLOW
from tests.bot.course.town import Town
from tests.bot.kit import Script, writes
from tests.github_server.state import Issue

KILLS_AT_MOST: Final = 200
PLACES: Final = {
    f"{step.value} {moment.value}"
    for step, moment in product(CourseStep, Moment)
    if step not in OWN_RECORD or moment is not Moment.AFTER_RECORD
}


class Deaths:
    """Kills this process at the first place where none was killed before; which those are stands in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.touch()

    def __call__(self, step: CourseStep, moment: Moment) -> None:
        place = f"{step.value} {moment.value}"
        if place not in self.known():
            with self.file.open("a") as file:
                file.write(place + "\n")
            os.kill(os.getpid(), signal.SIGKILL)

    def known(self) -> list[str]:
        return self.file.read_text().splitlines()


def drain_through_deaths(town: Town, deaths: Deaths) -> int:
    """Take all jobs, each in processes that die, until one does not; gives how many did."""
    killed = 0

    def work(number: int) -> None:
        town.again()
        town.reached = deaths
        town.take(town.jobs.get(number))

    while waiting := town.jobs.waiting():
        for job in waiting:
            town.jobs.taken(job.id)  # one that waits for its time is not waited for here
            while in_child(lambda job=job: work(job.id)) == signal.SIGKILL:  # type: ignore[misc]
                killed += 1
                assert killed < KILLS_AT_MOST
    return killed


def minutes_later(town: Town, issue: Issue) -> None:
    """It is time to look whether checks began."""
    course = town.course(issue)
    assert course.pull
    data, at = Unchecked(pull=course.pull, head=course.pushed or ""), utc_now() - timedelta(minutes=6)
    town.jobs.wish(
        NewJob(kind=JobKind.CHECKS, ref=town.ref, number=issue.number, subject="later", actor=None, at=at, data=data)
    )


def test_r16_f41_a_death_at_each_place_of_each_step_changes_nothing(found: Callable[..., Town], tmp_path: Path) -> None:
    deaths = Deaths(tmp_path / "deaths")
    town = found(script=Script.of(refix=writes(text="3\n\n")), files=WORKFLOW)
    answered = town.labelled(title="The price is wrong")
    drain_through_deaths(town, deaths)
    minutes_later(town, answered)
    drain_through_deaths(town, deaths)
    assert town.course(answered).unchecked
    town.github.people.review(town.shop, town.pull(), town.ada, "A line break is missing.")
    drain_through_deaths(town, deaths)
    pull = town.pull()
    town.say(answered, "/ticketsmith requeue And once more, please.")
    drain_through_deaths(town, deaths)
    town.github.people.merge(town.shop, pull, town.ada)
    drain_through_deaths(town, deaths)
    town.github.people.push(town.shop, "main", {"price.txt": "1\n"}, town.ada)

    stopped = town.labelled(title="The price is wrong again")
    town.say(stopped, "/ticketsmith why")
    drain_through_deaths(town, deaths)
    town.say(stopped, "/ticketsmith stop")
    drain_through_deaths(town, deaths)

    town.again()
    assert set(deaths.known()) == PLACES
    assert town.run(answered).outcome.startswith("verify: ")
    assert town.run(stopped).state is RunState.ENDED
    assert [len(town.comments(issue)) for issue in (answered, stopped)] == [2, 3]
    assert town.told(answered).count("hold: finding") == 2
    town.check()
