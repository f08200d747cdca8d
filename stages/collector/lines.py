"""Which lines of the tree each test ran: by `sys.monitoring` where there is one (PEP 669), else by tracing."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_NOT_OURS = frozenset({".venv", "venv", ".tox", ".nox", "site-packages", "node_modules"})
_TOOLS = (1, 3, 4, 5)  # 1 is the number for coverage; the others may be free where it is taken


class Lines:
    """Counts, for each line of a file below `top`, the failed and the passed tests that ran it."""

    def __init__(self, top: Path) -> None:
        self.hits: dict[str, dict[int, list[int]]] = {}
        self._top = f"{top}/"
        self._paths: dict[str, str | None] = {}
        self._ran: set[tuple[str, int]] = set()
        self._tracer = _Monitoring(self) if sys.version_info >= (3, 12) else _Tracing(self)

    def start(self) -> None:
        """A test begins."""
        self._ran.clear()
        self._tracer.start()

    def stop(self, outcome: str) -> None:
        """The test has ended like this."""
        self._tracer.stop()
        if outcome in ("failed", "passed"):
            for path, line in self._ran:
                self.hits.setdefault(path, {}).setdefault(line, [0, 0])[outcome == "passed"] += 1

    def path(self, code: CodeType) -> str | None:
        """The path of a code object's file below `top`; None for any other."""
        name = code.co_filename
        if name not in self._paths:
            inside = name[len(self._top) :] if name.startswith(self._top) else None
            self._paths[name] = None if inside is None or _NOT_OURS.intersection(inside.split("/")) else inside
        return self._paths[name]

    def ran(self, path: str, line: int) -> None:
        self._ran.add((path, line))


class _Tracing:
    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._before: Any = None

    def start(self) -> None:
        self._before = sys.gettrace()
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(self._before)
        threading.settrace(None)

    def _called(self, frame: FrameType, _event: str, _arg: object) -> Any:
        path, ran = self._lines.path(frame.f_code), self._lines.ran
        if path is None:
            return None

        def line(frame: FrameType, event: str, _arg: object) -> Any:
            if event == "line":
                ran(path, frame.f_lineno)
            return line

        return line


if sys.version_info >= (3, 12):  # pragma: no cover - which of the two runs depends on the interpreter

    class _Monitoring:
        def __init__(self, lines: Lines) -> None:
            self._lines, self._monitoring = lines, sys.monitoring
            self._tool = next(number for number in _TOOLS if self._monitoring.get_tool(number) is None)
            self._monitoring.use_tool_id(self._tool, "ticketsmith")
            events = self._monitoring.events
            self._monitoring.register_callback(self._tool, events.PY_START, self._begun)
            self._monitoring.register_callback(self._tool, events.LINE, self._line)

        def start(self) -> None:
            self._monitoring.set_events(self._tool, self._monitoring.events.PY_START)
            self._monitoring.restart_events()  # each line is told once between two restarts

        def stop(self) -> None:
            self._monitoring.set_events(self._tool, 0)

        def _begun(self, code: CodeType, _offset: int) -> object:
            if self._lines.path(code) is not None:
                self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
            return self._monitoring.DISABLE

        def _line(self, code: CodeType, line: int) -> object:
            path = self._lines.path(code)
            if path is not None:
                self._lines.ran(path, line)
            return self._monitoring.DISABLE

else:
    _Monitoring = _Tracing
