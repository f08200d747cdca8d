"""What a workflow of GitHub Actions does: two jobs on fresh machines, each with a checkout and a token of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bot.app import App, Choices
from bot.app_settings import AppSettings
from bot.ci.bundle import Bundle, BundleState, read_bundle, write_bundle
from bot.ci.job import Nothing, asked
from bot.ci.memory_branch import BRANCH, FILE
from bot.ci.publishing import PublishingJob
from bot.ci.working import WorkingJob
from bot.config import Settings
from bot.forge.github import Forge
from bot.job import NewJob
from bot.log import open_log
from stages.git import Git
from stages.repository import Repository
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
READS: Final = {"contents": "read", "issues": "read"}
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

    def event(self) -> tuple[str, Path]:
        """What people did last, as the job finds it: its name and its file. No installation is in it."""
        if self.fixed:
            return self.fixed
        known = [one for one in self.github.state.deliveries if one.payload["sender"]["id"] == self.actor.id]
        delivery = [one for one in known if one.event in ("issues", "issue_comment")][-1]
        path = self.folder / f"event-{delivery.id}.json"
        path.write_text(json.dumps({key: one for key, one in delivery.payload.items() if key != "installation"}))
        return delivery.event, path

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
        return Settings(home=home, database=home / "t.sqlite", app=app)

    def checkout(self) -> Repository:
        """A clone as actions/checkout leaves it: the default branch, and no credential."""
        path = self.folder / f"checkout{self.machines}"
        # By hand: the wrapper reaches no other folder.
        self.shop.git.git("clone", "--quiet", "--branch", "main", str(self.shop.git.path), str(path))
        Git(folder=path).run("remote", "set-url", "origin", f"{self.github.web}/{self.shop.full_name}.git")
        return Repository.open(path)

    def forge(self, permissions: Mapping[str, str]) -> Forge:
        token = self.github.ci_token(self.shop, permissions)
        return Forge.for_token(token, base_url=self.github.url, sleep=lambda _: None)

    def job(self) -> NewJob | Nothing:
        name, path = self.event()
        return asked(name, path, AppSettings(base_url=self.github.url, **self.app_settings), datetime.now(UTC))

    def work(self, script: Script | None = None) -> Bundle:
        """The job that works; what it leaves is in `bundle` too."""
        job = self.job()
        assert isinstance(job, NewJob), job
        app = ScriptedApp(self.settings(), Choices(trusted=True, sandbox="plain"), script or Script.of())
        working = WorkingJob(app, self.forge(READS), self.checkout(), open_log(str, io.StringIO()))
        working.remember(job)
        done = working.work(job, silent())
        write_bundle(self.bundle, done)
        app.book.engine.dispose()
        return done

    def made(self, issue: Issue, **changes: Any) -> Bundle:
        """What the other job would leave of a good patch, without the work."""
        base = self.shop.git.head("main")
        assert base is not None
        good = Bundle(
            repository=self.shop.id,
            number=issue.number,
            state=BundleState.PUBLISHED,
            run="DC6D8RKZRPTW",
            base=base,
            attempt=1,
            diff=GOOD,
        )
        return replace(good, **changes)

    def publish(self, bundle: Bundle | None = None) -> str:
        """The job that publishes, of `bundle` or what the other job left."""
        job = self.job()
        assert isinstance(job, NewJob), job
        app = App(self.settings())
        publishing = PublishingJob(
            app, self.forge(WRITES), self.checkout(), open_log(str, io.StringIO()), me=ACTIONS_BOT_ID
        )
        try:
            return publishing.publish(job, bundle or read_bundle(self.bundle))
        finally:
            app.book.engine.dispose()

    # --- What came of it -------------------------------------------------------------------------------------------

    def said(self, issue: Issue) -> list[str]:
        return [comment.body for comment in issue.comments]

    def pulls(self) -> list[Issue]:
        return [one for one in self.shop.issues.values() if one.pull is not None]

    def memory(self) -> str:
        """The log on the branch."""
        head = self.shop.git.head(BRANCH)
        return self.shop.git.git("show", f"{head}:{FILE}") + "\n" if head else ""


def _taken(_: Delivery) -> int:
    return 200
