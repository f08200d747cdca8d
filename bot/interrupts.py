"""What ends the program from outside: Ctrl-C, and SIGTERM where a run is worked on in this process."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import wraps
from typing import NoReturn, ParamSpec, TypeVar

from bot.exits import INTERRUPTED, TERMINATED

P = ParamSpec("P")
R = TypeVar("R")


class Terminated(KeyboardInterrupt):
    """The program was told to end by SIGTERM."""


def heeds_sigterm(command: Callable[P, R]) -> Callable[P, R]:
    """Have SIGTERM end the command as Ctrl-C does: what has begun is cleared away, and the run can go on."""

    @wraps(command)
    def called(*args: P.args, **options: P.kwargs) -> R:
        before = signal.signal(signal.SIGTERM, _terminate)
        try:
            return command(*args, **options)
        finally:
            signal.signal(signal.SIGTERM, before)

    return called


def exit_status_after(interrupt: KeyboardInterrupt) -> int:
    """What the program ends with after this interrupt, as a shell tells it of a signal."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def _terminate(*_: object) -> NoReturn:
    raise Terminated
