"""Figures of this process in the text format of Prometheus. Labels come from closed sets, never from what arrives."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 8.0)  # bounds of the buckets
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts answers to deliveries and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, int, str]] = Counter()
        self._buckets = [0] * (len(SECONDS) + 1)
        self._seconds = 0.0

    def answered(self, event: str, status: int, decision: str, seconds: float) -> None:
        """One answer. `event` and `decision` are names of ours; empty where none is known."""
        with self._lock:
            self._answers[event, status, decision] += 1
            place = next((at for at, bound in enumerate(SECONDS) if seconds <= bound), len(SECONDS))
            self._buckets[place] += 1
            self._seconds += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything as text; `gauges` are values of this moment, by name."""
        with self._lock:
            answers, buckets, seconds = dict(self._answers), list(self._buckets), self._seconds
        return "\n".join([*_counter(answers), *_histogram(buckets, seconds), *_gauges(gauges.items())]) + "\n"


def _counter(answers: Mapping[tuple[str, int, str], int]) -> Iterator[str]:
    name = "ticketsmith_deliveries_total"
    yield f"# HELP {name} Answers to deliveries."
    yield f"# TYPE {name} counter"
    for (event, status, decision), count in sorted(answers.items()):
        yield f'{name}{{event="{event}",status="{status}",decision="{decision}"}} {count}'


def _histogram(buckets: list[int], seconds: float) -> Iterator[str]:
    name = "ticketsmith_delivery_seconds"
    yield f"# HELP {name} Time from the last header of a delivery to its answer."
    yield f"# TYPE {name} histogram"
    total = 0
    for bound, count in zip((*map(str, SECONDS), "+Inf"), buckets, strict=True):
        total += count
        yield f'{name}_bucket{{le="{bound}"}} {total}'
    yield f"{name}_sum {seconds:.6f}"
    yield f"{name}_count {total}"


def _gauges(gauges: Iterable[tuple[str, float]]) -> Iterator[str]:
    for name, value in gauges:
        yield f"# TYPE ticketsmith_{name} gauge"
        yield f"ticketsmith_{name} {value:g}"
