"""The log of what runs without a person at a terminal: one JSON object a line, events with fields, never a text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol, TextIO, cast


class Log(Protocol):
    """Where events go. Fields hold ids, names of ours and figures: never a token, and no text of a stranger."""

    def info(self, event: str, **fields: Any) -> Any: ...

    def warning(self, event: str, **fields: Any) -> Any: ...

    def error(self, event: str, **fields: Any) -> Any: ...

    def exception(self, event: str, **fields: Any) -> Any: ...


def open_log(clean: Callable[[str], str], stream: TextIO | None = None) -> Log:
    """A log on a stream, standard error by default, whose lines have gone through `clean`."""
    # Imported here: commands that log nothing do not pay for it.
    import structlog

    class Cleaned:
        def __init__(self, *_: object) -> None:
            self._stream = stream or sys.stderr

        def msg(self, line: str) -> None:
            print(clean(line), file=self._stream, flush=True)

        info = warning = error = exception = msg

    log = structlog.wrap_logger(
        Cleaned(),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )
    return cast("Log", log)
