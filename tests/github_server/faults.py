"""What goes wrong, by script: which request, how often, and how."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Fault:
    """For requests whose `VERB /path` fits `match`, after `skip` of them, `times` times.

    `status` answers in place of the real answer, and `stored` says that what was asked happens all the same, before.
    `delay` waits (seconds); with `stored`, after the effect. `reset` closes the connection without an answer; with
    `stored`, after the effect. `trickle` sends that many bytes a second. `hang` never answers, until the server ends.
    """

    match: str
    times: int = 1
    skip: int = 0
    status: int = 0
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    stored: bool = False
    delay: float = 0.0
    reset: bool = False
    trickle: float = 0.0
    hang: bool = False
    seen: int = 0

    def takes(self, line: str) -> bool:
        if not re.fullmatch(self.match, line):
            return False
        self.seen += 1
        return self.skip < self.seen <= self.skip + self.times

    @property
    def happened(self) -> int:
        """How many requests it met."""
        return max(0, min(self.seen - self.skip, self.times))


class Faults:
    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> Fault:
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def of(self, line: str) -> Fault | None:
        """The first that takes this request."""
        with self._lock:
            return next((fault for fault in self._faults if fault.takes(line)), None)
