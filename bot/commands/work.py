"""`ticketsmith work`: takes the jobs that arrived, one after the other for each repository."""

from __future__ import annotations

import os

import click

from bot.config import read_settings
from bot.working import Working, leave


@click.command(short_help="Work on what GitHub asked for.")
@click.pass_context
def work(ctx: click.Context) -> None:
    """Work on the jobs that `ticketsmith serve` keeps, until told to end (SIGTERM): then what is being done is put
    down within 30 seconds, and goes on when this is started again.

    Any number of these may work at the same time. What happens is told on standard error, one JSON object a line.
    """
    leave(idle=Working(read_settings(os.environ, ctx.find_root().obj)).run())
