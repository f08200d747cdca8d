"""An outbox that writes to our GitHub, on a real database, with a clock that tests move."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.book import Book, upgrade_runs
from bot.forge.github import Forge
from bot.forge.types import RepositoryRef
from bot.outbox.outbox import Outbox
from memory.database import open_database
from memory.scrub import Scrubber
from memory.types import CommitId
from stages.mirror import Mirror
from stages.repository import Repository
from tests.bot.clock import Clock
from tests.bot.forge.kit import forge_of, ref_of
from tests.empty_database import lay_empty
from tests.github_server.github import GitHub
from tests.github_server.state import Issue

SECRET: Final = "correct-horse-battery-9041"
RUN: Final = "01J5ABCDEFGH"
BRANCH: Final = "ticketsmith/issue-1"


@dataclass
class Post:
    """One issue of acme/till, and everything to write about it."""

    github: GitHub
    clock: Clock
    forge: Forge
    book: Book
    outbox: Outbox
    ref: RepositoryRef
    issue: Issue
    folder: Path

    def again(self) -> Post:
        """As after a restart of the program: the same database, nothing in memory."""
        return post_of(self.github, self.folder, self.issue, clock=self.clock)

    def copy(self) -> Repository:
        """Our own copy of the repository, up to date."""
        mirror = Mirror(self.folder / "mirror")
        mirror.fetch(self.forge.remote(self.ref), self.github.till.default_branch)
        return Repository.open(mirror.folder)

    def commit(self, repository: Repository, text: str = "fixed", *, parent: str = "HEAD") -> CommitId:
        """A commit of ours on top of `parent`."""
        git = repository.git
        onto = git.run("rev-parse", parent).decode().strip()
        blob = git.run("hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()
        tree = git.run("mktree", stdin=f"100644 blob {blob}\tfix.txt\n".encode()).decode().strip()
        made = git.run("commit-tree", "-p", onto, "-m", "Fix: the total", tree, dates="1700000000 +0000")
        return CommitId(made.decode().strip())


def post_of(
    github: GitHub, folder: Path, issue: Issue | None = None, *, clock: Clock | None = None, secret: str = "key"
) -> Post:
    clock = clock or Clock()
    forge = forge_of(github, clock)
    engine = open_database(lay_empty(folder / "runs.sqlite", upgrade_runs), busy_seconds=10)
    scrubber = Scrubber((SECRET,))
    book = Book(engine, scrubber, now=clock)
    outbox = Outbox.of(forge, book, scrubber, me=github.state.bot.id, secret=secret, clock=clock, sleep=clock.sleep)
    issue = issue or github.people.issue(github.till, github.ada, "Total is wrong", "It is.")
    return Post(github, clock, forge, book, outbox, ref_of(github.till), issue, folder)
