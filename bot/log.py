"""The log of long-running processes: events with fields, one JSON object a line. The only door to structlog.

Never a token, never a body: values are scrubbed and cut, and no character of theirs can break or colour a line.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TextIO
from uuid import UUID

VALUE_AT_MOST: Final = 500  # characters
_FRAMES_AT_MOST: Final = 12
_KNOWN_AT_MOST: Final = 1_000  # values that were cleaned before: most lines say the same words
_DELETE: Final = "\x7f"


class Log:
    """Writes events to a stream, standard error by default; `clean` takes secrets out of every value."""

    def __init__(
        self,
        clean: Callable[[str], str] = str,
        stream: TextIO | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        # Imported here: commands that log nothing do not pay for it.
        import structlog

        self._clean_text, self._now = lru_cache(_KNOWN_AT_MOST)(clean), now
        self._logger = structlog.wrap_logger(
            structlog.PrintLogger(stream or sys.stderr), processors=[self._line], wrapper_class=structlog.BoundLogger
        )

    def info(self, event: str, **fields: object) -> None:
        self._write(event, level="info", **fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write(event, level="warning", **fields)

    def error(self, event: str, **fields: object) -> None:
        self._write(event, level="error", **fields)

    def exception(self, event: str, **fields: object) -> None:
        """An error with what is being raised just now: its kind, its words and where it came from."""
        raised = sys.exc_info()[1]
        if raised is not None:
            frames = traceback.extract_tb(raised.__traceback__)[-_FRAMES_AT_MOST:]
            where = [f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in frames]
            fields = {
                **fields,
                "error": type(raised).__name__,
                "said": str(raised),
                "where": " < ".join(reversed(where)),
            }
        self._write(event, level="error", **fields)

    def _write(self, event: str, **fields: object) -> None:
        """A full disk or a closed pipe costs the line, and never the work that it tells of."""
        with suppress(OSError):
            self._logger.msg(event, **fields)

    def _line(self, _logger: Any, _method: str, event: Mapping[str, object]) -> str:
        line = {"at": self._now().isoformat(timespec="milliseconds")}
        line |= {name: self._plain(event[name]) for name in ("level", "event", *event)}
        # Escapes whatever is not ASCII too: invisible and bidirectional characters, and every kind of line end.
        return json.dumps(line, ensure_ascii=True, separators=(",", ":")).replace(_DELETE, "\\u007f")

    def _plain(self, value: object) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, UUID):
            return str(value)  # an id of a known form: no text, and a new one in each line
        text = self._clean_text(str(value).encode("utf-8", "replace").decode())
        return text if len(text) <= VALUE_AT_MOST else f"{text[:VALUE_AT_MOST]}…"


def open_log(clean: Callable[[str], str], stream: TextIO | None = None) -> Log:
    """A log on a stream, standard error by default, whose values have gone through `clean`."""
    return Log(clean, stream)
