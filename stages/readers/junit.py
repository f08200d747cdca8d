"""Reads JUnit XML as test runners of many languages write it, from hostile hands: no entity, no bomb, no half file."""

from __future__ import annotations

import io
import math
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from stages.readers.told import Tally, Unreadable
from stages.report import Outcome

_DEPTH_AT_MOST: Final = 100
_NO_DOCTYPE: Final = (
    "it has a <!DOCTYPE>, which results never need and which may hide a bomb: have the check write XML without one"
)
_FAILED: Final = frozenset({"failure", "error"})
_NOT_RUN: Final = frozenset({"notrun", "disabled", "skipped", "ignored"})  # values of `status` of some writers
_SAYS_NOTHING: Final = frozenset({"", "test"})  # classes of a runner that has none


def read(data: bytes, tally: Tally) -> None:
    """Count the tests of one file. Raises Unreadable for what is no whole JUnit file."""
    try:
        _read(data, tally)
    except ParseError as error:
        raise Unreadable(f"it is no XML: {error}") from error
    except DefusedXmlException as error:
        raise Unreadable(_NO_DOCTYPE) from error
    except (ValueError, LookupError) as error:  # an encoding that nobody knows, a NUL in a name
        raise Unreadable(f"it is no XML that can be read: {error}") from error


def _read(data: bytes, tally: Tally) -> None:
    above: list[Element] = []
    failed_before: list[int] = []
    for event, element in iterparse(io.BytesIO(data), events=("start", "end"), forbid_dtd=True):
        if event == "start":
            if not above and _tag(element) not in ("testsuites", "testsuite"):
                raise Unreadable(f"it begins with <{_tag(element)[:40]}>, which is no result of tests")
            above.append(element)
            failed_before.append(tally.failed)
            if len(above) > _DEPTH_AT_MOST:
                raise Unreadable(f"it is nested more than {_DEPTH_AT_MOST} deep")
            continue
        above.pop()
        before = failed_before.pop()
        match _tag(element):
            case "testcase":
                _case(element, above, tally)
            case "testsuite" | "testsuites" if _declared(element) and tally.failed == before:
                # It failed as a whole, in its set-up for instance, and no test of it says so.
                tally.add(_place(element, above) or "(all)", Outcome.FAILED, message="the suite failed as a whole")
        if above and _tag(element) in ("testcase", "testsuite", "system-out", "system-err", "properties"):
            above[-1].remove(element)  # a million of them are never held at once


def _case(case: Element, above: list[Element], tally: Tally) -> None:
    outcome, problem = Outcome.PASSED, None
    for child in case:
        if _tag(child) in _FAILED:
            outcome, problem = Outcome.FAILED, child
            break
        if _tag(child) == "skipped":
            outcome = Outcome.SKIPPED
    if outcome is Outcome.PASSED and case.get("status", "").lower() in _NOT_RUN:
        outcome = Outcome.SKIPPED
    text = "" if problem is None else (problem.text or "")
    tally.add(
        "::".join(filter(None, (_place(case, above), case.get("name") or "(without a name)"))),
        outcome,
        kind="" if problem is None else problem.get("type", ""),
        message="" if problem is None else problem.get("message") or text.strip().partition("\n")[0],
        text=text,
        seconds=_seconds(case.get("time", "")),
    )


def _place(element: Element, above: list[Element]) -> str:
    """Where a test stands: its file, its class, or the names of its suites."""
    named = element.get("classname", "")
    suites = [suite.get("name", "") for suite in (*above, element) if _tag(suite) == "testsuite"]
    where = " > ".join(filter(None, suites)) if named in _SAYS_NOTHING else named
    file = element.get("file", "")
    return where if not file or where.startswith(file) else f"{file}::{where}" if where else file


def _declared(suite: Element) -> bool:
    """True when a suite says of itself that something in it failed."""
    for name in ("failures", "errors"):
        try:
            if int(suite.get(name) or 0) > 0:
                return True
        except ValueError as error:
            raise Unreadable(f"its number of {name} is none") from error
    return False


def _seconds(text: str) -> float:
    try:
        seconds = float(text.replace(",", "") or 0)  # a comma between thousands, as Surefire writes it
    except ValueError as error:
        raise Unreadable(f"the time of a test is no number: {text[:40]!r}") from error
    if not math.isfinite(seconds):
        raise Unreadable(f"the time of a test is no number: {text[:40]!r}")
    return max(0.0, seconds)


def _tag(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
