"""`ticketsmith memory`: what was learnt, and what a run would read of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click
from pydantic import TypeAdapter

from bot.app import App
from bot.commands.backfill import backfill
from bot.commands.calibrate import calibrate
from bot.commands.common import as_json, open_repository, out, repository_option, with_app
from bot.foresight import Foresight, foresee
from bot.node import Look
from bot.sources import default_commit, fresh, read_config
from bot.ticket_file import read_ticket
from bot.why import candidates_told, notes_told
from bot.why_signature import signatures_told
from memory.lessons import render
from memory.types import Chunk, Lesson
from stages.prompt import EntryPoint, render_section

_LESSONS: TypeAdapter[tuple[Lesson, ...]] = TypeAdapter(tuple[Lesson, ...])
_CHUNKS: TypeAdapter[tuple[Chunk, ...]] = TypeAdapter(tuple[Chunk, ...])

entry_point_option = click.option(
    "--entry-point",
    type=click.Choice([one.value for one in EntryPoint]),
    default=EntryPoint.DIAGNOSE.value,
    help="Of which prompt.",
)
ticket_argument = click.argument("ticket", type=click.Path(path_type=Path))


@click.group(short_help="What was learnt, and what a run would read of it.")
def memory() -> None:
    """Memory of one repository."""


@memory.command()
@repository_option
@as_json
@with_app
def lessons(app: App, repository: Path, as_json: bool) -> None:
    """List what was learnt about the repository."""
    found = app.stores.memory.lessons(app.scope(open_repository(repository)))
    if as_json:
        click.echo(_LESSONS.dump_json(found, indent=2))
        return
    for lesson in found:
        head, *rest = render(lesson, f"lesson {lesson.id}, seen {lesson.count} ×")
        out().line(head, Look.HEAD)
        for line in rest:
            out().line(f"  {line}")
    if not found:
        out().line("No lessons yet: each ending of a run writes one.")


@memory.command()
@repository_option
@as_json
@with_app
def notes(app: App, repository: Path, as_json: bool) -> None:
    """List the notes of the default branch, in the chunks in which they are indexed."""
    found = open_repository(repository)
    commit = default_commit(found)
    config = read_config(found, commit)
    version = fresh(app.stores.memory, app.scope(found), found, commit, config, app.book.now())
    chunks = app.stores.memory.chunks(version)
    if as_json:
        click.echo(_CHUNKS.dump_json(chunks, indent=2))
        return
    for chunk in chunks:
        where = f"{chunk.note}#{chunk.anchor}" if chunk.anchor else chunk.note
        out().line(f"{where} · {chunk.heading} · {len(chunk.text)} characters")
    if not chunks:
        out().line(f"No notes: markdown files in {config.notes}/ on the default branch are read.")


@memory.command()
@ticket_argument
@repository_option
@entry_point_option
@with_app
def recall(app: App, ticket: Path, repository: Path, entry_point: str) -> None:
    """Print the context section that a run of TICKET would read."""
    found = open_repository(repository)
    seen = foresee(app, read_ticket(ticket, found.folder), found, EntryPoint(entry_point))
    click.echo(render_section(seen.context), nl=False)


@memory.command()
@ticket_argument
@repository_option
@entry_point_option
@as_json
@with_app
def why(app: App, ticket: Path, repository: Path, entry_point: str, as_json: bool) -> None:
    """Say what was looked for, what got in, and what stayed out and by how much."""
    found = open_repository(repository)
    seen = foresee(app, read_ticket(ticket, found.folder), found, EntryPoint(entry_point))
    if as_json:
        click.echo(json.dumps(seen.plain(), ensure_ascii=False, indent=2))
    else:
        _tell(seen)


memory.add_command(backfill)
memory.add_command(calibrate)


def _tell(seen: Foresight) -> None:
    terminal = out()
    terminal.line("Signatures", Look.HEAD)
    for line in signatures_told(seen.explanation):
        terminal.line(f"  {line}")
    context = seen.context
    terminal.line(f"Lessons: {len(context.lessons.shown)} of {context.lessons.eligible} got in", Look.HEAD)
    _told(candidates_told(context.lessons))
    asked, ruled, *notes = notes_told(context)
    terminal.line(f"{asked[:1].upper()}{asked[1:]}", Look.HEAD)
    terminal.line(f"  {ruled}, memory version {context.version.number}")
    terminal.line(f"  {seen.measured}")
    _told(notes)


def _told(candidates: Iterable[str]) -> None:
    for line in candidates:
        out().line(f"  {line}", Look.GOOD if line.startswith("in ") else Look.QUIET)
