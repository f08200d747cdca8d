"""Reads the events of `go test -json`, one JSON object a line; see `go doc test2json`."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from stages.readers.told import Tally, Unreadable
from stages.report import Outcome

_ENDS: Final = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED}
_OUTPUT_AT_MOST: Final = 8_000  # characters kept of one test
_FRAMES: Final = ("=== ", "--- ", "FAIL", "PASS", "ok  ", "exit status")

Key = tuple[str, str]  # a package and a test, which is "" for the package itself


def read(data: bytes, tally: Tally) -> None:
    """Count the tests. Raises Unreadable for a line that is cut, or for events that make no sense."""
    lines = data.decode("utf-8", "replace").split("\n")
    if lines.pop():
        raise Unreadable("its last line is cut")
    events = _Events(tally)
    for line in lines:
        if line.startswith("{"):
            events.take(_event(line))
        elif line.startswith("FAIL\t"):  # a package that could not be built, as older versions say it
            events.broken(line.split()[1].partition(" ")[0])
    events.close()


class _Events:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._open: dict[Key, str] = {}
        self._failed: set[str] = set()

    def take(self, event: dict[str, Any]) -> None:
        action, key = event.get("Action"), (str(event.get("Package", "")), str(event.get("Test", "")))
        if action == "output":
            said = self._open.get(key, "")
            if len(said) < _OUTPUT_AT_MOST:
                self._open[key] = said + str(event.get("Output", ""))
        elif action in ("run", "start"):
            self._open.setdefault(key, "")
        elif action in _ENDS:
            self._end(key, _ENDS[action], event.get("Elapsed", 0))

    def broken(self, package: str) -> None:
        if package not in self._failed:
            self._end((package, ""), Outcome.FAILED, 0)

    def close(self) -> None:
        """What began and never ended took its package with it."""
        for package, test in [key for key in self._open if key[1]]:
            self._end((package, test), Outcome.FAILED, 0, message="the run ended in it")

    def _end(self, key: Key, outcome: Outcome, elapsed: object, message: str = "") -> None:
        package, test = key
        said = self._open.pop(key, "")
        if outcome is Outcome.FAILED:
            for other in [one for one in self._open if test == "" and one[0] == package and one[1]]:
                self._end(other, Outcome.FAILED, 0, message="the run ended in it")
        if test or (outcome is Outcome.FAILED and package not in self._failed):
            name = f"{package}::{test}" if test else package
            self._tally.add(name, outcome, message=message or _told(said), text=said, seconds=_seconds(elapsed))
        if outcome is Outcome.FAILED:
            self._failed.add(package)


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"a line of it is no JSON: {error}") from error
    if not isinstance(event, dict):
        raise Unreadable("a line of it is no event")
    return event


def _told(said: str) -> str:
    """The first line that the test itself said."""
    return next((line.strip() for line in said.split("\n") if line.strip() and not _is_frame(line)), "")


def _is_frame(line: str) -> bool:
    return line.lstrip().startswith(_FRAMES)


def _seconds(elapsed: object) -> float:
    if not isinstance(elapsed, int | float) or not math.isfinite(elapsed):
        raise Unreadable("the time of a test is no number")
    return max(0.0, float(elapsed))
