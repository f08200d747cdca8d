"""`ticketsmith serve`: the server of the GitHub App. It imports no more than it needs."""

from __future__ import annotations

import os

import click

from bot.config import read_settings
from bot.serving import Serving, worker_command


@click.command(short_help="Take GitHub's webhooks, and work on what they ask for.")
@click.option("--no-work", is_flag=True, help="Only take webhooks; `ticketsmith work` works, here or elsewhere.")
@click.pass_context
def serve(ctx: click.Context, no_work: bool) -> None:
    """Take GitHub's webhooks at /webhook, and work on what they ask for, until told to end.

    A delivery is answered when it is kept. /healthz and /metrics tell how the server does. What happens is told on
    standard error, one JSON object a line. It listens on the loopback address: put a proxy that speaks TLS before it.
    """
    config = ctx.find_root().obj
    serving = Serving(read_settings(os.environ, config))
    serving.run(None if no_work else worker_command(str(config) if config else None))
