"""What a run is doing, while it does it: one moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from bot.facts import Decided, Ended, Fact, Judged, Published, Waits
from bot.node import Look
from bot.telling import tell
from bot.terminal import Terminal
from bot.wording import count, duration
from stages.journal import ToolUsed


class Progress:
    """Tells a terminal where a run stands. Used as a context, so that the moving line goes away whatever happens.

    Where it cannot be written, on a full disk or into a closed pipe, the run goes on and nobody is told.
    """

    def __init__(self, terminal: Terminal, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal, self._clock, self._lost = terminal, clock, False
        self._stage, self._attempt, self._tools, self._began = "", 0, 0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def stage(self, name: str) -> None:
        """A stage begins, and the one before it is over."""
        self._close()
        self._stage, self._tools, self._began = name, 0, self._clock()
        if self._terminal.live:
            self._move()
        else:
            self._line(self._name)

    def attempt(self, number: int) -> None:
        """The stages from now on belong to this attempt."""
        self._attempt = number

    def note(self, text: str, look: Look = Look.PLAIN) -> None:
        """Something worth a line."""
        self._line(f"  {text}", look)

    def fact(self, fact: Fact) -> None:
        """What a journal was told: what code decided gets a line, tool calls are counted. Give it as a watcher."""
        match fact:
            case Decided() | Judged() | Ended() | Published() | Waits():
                told = tell(fact, verbose=False)
                self.note(told.text, told.look)
                for line in fact.noticed if isinstance(fact, Judged) else ():
                    self.note(f"  {line}", Look.BAD)
            case ToolUsed():
                self._tools += 1
                self._move(fact.tool)
            case _:
                pass

    def done(self, text: str = "", look: Look = Look.GOOD) -> None:
        """The work is over."""
        self._close()
        if text:
            self._line(text, look)

    @property
    def _name(self) -> str:
        name = self._stage.replace("-", " ").capitalize()
        return f"{name}, attempt {self._attempt}" if self._attempt > 1 else name

    def _move(self, doing: str = "") -> None:
        if self._terminal.live and self._stage:
            calls = f" · {count(self._tools, 'tool call')}, {doing}" if self._tools else ""
            self._try(lambda: self._terminal.moving(self._name + calls))

    def _close(self) -> None:
        self._try(self._terminal.still)
        if self._stage and self._terminal.live:
            self._line(f"{self._name} · {duration(self._clock() - self._began)}", Look.QUIET)
        self._stage = ""

    def _line(self, text: str, look: Look = Look.PLAIN) -> None:
        self._try(lambda: self._terminal.line(text, look))

    def _try(self, show: Callable[[], None]) -> None:
        if not self._lost:
            try:
                show()
            except OSError:
                self._lost = True


class Counting:
    """Tells a terminal how far a long count is: a moving line there, nothing elsewhere. Used as a context."""

    def __init__(self, terminal: Terminal, what: str) -> None:
        self._terminal, self._what = terminal, what

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._terminal.still()

    def told(self, done: int, of: int) -> None:
        """So many are done."""
        if self._terminal.live:
            self._terminal.moving(f"{self._what} {done:,} of {of:,}")
