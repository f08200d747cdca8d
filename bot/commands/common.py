"""What several commands share: the program put together, options, and output."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from bot.config import read_settings
from bot.exits import PARKED, WITHOUT_PATCH
from bot.node import Look
from bot.run import Run, RunState
from bot.terminal import Terminal
from bot.wording import count
from stages.repository import Repository

if TYPE_CHECKING:
    from bot.app import App
    from bot.book import Book

P = ParamSpec("P")
R = TypeVar("R")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
repository_option = click.option(
    "--repo", "repository", default=".", type=click.Path(path_type=Path), help="A folder of the repository."
)


def work_options(command: Callable[P, R]) -> Callable[P, R]:
    """The options of every command that lets an agent work."""
    for option in (
        click.option("--model", default="", help="As litellm knows it, or offline/repair."),
        click.option("--agent", default="", help="Command of an external program that answers the prompts."),
        click.option(
            "--sandbox",
            type=click.Choice(["auto", "bubblewrap", "landlock", "plain"]),
            metavar="LEVEL",
            help="auto, bubblewrap, landlock or plain.",
        ),
    ):
        command = option(command)
    return command


def with_app(command: Callable[Concatenate[App, P], R]) -> Callable[P, R]:
    """Give the command an App from the settings and from the work options that it takes."""

    @click.pass_context
    @wraps(command)
    def called(ctx: click.Context, /, *args: Any, **options: Any) -> Any:
        from bot.app import App, Choices  # with all that a run needs: not for the list of runs

        choices = Choices(
            model=options.pop("model", ""),
            agent=_command(options.pop("agent", "")),
            sandbox=options.pop("sandbox", None) or "",
            attempts=options.pop("attempts", None),
        )
        app = App(read_settings(os.environ, ctx.find_root().obj), choices)
        return ctx.invoke(command, app, *args, **options)

    return called


def with_book(command: Callable[Concatenate[Book, P], R]) -> Callable[P, R]:
    """Give the command the database that the settings name, and nothing that works on a run."""

    @click.pass_context
    @wraps(command)
    def called(ctx: click.Context, /, *args: Any, **options: Any) -> Any:
        from bot.book import open_book

        settings = read_settings(os.environ, ctx.find_root().obj)
        return ctx.invoke(command, open_book(settings), *args, **options)

    return called


def _command(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise click.UsageError(f"--agent is no command: {error}.") from error


def program() -> str:
    """How a person calls this program here."""
    return "ticketsmith" if shutil.which("ticketsmith") else os.path.relpath(sys.argv[0])


def open_repository(path: Path) -> Repository:
    return Repository.open(path)


def out() -> Terminal:
    return Terminal(sys.stdout)


def err() -> Terminal:
    return Terminal(sys.stderr)


def finish(app: App, run: Run) -> int:
    """Say where a run stands, in a few lines, and give the exit status that fits."""
    terminal = out()
    match run.state:
        case RunState.PUBLISHED:
            terminal.line(f"Published: branch {run.branch}", Look.GOOD)
            terminal.line(f"  patch    {app.publisher.path(run, 'patch.diff')}")
            terminal.line(f"  summary  {app.publisher.path(run, 'summary.md')}")
            terminal.line(f"  run      {program()} runs show {run.id}")
            terminal.line(f"  merged?  {program()} runs verify {run.id}")
            if unread := app.stores.notes.unread(run.scope, run.ticket.id):
                late = f"{count(len(unread), 'note')} came too late for this patch"
                terminal.line(f"  unread   {late}: {program()} runs requeue {run.id} NOTE goes on", Look.BAD)
            return 0
        case RunState.PARKED:
            terminal.line(f"Parked ({run.park_cause}): {run.park_reason}", Look.BAD)
            terminal.line(f"  Then: {program()} runs retry {run.id}")
            return PARKED
        case _:
            terminal.line(f"Ended: {run.outcome}", Look.BAD)
            terminal.line(f"  summary  {app.publisher.path(run, 'summary.md')}")
            terminal.line(f"  run      {program()} runs show {run.id}")
            return WITHOUT_PATCH
