"""`ticketsmith demo`: `fix`, merge, `verify` and `fix` again, on the bundled repository."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from bot.app import App, Choices
from bot.commands.common import err, out, program
from bot.config import ATTEMPTS, read_settings
from bot.demo import stage
from bot.facts import Asked, Ended, EventRecord, Judged
from bot.node import Look
from bot.progress import Progress
from bot.run import Run, RunState
from bot.ticket_file import read_ticket
from stages import offline
from stages.agents.limits import Limits
from stages.journal import ModelAnswered, ToolUsed
from stages.prompt import EntryPoint
from stages.repository import Repository


@click.command(short_help="Fix a bundled ticket with the embedded model, and show what was learnt.")
@click.pass_context
def demo(ctx: click.Context) -> None:
    """Take two bundled tickets with the same failure through all stages, with the embedded model and no key."""
    settings = read_settings(os.environ, ctx.find_root().obj)
    own = replace(settings, model=offline.MODEL, agent=(), attempts=ATTEMPTS, limits=Limits(), sandbox=None)
    sys.exit(Demo(App(own, Choices(model=offline.MODEL, trusted=True))).show(stage.bundled()))


class Demo:
    """The commands of a person, one after the other."""

    def __init__(self, app: App) -> None:
        self._app = app

    def show(self, source: Traversable) -> int:
        """0 when both tickets were repaired and the first repair was verified."""
        made = stage.build(self._app.settings.home / "demo", self._app.book.now(), source)
        self._head(f"A small shop's till, in {made.repository}")
        _say("The model is offline/repair: a search for small repairs that is built in. It is no language model.")
        self._head(f"1. {made.first.name} on {stage.MAIN_BRANCH}")
        first = self._fix(made.first, made.repository, stage.MAIN_BRANCH)
        self._attempts(first)
        if first.state is not RunState.PUBLISHED:
            return self._last(first, 1)
        self._head("2. A maintainer merges the branch, and the fix is verified there")
        stage.merge(made.repository, first.branch)
        with Progress(err()) as progress:
            first = self._app.verify(first, None, progress)
        _say(f"Run {first.id} ended: {first.outcome}")
        self._lessons(first)
        self._head(f"3. {made.second.name} on {stage.OLD_BRANCH}, where the same failure is still there")
        second = self._fix(made.second, made.repository, stage.OLD_BRANCH)
        self._attempts(second)
        self._section(second)
        self._compared(first, second)
        return self._last(second, 0 if second.state is RunState.PUBLISHED else 1)

    def _fix(self, ticket: Path, repository: Path, branch: str) -> Run:
        found = Repository.open(repository)
        run = self._app.open_run(read_ticket(ticket, found.folder), found, found.resolve(branch))
        with Progress(err()) as progress:
            return self._app.pursue(run, progress)

    def _events(self, run: Run) -> tuple[EventRecord, ...]:
        return self._app.stores.events.of(run.id)

    # --- What is shown ---------------------------------------------------------------------------------------------

    def _attempts(self, run: Run) -> None:
        for event in self._events(run):
            if isinstance(event.fact, Judged):
                self._judged(event.fact)
        where = f"branch {run.branch}" if run.branch else run.outcome or run.park_reason
        _say(f"{run.state.value.capitalize()}: {where}")

    @staticmethod
    def _judged(fact: Judged) -> None:
        if not fact.cause:
            _say(f"Attempt {fact.attempt} passes the gate:", Look.GOOD)
        else:
            _say(f"Attempt {fact.attempt} is held by the gate, cause {fact.cause}:", Look.BAD)
        for line in fact.diff.splitlines():
            if line[:1] in ("-", "+") and line[:3] not in ("---", "+++"):
                _say(f"    {line}", Look.QUOTE)
        for test in fact.failing:
            _say(f"    breaks {test}", Look.BAD)

    def _lessons(self, run: Run) -> None:
        _say("What code wrote down, for every later run of this failure:")
        for event in self._events(run):
            if isinstance(event.fact, Ended):
                for line in event.fact.lines:
                    _say(f"    {line}", Look.QUOTE)

    def _section(self, run: Run) -> None:
        """The context section that stood in front of the first prompt for a patch."""
        for event in self._events(run):
            if isinstance(event.fact, Asked) and event.fact.entry_point == EntryPoint.DEVELOP:
                _say("What stood in front of its prompt, put there by code:")
                for line in event.fact.section.splitlines():
                    _say(f"    {line}", Look.QUOTE)
                return

    def _compared(self, first: Run, second: Run) -> None:
        for name, run in (("without lessons", first), ("with them", second)):
            facts = [event.fact for event in self._events(run) if event.step not in (EntryPoint.VERIFY, "end")]
            calls = sum(isinstance(fact, ModelAnswered) for fact in facts)
            tools = sum(isinstance(fact, ToolUsed) for fact in facts)
            holds = sum(isinstance(fact, Judged) and bool(fact.cause) for fact in facts)
            _say(f"{name:>16}: {calls} model calls, {tools} tool calls, {holds} held", Look.HEAD)

    def _last(self, run: Run, status: int) -> int:
        self._head("Look closer")
        _say(f"    {program()} runs list")
        _say(f"    {program()} runs show {run.id} --verbose")
        return status

    @staticmethod
    def _head(text: str) -> None:
        _say("")
        _say(text, Look.HEAD)


def _say(text: str, look: Look = Look.PLAIN) -> None:
    out().line(text, look)
