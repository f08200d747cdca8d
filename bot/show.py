"""How one run is shown: as a tree."""

from __future__ import annotations

import io

from bot.record import RunRecord
from bot.story import story
from bot.terminal import Terminal


def show_run(record: RunRecord, terminal: Terminal, *, verbose: bool = False) -> None:
    """Print the run as a tree."""
    terminal.tree(story(record, verbose=verbose))


def run_text(record: RunRecord, *, verbose: bool = False) -> str:
    """The tree as text without colours."""
    text = io.StringIO()
    show_run(record, Terminal(text), verbose=verbose)
    return text.getvalue()
