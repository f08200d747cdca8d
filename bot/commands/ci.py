"""`ticketsmith ci`: one run inside a job of GitHub Actions, and the job after it that publishes."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bot.app import App
from bot.ci.bundle import read_bundle, write_bundle
from bot.ci.job import Nothing, asked
from bot.ci.publishing import PublishingJob
from bot.ci.working import WorkingJob
from bot.commands.common import err, open_repository, out, repository_option, with_app, work_options
from bot.errors import WrongInput
from bot.forge.errors import ForgeFault
from bot.forge.github import Forge
from bot.log import open_log
from bot.progress import Progress
from stages.remote import RemoteFault

_event = click.option(
    "--event",
    "event",
    required=True,
    envvar="GITHUB_EVENT_PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The event of this job; GITHUB_EVENT_PATH.",
)
_name = click.option(
    "--event-name", "name", required=True, envvar="GITHUB_EVENT_NAME", help="What it is called; GITHUB_EVENT_NAME."
)


class NoToken(WrongInput):
    """There is no token: give the job the variable GITHUB_TOKEN, with `issues: read` for the run, and with
    `contents: write`, `issues: write`, `pull-requests: write` and `checks: write` to publish.
    """


@click.group(invoke_without_command=True, short_help="One run inside a job of GitHub Actions.")
@click.option("--bundle", default="ticketsmith-bundle.json", type=click.Path(path_type=Path), help="Where to leave it.")
@click.option("--event", envvar="GITHUB_EVENT_PATH", type=click.Path(path_type=Path), help="GITHUB_EVENT_PATH.")
@click.option("--event-name", "name", envvar="GITHUB_EVENT_NAME", default="", help="GITHUB_EVENT_NAME.")
@repository_option
@work_options
@click.pass_context
def ci(ctx: click.Context, /, bundle: Path, event: Path | None, name: str, repository: Path, **options: str) -> None:
    """Do what the event of this job asks for, and leave what came of it in a bundle for `ticketsmith ci publish`.

    The token of this job needs to read only. Exit status 0 also when there was nothing to do, or the run ended without
    a patch: a person who may not ask for a run is no reason for a red check.
    """
    if ctx.invoked_subcommand is None:
        if event is None or not name:
            raise click.UsageError("--event and --event-name say what to do; in a job they are set.")
        ctx.invoke(_work, event=event, name=name, repository=repository, bundle=bundle, **options)


@click.command()
@with_app
def _work(app: App, event: Path, name: str, repository: Path, bundle: Path) -> None:
    job = asked(name, event, app.settings.app, app.book.now())
    if isinstance(job, Nothing):
        out().line(f"Nothing to do: {job.why}")
        return
    working = WorkingJob(app, _forge(app), open_repository(repository), open_log(app.scrubber.scrub))
    try:
        remembered = working.remember(job)
        out().line(f"Memory: {remembered.known} endings of earlier runs")
    except (RemoteFault, ForgeFault) as fault:
        err().line(f"Memory could not be read, so this run begins without it: {' '.join(str(fault).split())}")
    with Progress(err()) as progress:
        done = working.work(job, progress)
    write_bundle(bundle, done)
    out().line(f"{done.state.value.capitalize()}{f': {done.said}' if done.said else ''}")
    out().line(f"  bundle   {bundle}")


@ci.command()
@click.argument("bundle", type=click.Path(path_type=Path))
@_event
@_name
@click.option("--account", default="github-actions[bot]", help="The account that the token acts as.")
@repository_option
@with_app
def publish(app: App, bundle: Path, event: Path, name: str, account: str, repository: Path) -> None:
    """Publish what a bundle holds: branch, pull request, check run and comment, and the endings on the memory's branch.

    Nothing of the repository is run. The patch is checked again, whoever may ask is looked at again, and what does not
    hold is refused with exit status 1.
    """
    job = asked(name, event, app.settings.app, app.book.now())
    if isinstance(job, Nothing):
        out().line(f"Nothing to do: {job.why}")
        return
    forge, log = _forge(app), open_log(app.scrubber.scrub)
    publishing = PublishingJob(app, forge, open_repository(repository), log, me=forge.account(account).id)
    out().line(publishing.publish(job, read_bundle(bundle)).capitalize())


def _forge(app: App) -> Forge:
    token = os.environ.get("GITHUB_TOKEN")
    if not token:
        raise NoToken
    return Forge.for_token(token, base_url=app.settings.app.base_url)
