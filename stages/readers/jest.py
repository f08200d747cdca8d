"""Reads the JSON that Jest writes with `--json`, and Vitest with its reporter of that name."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from stages.readers.told import Tally, Unreadable
from stages.report import Outcome

_OUTCOMES: Final = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    **dict.fromkeys(("pending", "skipped", "todo", "disabled", "focused"), Outcome.SKIPPED),
}


def read(data: bytes, tally: Tally) -> None:
    """Count the tests of one file. Raises Unreadable for what is not whole."""
    try:
        whole = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON: {error}") from error
    match whole:
        case {"testResults": list() as files, "success": bool() as success}:
            for file in files:
                _file(file, tally)
        case _:
            raise Unreadable("it holds no results of tests")
    if not success and not tally.failed:
        raise Unreadable("it says that something failed, and not what")


def _file(file: Any, tally: Tally) -> None:
    match file:
        case {"name": str() as name, "status": str() as status, "assertionResults": list() as tests}:
            before = tally.failed
            for test in tests:
                _test(name, test, tally)
            if status == "failed" and tally.failed == before:  # it could not even be read
                message = str(file.get("message") or "")
                tally.add(name, Outcome.FAILED, message=message.strip().partition("\n")[0], text=message)
        case _:
            raise Unreadable("a file in it has no name, no status or no tests")


def _test(file: str, test: Any, tally: Tally) -> None:
    match test:
        case {"title": str() as title, "status": str() as status} if status in _OUTCOMES:
            above = [str(one) for one in test.get("ancestorTitles") or ()]
            text = "\n".join(map(str, test.get("failureMessages") or ()))
            kind, _, message = text.partition("\n")[0].partition(": ")
            tally.add(
                "::".join((file, " > ".join((*above, title)))),
                _OUTCOMES[status],
                kind=kind if message and " " not in kind else "",
                message=message or kind,
                text=text,
                seconds=_seconds(test),
            )
        case _:
            raise Unreadable("a test in it has no title, or a status that is not known")


def _seconds(test: Mapping[str, Any]) -> float:
    duration = test.get("duration") or 0
    if not isinstance(duration, int | float) or not math.isfinite(duration):
        raise Unreadable("the time of a test is no number")
    return max(0.0, duration / 1000)


def _no_number(text: str) -> float:
    raise Unreadable(f"it holds {text}, which is no number")
