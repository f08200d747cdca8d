"""What a workflow of GitHub Actions does: jobs on fresh machines, each with a checkout and a token of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.app import App, Choices
from bot.app_settings import AppSettings
from bot.ci.bundle import Bundle, BundleState, write_bundle
from bot.ci.job import Nothing, asked
from bot.ci.looking import Look, LookingJob
from bot.ci.memory_branch import BRANCH, FILE
from bot.ci.publishing import PublishingJob
from bot.ci.receiving import ReceivingJob
from bot.ci.standing import Standing, read_standing
from bot.ci.working import WorkingJob
from bot.config import Settings
from bot.engine.outcome import Outcome, Settled, ToWork
from bot.forge.github import Forge
from bot.job import NewJob
from bot.log import Log, open_log
from stages.repository import Repository
from tests.bot.empty_database import lay_empty_database
from tests.bot.kit import SHOP, Script, ScriptedApp, silent
from tests.github_server.github import GitHub
from tests.github_server.state import ACTIONS_BOT_ID, Delivery, Issue, Person
from tests.github_server.state import Repository as Hosted

GOOD: Final = """\
diff --git a/price.txt b/price.txt
--- a/price.txt
+++ b/price.txt
@@ -1 +1 @@
-1
+3
"""
# What each job's token may do, as the workflow grants it: tests/test_workflows.py compares.
LOOKS: Final = {"contents": "read", "issues": "read", "pull_requests": "read", "checks": "read", "deployments": "read"}
RECEIVES: Final = {**LOOKS, "contents": "write", "issues": "write", "pull_requests": "write"}
READS: Final = {"contents": "read"}
WRITES: Final = {"contents": "write", "issues": "write", "pull_requests": "write", "checks": "write"}


@dataclass
class Workflow:
    """`github` with the repository `acme/shop`, where `ada` may write, and the files of the jobs below `folder`."""

    github: GitHub
    folder: Path
    files: Mapping[str, str] = field(default_factory=dict)
    private: bool = True
    app_settings: dict[str, Any] = field(default_factory=dict)
    machines: int = 0
    events: int = 0
    checkouts: int = 0
    fixed: tuple[str, Path] | None = None
    bob: Person | None = None  # who acts in place of ada

    def __post_init__(self) -> None:
        self.ada = self.github.ada
        self.shop: Hosted = self.github.repository(
            "shop", files={**SHOP, **self.files}, roles={self.ada: "write"}, private=self.private
        )
        self.github.hooks.url = "kept"
        self.github.hooks._send = _taken  # type: ignore[method-assign, assignment]

    # --- What people do --------------------------------------------------------------------------------------------

    def labelled(self, title: str = "The price is wrong", **more: Any) -> Issue:
        body = more.pop("body", "price.txt says 1, we agreed on 3.")
        issue = self.github.people.issue(self.shop, self.ada, title, body)
        self.github.people.label(self.shop, issue, self.ada, **more)
        return issue

    def person(self, name: str, role: str) -> Person:
        """Somebody else with this role."""
        one = self.github.state.add_person(name)
        self.shop.roles[one.id] = role
        return one

    def event(self) -> tuple[str, Path]:
        """What people did last, as the job finds it: its name and its file. No installation is in it."""
        if self.fixed:
            return self.fixed
        known = [one for one in self.github.state.deliveries if one.payload["sender"]["id"] == self.actor.id]
        delivery = [one for one in known if one.event in ("issues", "issue_comment", "pull_request_review")][-1]
        return self._kept(delivery.event, delivery.payload)

    def on(self, name: str, **changes: Any) -> None:
        """The jobs from here on are those of the last event of this name, whoever sent it."""
        delivery = [one for one in self.github.state.deliveries if one.event == name][-1]
        self.fixed = self._kept(name, {**delivery.payload, **changes})

    def given(self, name: str, payload: Mapping[str, Any]) -> None:
        """The jobs from here on have this event."""
        self.fixed = self._kept(name, payload)

    def _kept(self, name: str, payload: Mapping[str, Any]) -> tuple[str, Path]:
        self.events += 1
        path = self.folder / f"event-{self.events}.json"
        path.write_text(json.dumps({key: one for key, one in payload.items() if key != "installation"}))
        return name, path

    # --- The jobs --------------------------------------------------------------------------------------------------

    @property
    def actor(self) -> Person:
        """Whose event it is."""
        return self.bob or self.ada

    @property
    def bundle(self) -> Path:
        return self.folder / "bundle.json"

    def settings(self) -> Settings:
        self.machines += 1
        home = self.folder / f"machine{self.machines}"
        app = AppSettings(base_url=self.github.url, **self.app_settings)
        return Settings(home=home, database=lay_empty_database(home / "t.sqlite"), app=app)

    def checkout(self) -> Repository:
        """A clone as actions/checkout leaves it: the default branch, and no credential."""
        self.checkouts += 1
        path = self.folder / f"checkout{self.checkouts}"
        # By hand: the wrapper reaches no other folder.
        self.shop.git.git("clone", "--quiet", "--template=", "--branch", "main", str(self.shop.git.path), str(path))
        config = path / ".git" / "config"
        text, here = config.read_text(), str(self.shop.git.path)
        assert here in text
        config.write_text(text.replace(here, f"{self.github.web}/{self.shop.full_name}.git"))
        return Repository.open(path)

    def forge(self, permissions: Mapping[str, str]) -> Forge:
        token = self.github.ci_token(self.shop, permissions)
        return Forge.for_token(token, base_url=self.github.url, sleep=lambda _: None)

    def job(self) -> NewJob | Nothing:
        name, path = self.event()
        return asked(name, path, AppSettings(base_url=self.github.url, **self.app_settings), datetime.now(UTC))

    def look(self) -> Look:
        """The job that looks."""
        with self._machine() as (app, checkout):
            return LookingJob(app, self.forge(LOOKS), checkout, _quiet()).look(self._job())

    def receive(self, issue: int | None = None, *, aside: bool = False) -> Outcome:
        """The job that receives, of the issue that the event names."""
        job = self._job()
        with self._machine() as (app, checkout):
            receiving = ReceivingJob(app, self.forge(RECEIVES), checkout, _quiet(), ACTIONS_BOT_ID, aside, _at_once)
            return receiving.receive(job, issue or job.number)

    def work(self, script: Script | None = None, issue: int | None = None) -> Bundle | Nothing:
        """The job that works; what it leaves is in `bundle` too."""
        job = self._job()
        self.bundle.unlink(missing_ok=True)
        with self._machine(script or Script.of()) as (app, checkout):
            done = WorkingJob(app, self.forge(READS), checkout, _quiet()).work(job, issue or job.number, silent())
        if isinstance(done, Bundle):
            write_bundle(self.bundle, done)
        return done

    def publish(self, bundle: Bundle | None = None, issue: int | None = None) -> str:
        """The job that publishes, of `bundle` or what the other job left."""
        job = self._job()
        number = issue or job.number
        with self._machine() as (app, checkout):
            publishing = PublishingJob(app, self.forge(WRITES), checkout, _quiet(), me=ACTIONS_BOT_ID, sleep=_at_once)
            if bundle is not None:
                write_bundle(self.bundle, bundle)
            return publishing.publish(job, number, self.bundle)

    def publish_nothing(self) -> str:
        """The job that publishes, after one that broke down."""
        self.bundle.unlink(missing_ok=True)
        return self.publish()

    def through(self, script: Script | None = None) -> list[str]:
        """All jobs of one event, in their order, as the workflow has them; what each issue came to."""
        if isinstance(self.job(), Nothing):
            return []
        look, came = self.look(), list[str]()
        for issue in look.issues:
            outcome = self.receive(issue, aside=look.aside)
            if isinstance(outcome, ToWork):
                self.work(script, issue)
                came.append(self.publish(issue=issue))
            else:
                came.append(outcome.outcome if isinstance(outcome, Settled) else outcome.why)
        return came

    def made(self, issue: Issue, **changes: Any) -> Bundle:
        """What the job that works would leave of a good patch, without the work; the event is received first."""
        if self.standing(issue) is None:
            assert isinstance(self.receive(), ToWork)
        there = self.standing(issue)
        assert there is not None
        good = Bundle(
            repository=self.shop.id,
            number=issue.number,
            state=BundleState.PUBLISHED,
            run=there.run["id"],
            base=there.run["base"],
            attempt=1,
            diff=GOOD,
        )
        return replace(good, **changes)

    def _job(self) -> NewJob:
        job = self.job()
        assert isinstance(job, NewJob), job
        return job

    @contextmanager
    def _machine(self, script: Script | None = None) -> Iterator[tuple[App, Repository]]:
        """A fresh machine: no database, and a checkout."""
        settings = self.settings()
        app = ScriptedApp(settings, Choices(trusted=True, sandbox="plain"), script) if script else App(settings)
        try:
            yield app, self.checkout()
        finally:
            app.book.engine.dispose()

    # --- What came of it -------------------------------------------------------------------------------------------

    def said(self, issue: Issue) -> list[str]:
        return [comment.body for comment in issue.comments]

    def pulls(self) -> list[Issue]:
        return [one for one in self.shop.issues.values() if one.pull is not None]

    def memory(self) -> str:
        """The log on the branch."""
        return self.there(FILE)

    def there(self, name: str) -> str:
        """A file of the branch that remembers; empty where it is none."""
        head = self.shop.git.head(BRANCH)
        if head is None or name not in self.shop.git.git("ls-tree", "--name-only", head).split("\n"):
            return ""
        return self.shop.git.git("show", f"{head}:{name}") + "\n"

    def standing(self, issue: Issue) -> Standing | None:
        """How the issue's run stands, as the next job reads it."""
        text = self.there(f"run-{issue.number}.json")
        return read_standing(text) if text else None

    def endings(self) -> list[str]:
        return [json.loads(line)["kind"] for line in self.memory().splitlines()]


def _quiet() -> Log:
    return open_log(str, io.StringIO())


def _at_once(_: float) -> None:
    """No write waits for the one before."""


def _taken(_: Delivery) -> int:
    return 200
