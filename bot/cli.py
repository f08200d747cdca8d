"""The command line: names, help, and what becomes of an error. A command's module is imported when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import click

from bot.exits import UNUSABLE
from bot.interrupts import exit_status_after

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "app": ("bot.commands.app:app", "Make the GitHub App."),
    "ci": ("bot.commands.ci:ci", "One run inside a job of GitHub Actions."),
    "demo": ("bot.commands.demo:demo", "Fix a bundled ticket with the embedded model, and show what was learnt."),
    "doctor": ("bot.commands.doctor:doctor", "Check what the GitHub App stands on, one line each with the way out."),
    "fix": ("bot.commands.fix:fix", "Take a ticket from a file to a tested patch on a branch."),
    "markers": ("bot.commands.markers:markers", "Check the place of the context section at every entry point."),
    "memory": ("bot.commands.memory:memory", "What was learnt, and what a run would read of it."),
    "runs": ("bot.commands.runs:runs", "List, show, stop, retry, requeue and verify runs."),
    "serve": ("bot.commands.serve:serve", "Take GitHub's webhooks, and work on what they ask for."),
    "work": ("bot.commands.work:work", "Work on what GitHub asked for."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and one line of help, and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name][0].split(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self._called(ctx)
        except KeyboardInterrupt as interrupt:  # also while the program loads
            _say("Interrupted.")
            ctx.exit(exit_status_after(interrupt))

    def _called(self, ctx: click.Context) -> Any:
        from bot.last_words import clean
        from bot.leaving import exit_status_of, sentence
        from memory.errors import Told

        try:
            return super().invoke(ctx)
        except Told as error:
            _say(f"Error: {clean(sentence(error))}")
            ctx.exit(exit_status_of(error))
        except BrokenPipeError:
            raise  # whoever read our output has seen enough: click leaves quietly
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _say(clean(f"Error: {where}{error.strerror or error}."))
            ctx.exit(UNUSABLE)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The operator's ticketsmith.toml, else in ~/.config/ticketsmith/.",
)
@click.version_option(package_name="ticketsmith")
@click.pass_context
def ticketsmith(ctx: click.Context, config: Path | None) -> None:
    """Fix tickets, and do not repeat mistakes."""
    ctx.obj = config


def main() -> None:
    """The entry point of the installed command."""
    sys.excepthook = _crashed
    try:
        sys.exit(ticketsmith(prog_name="ticketsmith"))
    finally:
        _let_go_of_errors()


def _crashed(_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    from bot.last_words import traceback_of

    _say(traceback_of(error.with_traceback(trace)))


def _let_go_of_errors() -> None:
    """What standard error still holds and nobody takes would make an exit status of its own, 120."""
    try:
        if sys.stderr is not None:  # as where it was closed before
            sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _say(text: str) -> None:
    """On standard error, as far as it can be written: the exit status is said in any case."""
    with suppress(OSError):
        click.echo(text, err=True)
