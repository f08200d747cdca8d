"""How runs are shown: one as a tree, many as a table."""

from __future__ import annotations

import io
from collections.abc import Iterable

from bot.record import RunRecord
from bot.run import Run, RunState
from bot.story import story
from bot.terminal import Terminal
from bot.wording import money


def show_run(record: RunRecord, terminal: Terminal, *, verbose: bool = False) -> None:
    """Print the run as a tree."""
    terminal.tree(story(record, verbose=verbose))


def show_runs(runs: Iterable[Run], terminal: Terminal) -> None:
    """Print the runs as a table, or one line when there are none."""
    rows = [_row(run) for run in runs]
    if rows:
        terminal.table(("run", "state", "ticket", "title", "attempts", "cost", "begun (UTC)"), rows)
    else:
        terminal.line("No runs. `ticketsmith fix TICKET` begins one.")


def run_text(record: RunRecord, *, verbose: bool = False) -> str:
    """The tree as text without colours."""
    text = io.StringIO()
    show_run(record, Terminal(text), verbose=verbose)
    return text.getvalue()


def _row(run: Run) -> tuple[str, ...]:
    waits = f" ({run.park_cause.value})" if run.state is RunState.PARKED and run.park_cause else ""
    state = run.outcome if run.state is RunState.ENDED and run.outcome else run.state.value
    cost = money(run.spent.money)
    return (run.id, state + waits, run.ticket.id, _short(run.ticket.title), str(run.attempt), cost,
            f"{run.created:%Y-%m-%d %H:%M}")  # fmt: skip


def _short(title: str, at_most: int = 60) -> str:
    return title if len(title) <= at_most else f"{title[: at_most - 3]}..."
