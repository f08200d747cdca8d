"""`ticketsmith memory`: what was learnt, and what a run would read of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from pydantic import TypeAdapter

from bot.app import App
from bot.commands.backfill import backfill
from bot.commands.calibrate import calibrate
from bot.commands.common import as_json, err, open_repository, out, program, repository_option, with_app
from bot.foresight import Foresight, foresee
from bot.node import Look
from bot.sources import default_commit, fresh, read_config
from bot.ticket_file import read_ticket
from bot.why import candidates_told, flaws_told, notes_told, unknown_keys_told
from bot.why_signature import signatures_told
from memory.authorship import NOT_OURS
from memory.lessons import render
from memory.notes import called, flaw
from memory.types import Chunk, Lesson, LessonId
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
    scope = app.scope(open_repository(repository))
    found = app.stores.memory.lessons(scope)
    if as_json:
        click.echo(_LESSONS.dump_json(found, indent=2))
        _alarm(app, app.stores.memory.foreign(scope))
        return
    for lesson in found:
        head, *rest = render(lesson, f"lesson {lesson.id}, seen {lesson.count} ×")
        out().line(head, Look.HEAD)
        for line in rest:
            out().line(f"  {line}")
    foreign = app.stores.memory.foreign(scope)
    if not found and not foreign:
        out().line("No lessons yet: a run writes them when it ends, and a patch when `runs verify` has seen it merged.")
    _alarm(app, foreign)


@memory.command()
@repository_option
@click.option("--yes", is_flag=True, help="Sign them without being asked.")
@with_app
def sign(app: App, repository: Path, yes: bool) -> None:
    """Take lessons that were changed, or signed with a key that is lost, for this program's own as they stand."""
    scope = app.scope(open_repository(repository))
    foreign = app.stores.memory.foreign(scope)
    for lesson in foreign:
        out().line(f"lesson {lesson}")
    if foreign and not yes:
        click.confirm("Whoever can write to the database may have made these. Sign them as they stand?", abort=True)
    out().line(f"Signed: {app.stores.memory.take_over(scope) if foreign else 0}")


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
    chunks, kept = app.stores.memory.chunks(version), app.stores.memory.notes(version)
    if as_json:
        click.echo(_CHUNKS.dump_json(chunks, indent=2))
        for line in flaws_told(kept):
            err().line(line, Look.BAD)
        for line in unknown_keys_told(kept):
            err().line(line, Look.QUIET)
        return
    for chunk in chunks:
        where = f"{chunk.note}#{chunk.anchor}" if chunk.anchor else chunk.note
        out().line(f"{where} · {chunk.heading} · {len(chunk.text)} characters")
    read = {chunk.note for chunk in chunks}
    for line in flaws_told(kept):
        out().line(line, Look.BAD)
    for line in unknown_keys_told(kept):
        out().line(line, Look.QUIET)
    unread = [path for note in kept if (path := called(note)) not in read and not flaw(note)]
    for path in unread:
        out().line(f"{path} · not read: it is retired, empty or binary", Look.QUIET)
    if not kept:
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


def _alarm(app: App, foreign: Sequence[LessonId]) -> None:
    """Say which lessons no prompt is given, and what can be done."""
    if not foreign:
        return
    for lesson in foreign:
        err().line(f"lesson {lesson}: {NOT_OURS}", Look.BAD)
    err().line(
        f"No prompt is given these {len(foreign)}: they are not as they were signed with {app.settings.author_key}."
        f" Put back that key, if it was lost; or `{program()} memory sign` takes them as they stand.",
        Look.BAD,
    )


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
    for line in seen.unread:
        terminal.line(f"  {line}", Look.BAD)


def _told(candidates: Iterable[str]) -> None:
    for line in candidates:
        out().line(f"  {line}", Look.GOOD if line.startswith("in ") else Look.QUIET)
