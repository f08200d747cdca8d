"""Whether a red test shows the failure of an alert, and whether a ticket names a test: from signatures and ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.signature import RepoView, shows, signatures
from memory.types import ErrorSignature
from stages.ticket import Ticket

# How pytest reports an assertion, and a `pytest.raises` or `pytest.fail` that did what it is for.
ASSERTIONS: Final = frozenset({"AssertionError", "Failed"})
_OF_PROGRAMS: Final = frozenset({"trace", "test", "message"})  # a test cannot show what a cluster or a server says
_ONE_WORD: Final = re.compile(r"[\w-]+")


def bare(type_: str) -> str:
    """The class of an exception without its module."""
    return type_.rsplit(".", 1)[-1].strip()


def exceptions(alerts: Iterable[ErrorSignature], *, language: str = "") -> tuple[ErrorSignature, ...]:
    """The signatures that a red test must show, of one language if it is named.

    None where the alert has an assertion, which a new test may well put in other words.
    """
    typed = [alert for alert in alerts if alert.type and alert.kind in _OF_PROGRAMS]
    if any(bare(alert.type) in ASSERTIONS for alert in typed):
        return ()
    return tuple(alert for alert in typed if language in ("", alert.language))


def tells(alerts: Sequence[ErrorSignature], output: str, view: RepoView, *, type_: str = "") -> bool:
    """True when the output of a red test shows one of these; an alert without frames is shown by its type alone."""
    seen = signatures("", output, view)
    types = {bare(name) for name in (type_, *(one.type for one in seen)) if name}
    return shows(alerts, seen) or any(not alert.frames and bare(alert.type) in types for alert in alerts)


def says_nothing(output: str, view: RepoView) -> bool:
    """True when there is no failure in the output that could be compared with an alert."""
    return not any(one.type for one in signatures("", output, view))


def names(ticket: Ticket, alerts: Iterable[ErrorSignature], test: str) -> bool:
    """True when the whole id of the test stands in the ticket, or when its alert is of this test. One word is no id."""
    if _ONE_WORD.fullmatch(test):
        return False
    text = f"{ticket.title}\n{ticket.text}"
    if re.search(rf"(?<![\w/.-]){re.escape(test)}(?![\w\[/-]|::|\.\w)", text):
        return True
    file, _, name = test.partition("::")
    return any(alert.kind == "test" and alert.frames == (file, name) for alert in alerts)
