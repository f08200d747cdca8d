"""`ticketsmith memory calibrate`: how often notes get in that should not, measured on this repository's own data."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bot.app import App
from bot.calibration_svg import svg
from bot.calibration_words import plain, tell
from bot.commands.common import as_json, err, open_repository, out, program, repository_option, with_app
from bot.curves import curves
from bot.labelled import labelled
from bot.node import Look
from bot.progress import Counting
from bot.sources import default_commit, fresh, read_config


@click.command(short_help="Measure how often a wrong note gets in, and set the threshold by it.")
@repository_option
@click.option(
    "--rate",
    default=0.01,
    show_default=True,
    type=click.FloatRange(0, 0.5, min_open=True),
    help="Share of questions that may get a note though none is about them.",
)
@click.option("--picture", type=click.Path(path_type=Path, dir_okay=False), help="Draw the scores into this SVG file.")
@as_json
@with_app
def calibrate(app: App, repository: Path, rate: float, picture: Path | None, as_json: bool) -> None:
    """Measure recall and false admission on the repository's own notes and tickets, and keep the threshold.

    Each note asks the index without itself. Where a hundred tickets are known to be about notes, they are asked
    instead: a note may name its tickets in its front matter (`tickets:`), and tickets of ended runs may name notes.
    """
    found = open_repository(repository)
    commit = default_commit(found)
    config = read_config(found, commit)
    version = fresh(app.stores.memory, app.scope(found), found, commit, config, app.book.now())
    known = labelled(app.stores, version, config.environment)
    with Counting(err(), "Asked") as counting:
        made = app.stores.upkeep.calibrate(version, app.book.now(), known, level=rate, told=counting.told)
    if not made.measured.calibration.notes and not as_json:
        way_out = f"`{program()} memory notes` says what there is"
        out().line(f"Nothing to calibrate or to draw: no note is in use. {way_out}.")
        return
    drawn = curves(made.measured)
    if picture:
        picture.write_text(svg(made.measured.calibration, drawn), "utf-8")
    if as_json:
        click.echo(json.dumps(plain(made, drawn), indent=2))
        return
    tell(made, drawn, out())
    if picture:
        out().line(f"Picture: {picture}", Look.QUIET)
