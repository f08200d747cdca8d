"""`ticketsmith runs`: what happened, and what is to happen next."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING

import click

from bot.commands.common import as_json, err, finish, out, with_app, with_book, work_options
from bot.errors import BeingWorkedOn
from bot.interrupts import exit_status_after, heeds_sigterm
from bot.node import Look
from bot.run import Run, RunState
from bot.run_table import runs_json, show_runs
from bot.wording import short

if TYPE_CHECKING:
    from bot.app import App
    from bot.book import Book


@click.group(short_help="List, show, stop, retry, requeue and verify runs.")
def runs() -> None:
    """Runs by their id, or by the beginning of it."""


@runs.command("list")
@click.option(
    "--state", type=click.Choice([one.value for one in RunState]), default=None, help="Only runs in this state."
)
@as_json
@with_book
def list_runs(book: Book, state: str | None, as_json: bool) -> None:
    """List runs, the newest first, and repositories whose work is paused."""
    from bot.course.breakers import BreakerStore
    from bot.runs import RunStore

    found = RunStore(book).list(RunState(state) if state else None)
    if as_json:
        click.echo(runs_json(found))
    else:
        show_runs(found, out())
    for paused in BreakerStore(book).paused():
        err().line(f"Paused: {paused.said()}", Look.BAD)


@runs.command()
@click.argument("run")
@click.option("--verbose", is_flag=True, help="Every prompt, tool call and answer.")
@as_json
@with_app
def show(app: App, run: str, verbose: bool, as_json: bool) -> None:
    """Show RUN as a tree: what was asked, done, judged and learnt."""
    from bot.record import read_record, record_json
    from bot.show import show_run

    record = read_record(app.book, run)
    if as_json:
        click.echo(record_json(record))
    else:
        show_run(record, out(), verbose=verbose)


@runs.command()
@click.argument("run")
@with_app
def stop(app: App, run: str) -> None:
    """End RUN; what it has done so far is kept. For that of a GitHub issue, `ticketsmith work` does it."""
    found = app.stores.runs.get(run)
    from bot.course import waking  # with all that a run needs: not for the list of runs

    if waking.stop(app, found, _user()):
        out().line(f"Run {found.id} will be ended, and its pull request closed, by `ticketsmith work`.")
        return
    stopped = app.stop(found)
    if stopped.open:
        err().line(f"Run {stopped.id} is told to stop: it ends before its next call.", Look.QUIET)
    else:
        out().line(f"Run {stopped.id} ended: {stopped.outcome}")


@runs.command()
@click.argument("run")
@work_options
@heeds_sigterm
@with_app
def retry(app: App, run: str) -> None:
    """Go on with a parked or interrupted RUN where it stood. That of a GitHub issue is left to `ticketsmith work`."""
    waiting = app.retried(app.stores.runs.get(run))
    from bot.course import waking  # as above

    if waking.wake(app, waiting):
        out().line(f"Run {waiting.id} goes on as soon as a worker takes it: `ticketsmith work`.")
    else:
        work(app, waiting)


@runs.command()
@click.argument("run")
@click.argument("note")
@click.option("--author", default=None, help="Who says so; your user name by default.")
@work_options
@heeds_sigterm
@with_app
def requeue(app: App, run: str, note: str, author: str | None) -> None:
    """Send the ticket of RUN back with NOTE, which its next attempt reads.

    A published patch counts as held by you, and the run goes on with a new attempt. The ticket of a run that has ended
    gets a new run on the commit that is checked out now. For the run of a GitHub issue, `ticketsmith work` does it.
    """
    if not note.strip():
        raise click.UsageError("The note is empty: say what the next attempt has to know.")
    before, author = app.stores.runs.get(run), author or _user()
    from bot.course import waking  # as above

    if waking.requeue(app, before, note, author):
        out().line(f"The note for run {before.id} is kept, and will be taken up by `ticketsmith work`.")
        return
    again = app.requeue(before, note, author)
    try:
        work(app, again)
    except BeingWorkedOn:
        if before.state is not RunState.WORKING:
            raise
        app.hold_for_note(again)
        reads = "reads it before its next attempt, and publishes nothing before that"
        err().line(f"Kept: the process that works on run {again.id} {reads}.", Look.QUIET)


@runs.command()
@click.argument("run")
@click.option("--commit", default=None, help="The merged commit; the tip of the default branch by default.")
@work_options
@heeds_sigterm
@with_app
def verify(app: App, run: str, commit: str | None) -> None:
    """Run the reproduction and the checks where the patch of RUN was merged, and write down whether it holds."""
    from bot.progress import Progress

    with Progress(err()) as progress:
        verified = app.verify(app.stores.runs.get(run), commit, progress)
    worked = verified.outcome == "verify: worked"
    out().line(f"Run {verified.id} ended: {verified.outcome}", Look.GOOD if worked else Look.BAD)
    sys.exit(0 if worked else 1)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may give its user no name
        return "somebody"


def work(app: App, run: Run) -> None:
    """Take a run as far as it goes, with progress, and leave with the exit status that fits."""
    from bot.progress import Progress

    with Progress(err()) as progress:
        progress.note(f"run {run.id} · {short(run.ticket.title)} · base {run.base[:7]}", Look.HEAD)
        try:
            run = app.pursue(run, progress)
        except KeyboardInterrupt as interrupt:
            progress.note(f"Interrupted. Go on with: ticketsmith runs retry {run.id}", Look.BAD)
            sys.exit(exit_status_after(interrupt))
    status = finish(app, run)
    _keep_up(app, run)
    sys.exit(status)


def _keep_up(app: App, run: Run) -> None:
    """Measure memory anew where notes changed: the run is over, so that nothing it says can be changed by this."""
    from bot.progress import Counting
    from bot.upkeep import keep_up
    from memory.errors import MemoryFault

    try:
        with Counting(err(), "Measuring how notes are found:") as counting:
            renewed = keep_up(app.stores, run.scope, told=counting.told)
    except (MemoryFault, KeyboardInterrupt) as fault:
        err().line(f"Notes were not measured anew: {str(fault) or 'interrupted'}", Look.QUIET)
    else:
        if renewed:
            err().line(f"Notes were measured anew: {renewed.measured.calibration.told()}", Look.QUIET)
