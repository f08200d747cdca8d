"""`ticketsmith fix`: a ticket to a tested patch."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bot.app import App
from bot.commands.common import (
    err,
    open_repository,
    repository_option,
    with_app,
    work_options,
)
from bot.commands.runs import work
from bot.interrupts import heeds_sigterm
from bot.issue_ticket import issue_address, read_issue
from bot.node import Look
from bot.ticket_file import read_ticket
from stages.repository import Repository
from stages.ticket import Ticket


@click.command(short_help="Take a ticket from a file to a tested patch on a branch.")
@click.argument("ticket")
@repository_option
@click.option("--base", default=None, help="Branch, tag or commit to work on; what is checked out by default.")
@click.option("--attempts", type=click.IntRange(1, 20), default=None, help="Attempts at most.")
@click.option("--anew", is_flag=True, help="End the ticket's open run, if it has one, and begin again.")
@work_options
@heeds_sigterm
@with_app
def fix(app: App, ticket: str, repository: Path, base: str | None, anew: bool) -> None:
    """Take TICKET, a markdown or JSON file or the address of an issue on GitHub, to a tested patch on a branch.

    An issue is read with the token in GITHUB_TOKEN, and nothing is written to it.
    The run works on a commit, never on your files. Exit status: 0 a patch is published, 1 the run ended without one,
    2 something in the call is wrong, 75 the run is parked, 130 interrupted, 143 told to end by SIGTERM.
    """
    found = open_repository(repository)
    asked = _read(app, ticket, found)
    commit = found.resolve(base)
    warn(found, base)
    if anew:
        app.check(found)
        app.supersede(app.scope(found), asked.id)
    run = app.open_run(asked, found, commit)
    work(app, run)


def _read(app: App, ticket: str, repository: Repository) -> Ticket:
    if (address := issue_address(ticket)) is None:
        return read_ticket(Path(ticket), repository.folder)
    return read_issue(address, app.settings.app, os.environ.get("GITHUB_TOKEN", ""), repository.id)


def warn(repository: Repository, base: str | None) -> None:
    """Say what a person may not expect of the commit that the run works on."""
    if base is None and repository.detached:
        err().line("No branch is checked out: the run works on the commit that is.", Look.QUIET)
    if count := repository.uncommitted():
        err().line(f"{count} changed files are not committed: the run does not see them.", Look.QUIET)
