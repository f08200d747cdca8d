"""One defect through the whole program: repository, ticket, run, gate; and what that took."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.app import App, Choices
from bot.config import Settings
from bot.facts import EventRecord, Judged
from bot.progress import Progress
from bot.run import Run, RunState
from bot.terminal import Terminal
from bot.ticket_file import read_ticket
from stages.git import Git, GitFailed
from stages.journal import ModelAnswered, ToolUsed
from stages.offline import MODEL
from stages.repository import Repository

BRANCH: Final = "main"
CONFIG: Final = """\
[checks.pytest]
pytest = []
timeout_seconds = 60  # none of these suites takes ten: a test that hangs is known after twelve
"""
_COVERAGE: Final = '"coverage": true'
_SEARCHED: Final = ("develop", "refix")


@dataclass(frozen=True, kw_only=True)
class Worked:
    """What a run came to. `patched` are the files of the patch as they would be after a merge.

    `searched` counts the runs of candidates, `tools` all tool calls, both over all attempts. `cpu` are the seconds of
    this process, and of what it started outside the sandbox: what runs in there is not its child to wait for.
    """

    run: Run
    patched: Mapping[str, str]
    searched: int
    tools: int
    turns: int
    holds: int
    seconds: float
    cpu: float

    @property
    def repaired(self) -> bool:
        """True when the gate passed a patch."""
        return self.run.state is RunState.PUBLISHED

    def as_json(self) -> dict[str, Any]:
        return {
            "repaired": self.repaired,
            "outcome": self.run.outcome or self.run.park_reason or self.run.state.value,
            "candidate_runs": self.searched,
            "tool_calls": self.tools,
            "held": self.holds,
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu, 2),
        }


def repository(folder: Path, files: Mapping[str, bytes], message: str = "Begin") -> Path:
    """A git repository with these files in one commit."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in {**files, ".github/ticketsmith.toml": CONFIG.encode()}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    git = Git(folder=folder)
    git.run("init", "--quiet", f"--initial-branch={BRANCH}")
    git.run("add", "--all", "--force")
    git.run("commit", "--quiet", f"--message={message}")
    return folder


def ticket_text(test: str, account: str) -> str:
    """A ticket as a person writes it who pastes what pytest says."""
    shown = account.replace("```", "'''")
    return f"# {test} fails\n\nOn a clean checkout of {BRANCH}:\n\n```\n{shown}\n```\n"


def app(home: Path, *, candidate_runs: int, attempts: int = 3) -> App:
    """The program as `ticketsmith fix --model offline/repair` puts it together."""
    settings = Settings(
        home=home,
        database=home / "ticketsmith.sqlite",
        model=MODEL,
        candidate_runs=candidate_runs,
        attempts=attempts,
    )
    return App(settings, Choices(model=MODEL))


def work(program: App, repository: Path, ticket: Path, base: str | None = None) -> Worked:
    """`ticketsmith fix TICKET --repo REPOSITORY --base BASE`."""
    cpu, began = _cpu(), time.perf_counter()
    found = Repository.open(repository)
    run = program.open_run(read_ticket(ticket, found.folder), found, found.resolve(base))
    with Progress(Terminal(io.StringIO())) as progress:
        run = program.pursue(run, progress)
    seconds, cpu = time.perf_counter() - began, _cpu() - cpu
    facts = list(program.stores.events.of(run.id))
    return Worked(
        run=run,
        patched=_patched(repository, run),
        searched=_searched(facts),
        tools=sum(isinstance(event.fact, ToolUsed) for event in facts),
        turns=sum(isinstance(event.fact, ModelAnswered) for event in facts),
        holds=sum(isinstance(event.fact, Judged) and bool(event.fact.cause) for event in facts),
        seconds=seconds,
        cpu=cpu,
    )


def merge(program: App, repository: Path, run: Run) -> None:
    """What a maintainer does with a published patch, and `ticketsmith runs verify RUN` after it."""
    git = Git(folder=repository)
    git.run("merge", "--quiet", "--no-ff", "--message=Merge a repair", run.branch)
    with Progress(Terminal(io.StringIO())) as progress:
        program.verify(run, None, progress)


def _cpu() -> float:
    return sum(os.times()[:4])


def _searched(events: Iterable[EventRecord]) -> int:
    """Runs of a check while a patch was looked for, without those for coverage."""
    return sum(
        1
        for event in events
        if event.step in _SEARCHED and isinstance(event.fact, ToolUsed) and event.fact.tool == "run"
        if _COVERAGE not in event.fact.arguments  # which are cut when there are many tests, behind it
    )


def _patched(repository: Path, run: Run) -> dict[str, str]:
    if not run.branch:
        return {}
    git = Git(folder=repository)
    names = git.run("diff", "--name-only", "-z", run.base, run.branch).decode().split("\0")
    texts: dict[str, str] = {}
    for name in filter(None, names):
        try:
            texts[name] = git.run("show", f"{run.branch}:{name}").decode("utf-8", "replace")
        except GitFailed:  # a file that the patch takes away
            texts[name] = ""
    return texts
