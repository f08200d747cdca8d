"""`ticketsmith ci`: one event inside jobs of GitHub Actions. One looks, one receives, one works, one publishes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import click

from bot.app import App
from bot.ci.bundle import write_bundle
from bot.ci.job import Nothing, asked
from bot.ci.looking import LookingJob
from bot.ci.publishing import PublishingJob
from bot.ci.receiving import ReceivingJob
from bot.ci.working import WorkingJob
from bot.commands.common import err, open_repository, out, repository_option, with_app, work_options
from bot.engine.outcome import Settled, ToWork, Waits
from bot.errors import WrongInput
from bot.exits import PARKED
from bot.forge.github import Forge
from bot.job import NewJob
from bot.log import open_log
from bot.progress import Progress

T = TypeVar("T")
ACCOUNT: Final = "github-actions[bot]"


class NoToken(WrongInput):
    """There is no token: give the job the variable GITHUB_TOKEN. To look and to work it needs to read only; to receive
    and to publish it needs `contents: write`, `issues: write` and `pull-requests: write`, and `checks: write` too.
    """


class NoIssue(WrongInput):
    """Which issue? This event does not name one: `--issue` does, as `ticketsmith ci look` found it."""


def _event(command: Callable[..., T]) -> Callable[..., T]:
    """The options that say what to do; in a job they are set by variables."""
    for option in (
        click.option("--event", required=True, envvar="GITHUB_EVENT_PATH", type=click.Path(path_type=Path)),
        click.option("--event-name", "name", required=True, envvar="GITHUB_EVENT_NAME"),
    ):
        command = option(command)
    return command


_issue = click.option("--issue", type=click.IntRange(min=1), help="As `ticketsmith ci look` found it.")
_output = click.option(
    "--output", envvar="GITHUB_OUTPUT", type=click.Path(path_type=Path), help="Where to tell the job; GITHUB_OUTPUT."
)
_account = click.option("--account", default=ACCOUNT, help="The account that the token acts as.")


@click.group(invoke_without_command=True, short_help="One event inside jobs of GitHub Actions.")
@click.option("--bundle", default="ticketsmith-bundle.json", type=click.Path(path_type=Path), help="Where to leave it.")
@click.option("--event", envvar="GITHUB_EVENT_PATH", type=click.Path(path_type=Path), help="GITHUB_EVENT_PATH.")
@click.option("--event-name", "name", envvar="GITHUB_EVENT_NAME", default="", help="GITHUB_EVENT_NAME.")
@_issue
@repository_option
@work_options
@click.pass_context
def ci(ctx: click.Context, /, bundle: Path, event: Path | None, name: str, **options: object) -> None:
    """Work on what `ticketsmith ci receive` wrote down of an event, and leave what came of it in a bundle for
    `ticketsmith ci publish`.

    The token of this job needs to read only. Exit status 0 also when there was nothing to do, or the run ended without
    a patch: a person who may not ask for a run is no reason for a red check.
    """
    if ctx.invoked_subcommand is None:
        if event is None or not name:
            raise click.UsageError("--event and --event-name say what to do; in a job they are set.")
        ctx.invoke(_work, event=event, name=name, bundle=bundle, **options)


@click.command()
@with_app
def _work(app: App, event: Path, name: str, issue: int | None, repository: Path, bundle: Path) -> None:
    job = _asked(app, name, event)
    if isinstance(job, Nothing):
        return _nothing(job)
    working = WorkingJob(app, _forge(app), open_repository(repository), open_log(app.scrubber.scrub))
    with Progress(err()) as progress:
        done = working.work(job, _number(job, issue), progress)
    if isinstance(done, Nothing):
        return _nothing(done)
    write_bundle(bundle, done)
    out().line(f"{done.state.value.capitalize()}{f': {done.said}' if done.said else ''}")
    out().line(f"  bundle   {bundle}")
    return None


@ci.command()
@_event
@click.option("--aside-of", default="", envvar="GITHUB_RUN_ID", help="What tells this job apart; GITHUB_RUN_ID.")
@_output
@repository_option
@with_app
def look(app: App, event: Path, name: str, aside_of: str, output: Path | None, repository: Path) -> None:
    """Say which issues an event is about, and whether whoever sent it may have the jobs of these wait or stop.

    Tells `issues`, a list; `aside`, the end of the name of their group; and `stops`. The token needs to read only.
    """
    job = _asked(app, name, event)
    if isinstance(job, Nothing):
        tell(output, {"issues": "[]", "aside": "", "stops": "false"})
        return _nothing(job)
    found = LookingJob(app, _forge(app), open_repository(repository), open_log(app.scrubber.scrub)).look(job)
    aside = f"-aside-{aside_of}" if found.aside else ""
    tell(output, {"issues": json.dumps(found.issues), "aside": aside, "stops": json.dumps(found.stops)})
    out().line(f"{found.why[:1].upper()}{found.why[1:]}: issues {json.dumps(found.issues)}")
    return None


@ci.command()
@_event
@_issue
@click.option("--aside", is_flag=True, help="Another job may be at work on the issue.")
@_account
@_output
@repository_option
@with_app
def receive(
    app: App,
    event: Path,
    name: str,
    issue: int | None,
    aside: bool,
    account: str,
    output: Path | None,
    repository: Path,
) -> None:
    """Answer an event, and write down what is to be done; `work` tells whether anything is.

    Nothing of the repository is run. Exit status 75 when GitHub does not let it go on now.
    """
    job = _asked(app, name, event)
    if isinstance(job, Nothing):
        return _nothing(job)
    forge = _forge(app)
    log, me = open_log(app.scrubber.scrub), forge.account(account).id
    receiving = ReceivingJob(app, forge, open_repository(repository), log, me, aside=aside)
    match receiving.receive(job, _number(job, issue)):
        case ToWork():
            tell(output, {"work": "true"})
            out().line("To work")
        case Settled() as settled:
            out().line(settled.outcome.capitalize())
        case Waits() as later:
            err().line(f"Not now: {later.why}. Run this job again after {later.until:%H:%M} UTC.")
            raise click.exceptions.Exit(PARKED)
    return None


@ci.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@_event
@_issue
@_account
@repository_option
@with_app
def publish(app: App, bundle: Path, event: Path, name: str, issue: int | None, account: str, repository: Path) -> None:
    """Publish what a bundle holds: branch, pull request, check run and comment, and the endings on the memory's branch.

    Nothing of the repository is run. The patch is checked again, whoever may ask is looked at again, and what does not
    hold is refused with exit status 1. Of that, and of a bundle that is missing, people are told.
    """
    job = _asked(app, name, event)
    if isinstance(job, Nothing):
        return _nothing(job)
    forge, log = _forge(app), open_log(app.scrubber.scrub)
    publishing = PublishingJob(app, forge, open_repository(repository), log, me=forge.account(account).id)
    number = _number(job, issue)
    done = publishing.publish(job, number, bundle)
    out().line(f"{done[:1].upper()}{done[1:]}")
    return None


def tell(path: Path | None, values: Mapping[str, str]) -> None:
    """Tell the job its outputs, in the way of GitHub Actions: a line for each, in a file. No value has line ends."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())


def _asked(app: App, name: str, event: Path) -> NewJob | Nothing:
    return asked(name, event, app.settings.app, app.book.now(), os.environ)


def _number(job: NewJob, issue: int | None) -> int:
    number = issue or job.number
    if not number:
        raise NoIssue
    return number


def _nothing(nothing: Nothing) -> None:
    out().line(f"Nothing to do: {nothing.why}")


def _forge(app: App) -> Forge:
    token = os.environ.get("GITHUB_TOKEN")
    if not token:
        raise NoToken
    return Forge.for_token(token, base_url=app.settings.app.base_url)
