"""`ticketsmith markers`: the marker probe, for anybody's CI."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from bot.commands.common import err, out
from bot.markers.probe import EMPTY, KNOWN, faults, look
from bot.markers.ways import Way
from bot.node import Look
from bot.progress import Progress
from stages.prompt import EntryPoint


@click.command(short_help="Check the place of the context section at every entry point.")
@click.option("--way", type=click.Choice([one.value for one in Way]), default=None, help="Only this way to a model.")
def markers(way: str | None) -> None:
    """Drive real runs with a model that records its prompts, and check where the context section stands in them.

    Each of the eight entry points is reached with an empty memory and with a known one, and asks by each of three ways
    to a model. Nothing of yours is read or written. Exit status 1 when a marker is not in its place.
    """
    ways = [Way(way)] if way else list(Way)
    found = dict[str, list[str]]()
    with Progress(err()) as progress:
        for known in (False, True):
            memory = f"{'known' if known else 'empty'} memory"
            progress.stage(memory)
            with tempfile.TemporaryDirectory(prefix="ticketsmith-markers-") as folder:
                seen = look(ways, known=known, folder=Path(folder))
            found |= {f"{one}, {memory}": faults(seen[one], KNOWN if known else EMPTY) for one in ways}
    for name, wrong in found.items():
        told = f"{len(wrong)} faults" if wrong else f"all {len(EntryPoint)} entry points"
        out().line(f"{'✗' if wrong else '✓'} {name}: {told}", Look.BAD if wrong else Look.GOOD)
        for fault in wrong:
            out().line(f"    {fault}", Look.BAD)
    sys.exit(1 if any(found.values()) else 0)
