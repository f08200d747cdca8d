"""Workers that are killed at random moments: nothing may be lost, and nothing done twice.

`python -m tests.benchmarks.chaos [--kills 200] [--runs 20] [--seed 1]` labels issues in four repositories of a GitHub
on loopback, kills each of three workers at a random moment after it began to work, again and again, and lets the rest
end undisturbed. Then the oracle looks at tables and GitHub, and it is counted what came of each issue.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.book import utc_now
from bot.job import JobKind
from bot.run import RunState
from tests.bot.course.process import log_of, start
from tests.bot.course.town import Town
from tests.bot.forge.kit import ref_of
from tests.bot.kit import SHOP
from tests.github_server.github import GitHub
from tests.github_server.state import BOT_ID, Issue, Repository

WORKERS: Final = 3
REPOSITORIES: Final = 4
LIVES_SECONDS: Final = (0.0, 8.0)  # of a worker from its begin; what a dead one sent is waited for, 5 s
MINUTES_AT_MOST: Final = 30.0


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
    issues = begin(town, runs)
    began, killed = time.monotonic(), disturb(town, issues, kills, chance)
    last = start(town)
    try:
        wait(town, issues)
    finally:
        last.kill()
        last.wait()
    report(town, issues, killed, time.monotonic() - began)
    town.check()
    return 0 if all(is_whole(town, *one) for one in issues) else 1


def begin(town: Town, runs: int) -> list[tuple[Repository, Issue]]:
    """Labelled issues, spread over the repositories."""
    more = range(2, REPOSITORIES + 1)
    roles = {town.ada: "write"}
    shops = [town.shop, *(town.github.repository(f"shop{one}", files=SHOP, roles=roles, private=True) for one in more)]
    found = []
    for number in range(runs):
        town.shop = shops[number % REPOSITORIES]
        body = f"price.txt says 1, we agreed on 3 in shop {number}."
        issue = town.labelled(title=f"The price is wrong, {number}", body=body)
        found.append((town.shop, issue))
    return found


def disturb(town: Town, issues: list[tuple[Repository, Issue]], kills: int, chance: random.Random) -> int:
    """Kill workers until so many were, or all is done; gives how many died."""
    victims: list[Victim] = []
    killed, ends = 0, time.monotonic() + MINUTES_AT_MOST * 60
    while killed < kills and time.monotonic() < ends and not all(is_over(town, *one) for one in issues):
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


def wait(town: Town, issues: list[tuple[Repository, Issue]]) -> None:
    ends = time.monotonic() + MINUTES_AT_MOST * 60
    while not all(is_over(town, *one) for one in issues) and time.monotonic() < ends:
        time.sleep(0.5)


def is_over(town: Town, shop: Repository, issue: Issue) -> bool:
    """Nothing is left but to look, at its time, whether anybody checks the pull request."""
    jobs = [job for job in town.jobs.of_issue(shop.id, issue.number) if job.kind is not JobKind.CHECKS]
    return all(job.state.value in ("done", "dead") for job in jobs)


def is_whole(town: Town, shop: Repository, issue: Issue) -> bool:
    """It has one comment, and one branch with one pull request when its run is published."""
    ours = [one for one in issue.comments if one.author.id == BOT_ID]
    head = f"ticketsmith/issue-{issue.number}"
    pulls = [one for one in shop.issues.values() if one.pull and one.pull.head.startswith(head)]
    courses = town.courses.of_issue(ref_of(shop), issue.number)
    if not courses:
        return False
    run = town.app.stores.runs.get(courses[0].run)
    return len(ours) == 1 and len(pulls) == (1 if run.state is RunState.PUBLISHED else 0)


def report(town: Town, issues: list[tuple[Repository, Issue]], killed: int, seconds: float) -> None:
    runs = town.app.stores.runs.list()
    jobs = [job for shop, issue in issues for job in town.jobs.of_issue(shop.id, issue.number)]
    print(f"{utc_now():%Y-%m-%d}: {killed} workers killed over {len(issues)} issues in {seconds:.0f} s")
    print(f"runs by state: {dict(Counter(run.outcome or run.state.value for run in runs))}")
    print(f"jobs by state: {dict(Counter(job.state.value for job in jobs))}")
    print(f"issues with all of it once: {sum(is_whole(town, *one) for one in issues)} of {len(issues)}")


if __name__ == "__main__":
    sys.exit(main())
