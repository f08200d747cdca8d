"""Many runs at once: a table for people, JSON for programs. Leaves out what one run has to tell, and is quick."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from pydantic import TypeAdapter

from bot.run import Run, RunState
from bot.terminal import Terminal
from bot.wording import money, short

_RUN: Final = TypeAdapter(Any)


def show_runs(runs: Iterable[Run], terminal: Terminal) -> None:
    """Print the runs as a table, or one line when there are none."""
    rows = [_row(run) for run in runs]
    if rows:
        terminal.table(("run", "state", "ticket", "title", "attempts", "cost", "begun (UTC)"), rows)
    else:
        terminal.line("No runs. `ticketsmith fix TICKET` begins one.")


def runs_json(runs: Iterable[Run]) -> str:
    """A list of runs, without their tickets' text and their patches."""
    return json.dumps([_plain(run) for run in runs], ensure_ascii=False, indent=2)


def _plain(run: Run) -> dict[str, Any]:
    plain: dict[str, Any] = _RUN.dump_python(run, mode="json")
    ticket = {"id": run.ticket.id, "title": run.ticket.title, "number": run.ticket.number}
    return {key: value for key, value in plain.items() if key != "patch"} | {"ticket": ticket}


def _row(run: Run) -> tuple[str, ...]:
    waits = f" ({run.park_cause.value})" if run.state is RunState.PARKED and run.park_cause else ""
    state = run.outcome if run.state is RunState.ENDED and run.outcome else run.state.value
    cost = money(run.spent.money)
    return (run.id, state + waits, run.ticket.id, short(run.ticket.title), str(run.attempt), cost,
            f"{run.created:%Y-%m-%d %H:%M}")  # fmt: skip
