"""A GitHub on loopback, the program beside it, and a model that says what the test says."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from bot.app import App, Choices
from bot.app_settings import AppSettings
from bot.config import Settings
from bot.course.course import Course
from bot.course.office import taking
from bot.course.points import Reached, nothing
from bot.course.store import CourseStore
from bot.engine.outcome import Outcome, Settled, ToWork
from bot.forge.types import RepositoryRef
from bot.intake import Event, Own, arrival_of, decide
from bot.job import Job
from bot.jobs import Jobs
from bot.log import open_log
from bot.run import Run
from bot.working import Working
from tests.bot.clock import Clock
from tests.bot.empty_database import lay_empty_database
from tests.bot.forge.kit import ref_of
from tests.bot.kit import SHOP, Script, ScriptedApp, told
from tests.github_server.github import GitHub
from tests.github_server.oracle import World, check_world
from tests.github_server.state import BOT_ID, Delivery, Issue, Repository

ROUNDS_AT_MOST: Final = 40  # jobs that one drain may take


@dataclass
class Town:
    """`github` with the repository `acme/shop`, where `ada` may write, and the program with its home in `folder`.

    What GitHub tells becomes jobs at once; `drain` takes them, in this thread. `again` is a new process.
    """

    github: GitHub
    folder: Path
    script: Script = field(default_factory=Script.of)
    files: Mapping[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    app_settings: dict[str, Any] = field(default_factory=dict)
    private: bool = True
    reached: Reached = nothing
    log: io.StringIO = field(default_factory=io.StringIO)
    clock: Clock = field(default_factory=Clock)
    outcomes: list[tuple[Job, Outcome]] = field(default_factory=list)
    answered: list[Delivery] = field(default_factory=list)
    people: list[tuple[Repository, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ada = self.github.ada
        self.shop = self.github.state.repository("acme/shop") or self._shop()
        self.key = self.folder / "app.pem"
        self.key.write_text(self.github.key)
        self.key.chmod(0o600)
        self.github.hooks.url = "kept"
        self.github.hooks._send = self._arrives  # type: ignore[method-assign]
        lay_empty_database(self.options().database)
        self.again()

    def _shop(self) -> Repository:
        files, roles = {**SHOP, **self.files}, {self.ada: "write"}
        return self.github.repository("shop", files=files, roles=roles, private=self.private)

    # --- The program -----------------------------------------------------------------------------------------------

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def options(self) -> Settings:
        app = AppSettings(id=self.github.app_id, key=self.key, base_url=self.github.url, **self.app_settings)
        return Settings(home=self.home, database=self.home / "ticketsmith.sqlite", app=app, **self.settings)

    def again(self) -> None:
        """Forget everything that a process has in its memory."""
        self.working = Working(
            self.options(),
            Choices(trusted=True, sandbox="plain"),
            app=partial(_made, self),
            log=open_log(str, self.log),
            reached=lambda step, moment: self.reached(step, moment),
            clock=self.clock,
            sleep=self.clock.sleep,
        )
        self.office = self.working.office
        self.app = self.office.app(lambda _: None)
        self.jobs, self.courses = Jobs(self.app.book, web=self.office.forge.web), CourseStore(self.app.book)

    def leave(self) -> None:
        """End the process: nothing of it holds the database open."""
        for book in (self.app.book, self.office.book):
            book.engine.dispose()

    # --- What happens ----------------------------------------------------------------------------------------------

    def issue(self, title: str = "The price is wrong", body: str = "price.txt says 1, we agreed on 3.") -> Issue:
        return self.github.people.issue(self.shop, self.ada, title, body)

    def labelled(self, **more: Any) -> Issue:
        """An issue that somebody who may write gave the label."""
        issue = self.issue(**more)
        self.github.people.label(self.shop, issue, self.ada)
        return issue

    def solved(self, **more: Any) -> Issue:
        """An issue with a patch that went out."""
        issue = self.labelled(**more)
        self.drain()
        return issue

    def say(self, issue: Issue, text: str, **more: Any) -> None:
        self.github.people.comment(self.shop, issue, more.get("by", self.ada), text)

    def drain(self) -> list[Outcome]:
        """Take all jobs that wait, and those that they bring."""
        begun = len(self.outcomes)
        for _ in range(ROUNDS_AT_MOST):
            waiting = self.jobs.waiting()
            if not waiting:
                break
            for job in waiting:
                self.jobs.taken(job.id)
                self.take(job)
        return [outcome for _, outcome in self.outcomes[begun:]]

    def take(self, job: Job) -> Outcome:
        """Take one job as a worker does."""
        with taking(self.office) as one:
            outcome = one.receive(job)
            if isinstance(outcome, ToWork):
                outcome = one.work(job)
        self.outcomes.append((job, outcome))
        if isinstance(outcome, Settled):
            self.jobs.done(job.id, outcome.outcome)
        return outcome

    def go_on(self, issue: Issue) -> list[Outcome]:
        """Take the newest job of an issue up again, and those that it brings."""
        return [self.take(self.jobs.of_issue(self.shop.id, issue.number)[-1]), *self.drain()]

    def take_last_again(self) -> Outcome:
        """The last job once more, as at its wake time."""
        return self.take(self.jobs.get(self.outcomes[-1][0].id))

    def _arrives(self, delivery: Delivery) -> int:
        event = Event(name=delivery.event, payload=delivery.payload, received=self.app.book.now(), app=None)
        own = Own(label=self.options().app.label, app=self.github.app_id, bot=BOT_ID)
        self.jobs.add(arrival_of(event, delivery.guid, "0"), decide(event, own))
        self.answered.append(delivery)
        return 202

    def check(self) -> None:
        """What must hold whatever happened."""
        check_world(
            World(
                github=self.github,
                app=self.app,
                home=self.home,
                answered=self.answered,
                people=self.people,
                secrets=(self.github.key, *self.github.state.tokens),
                said=(self.log.getvalue(),),
            )
        )

    # --- What came of it -------------------------------------------------------------------------------------------

    def run(self, issue: Issue) -> Run:
        return self.app.stores.runs.get(self.course(issue).run)

    def course(self, issue: Issue) -> Course:
        return self.courses_of(issue)[0]

    def courses_of(self, issue: Issue) -> tuple[Course, ...]:
        return self.courses.of_issue(self.ref, issue.number)

    @property
    def ref(self) -> RepositoryRef:
        return ref_of(self.shop)

    def told(self, issue: Issue) -> list[str]:
        return told(self.app, self.run(issue))

    def comments(self, issue: Issue) -> list[str]:
        """What we wrote on it."""
        return [one.body for one in issue.comments if one.author.id == BOT_ID]

    def pulls(self) -> list[Issue]:
        return [one for one in self.shop.issues.values() if one.pull]

    def pull(self) -> Issue:
        (found,) = self.pulls()
        return found

    def branches(self) -> list[str]:
        refs = self.shop.git.refs()
        return sorted(name.removeprefix("refs/heads/") for name in refs if "/ticketsmith/" in name)

    def own_labels(self, issue: Issue) -> list[str]:
        return [one for one in issue.labels if one.startswith("ticketsmith:")]

    def file(self, branch: str, path: str = "price.txt") -> str:
        return self.shop.git.git("show", f"{branch}:{path}")


def _made(town: Town, settings: Settings, choices: Choices, *, guard: Callable[[Any], None]) -> App:
    return ScriptedApp(settings, choices, town.script, guard=guard)
