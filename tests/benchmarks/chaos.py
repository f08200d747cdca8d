"""Workers that are killed at random moments: nothing may be lost, and nothing done twice.

`python -m tests.benchmarks.chaos [--kills 200] [--runs 20] [--seed 1]` labels issues in four repositories of a GitHub
on loopback, kills each of three workers at a random moment after it began to work, again and again, and lets the rest
end undisturbed. People go on meanwhile: each pull request is sent back once, and merged when all were answered. Then
the oracle looks at tables and GitHub, and it is counted what came of each issue.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum, auto
from pathlib import Path
from typing import Final

from bot.book import utc_now
from bot.job import Job, JobKind
from tests.bot.course.process import log_of, start
from tests.bot.course.town import Town
from tests.bot.forge.kit import ref_of
from tests.bot.kit import SHOP, told
from tests.github_server.github import GitHub
from tests.github_server.state import BOT_ID, Issue, Repository

WORKERS: Final = 3
REPOSITORIES: Final = 4
LIVES_SECONDS: Final = (0.0, 6.0)  # of a worker from its begin; what a dead one sent is waited for, 5 s
MINUTES_AT_MOST: Final = 30.0
WHOLE: Final = ["hold: finding", "refix", "pass-after-hold", "final verify: worked"]


class Step(IntEnum):
    """How far people are with an issue."""

    LABELLED = auto()
    SENT_BACK = auto()
    MERGED = auto()


@dataclass
class Story:
    """One issue, and what people did with it."""

    shop: Repository
    issue: Issue
    step: Step = Step.LABELLED


@dataclass
class Victim:
    """`dies` is when, once it has begun; `lives` is for how long it is let."""

    process: subprocess.Popen[bytes]
    lives: float
    dies: float = math.inf

    def look(self, log: str) -> None:
        """See in the log whether it has begun."""
        if self.dies == math.inf and f"/{self.process.pid}/" in log:
            self.dies = time.monotonic() + self.lives


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=200)
    asked.add_argument("--runs", type=int, default=20)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        github = GitHub(Path(folder) / "github")
        try:
            return measure(Town(github, Path(folder)), given.kills, given.runs, random.Random(given.seed))
        finally:
            github.close()


def measure(town: Town, kills: int, runs: int, chance: random.Random) -> int:
    """0 when all held."""
    stories = begin(town, runs)
    began, killed = time.monotonic(), disturb(town, stories, kills, chance)
    last = start(town)
    try:
        wait(town, stories)
    finally:
        last.kill()
        last.wait()
    report(town, stories, killed, time.monotonic() - began)
    town.check()
    return 0 if all(is_whole(town, one) for one in stories) else 1


def begin(town: Town, runs: int) -> list[Story]:
    """Labelled issues, spread over the repositories."""
    more = range(2, REPOSITORIES + 1)
    roles = {town.ada: "write"}
    shops = [town.shop, *(town.github.repository(f"shop{one}", files=SHOP, roles=roles, private=True) for one in more)]
    found = []
    for number in range(runs):
        town.shop = shops[number % REPOSITORIES]
        body = f"price.txt says 1, we agreed on 3 in shop {number}."
        issue = town.labelled(title=f"The price is wrong, {number}", body=body)
        found.append(Story(shop=town.shop, issue=issue))
    return found


def go_on(town: Town, stories: list[Story]) -> bool:
    """Do what people do next, where the program is done with what they did before; False when all is over."""
    quiet = [one for one in stories if is_quiet(town, one)]
    answered = [one for one in quiet if one.step is Step.LABELLED and pulls_of(one)]
    for one in answered:
        town.github.people.review(one.shop, pulls_of(one)[0], town.ada, "Please end with an empty line.")
        one.step = Step.SENT_BACK
    if answered or len(quiet) < len(stories):
        return True
    mended = [one for one in stories if one.step is Step.SENT_BACK]
    for one in mended:  # all at once: the first one mends what the other issues of its repository are about
        town.github.people.merge(one.shop, pulls_of(one)[0], town.ada)
        one.step = Step.MERGED
    return bool(mended)


def disturb(town: Town, stories: list[Story], kills: int, chance: random.Random) -> int:
    """Kill workers until so many were, or all is done; gives how many died."""
    victims: list[Victim] = []
    killed, ends = 0, time.monotonic() + MINUTES_AT_MOST * 60
    while killed < kills and time.monotonic() < ends and go_on(town, stories):
        while len(victims) < WORKERS:
            victims.append(Victim(start(town), chance.uniform(*LIVES_SECONDS)))
        time.sleep(0.1)
        log = log_of(town)
        for victim in victims:
            victim.look(log)
        for victim in [one for one in victims if one.dies <= time.monotonic()]:
            victim.process.kill()
            victim.process.wait()
            victims.remove(victim)
            killed += 1
    for victim in victims:
        victim.process.kill()
        victim.process.wait()
    return killed + len(victims)


def wait(town: Town, stories: list[Story]) -> None:
    ends = time.monotonic() + MINUTES_AT_MOST * 60
    while go_on(town, stories) and time.monotonic() < ends:
        time.sleep(0.5)


def is_quiet(town: Town, story: Story) -> bool:
    """Nothing is left but to look, at its time, whether anybody checks the pull request."""
    jobs = [job for job in jobs_of(town, story) if job.kind is not JobKind.CHECKS]
    return all(job.state.value in ("done", "dead") for job in jobs)


def jobs_of(town: Town, story: Story) -> tuple[Job, ...]:
    return town.jobs.of_issue(story.shop.id, story.issue.number)


def pulls_of(story: Story) -> list[Issue]:
    head = f"ticketsmith/issue-{story.issue.number}"
    return [one for one in story.shop.issues.values() if one.pull and re.match(rf"{head}(?!\d)", one.pull.head)]


def is_whole(town: Town, story: Story) -> bool:
    """It has one run with one comment, one pull request with one commit for each attempt, and each ending once."""
    ours = [one for one in story.issue.comments if one.author.id == BOT_ID]
    courses = town.courses.of_issue(ref_of(story.shop), story.issue.number)
    if (len(courses), len(ours), len(pulls_of(story))) != (1, 1, 1):
        return False
    return told(town.app, town.app.stores.runs.get(courses[0].run)) == WHOLE


def report(town: Town, stories: list[Story], killed: int, seconds: float) -> None:
    runs = town.app.stores.runs.list()
    jobs = [job for one in stories for job in jobs_of(town, one)]
    print(f"{utc_now():%Y-%m-%d}: {killed} workers killed over {len(stories)} issues in {seconds:.0f} s")
    print(f"runs by state: {dict(Counter(run.outcome or run.state.value for run in runs))}")
    print(f"jobs by state: {dict(Counter(job.state.value for job in jobs))}")
    print(f"endings: {dict(Counter(' → '.join(told(town.app, run)) for run in runs))}")
    print(f"issues with all of it once: {sum(is_whole(town, one) for one in stories)} of {len(stories)}")


if __name__ == "__main__":
    sys.exit(main())
