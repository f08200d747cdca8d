"""`ticketsmith doctor`: one line for each thing that the App stands on."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict

import click

from bot.book import utc_now
from bot.commands.common import as_json, out
from bot.config import read_settings
from bot.doctor import Doctor, Finding
from bot.node import Look


@click.command(short_help="Check what the GitHub App stands on, one line each with the way out.")
@as_json
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check settings, key, secret, database, notes, model and sandbox, and on GitHub permissions, events and places.

    Nothing is changed, and no model is called. Exit status 1 when something is wrong.
    """
    settings = read_settings(os.environ, ctx.find_root().obj)
    found = []
    for one in Doctor(settings, now=utc_now).look():
        found.append(one)
        if not as_json:
            _tell(one)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2))
    sys.exit(1 if any(one.ok is False for one in found) else 0)


def _tell(one: Finding) -> None:
    mark, look = {True: ("✓", Look.GOOD), False: ("✗", Look.BAD), None: ("–", Look.QUIET)}[one.ok]
    out().line(f"{mark} {one.name}: {one.said}{f' → {one.way_out}' if one.way_out else ''}", look)
