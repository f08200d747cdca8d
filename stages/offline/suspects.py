"""Which failing tests, or whole checks, a ticket may be about, the one that fits it best first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from stages.agents.embedded import call
from stages.offline.account import exceptions, frames, functions, same_file
from stages.offline.body import Body
from stages.offline.job import LOOK_SECONDS
from stages.offline.paths import is_test_file
from stages.offline.results import Hits
from stages.offline.steps import Steps, run, runs

FITS: Final = 2.0
"""Score from which a failing test goes before a test that is made of the ticket's own code."""
_SHOWN: Final = 3_000.0  # an earlier diagnosis showed it
_ID: Final = 1_000.0  # more than all that a failure may share with a ticket which does not name it
_NAME: Final = 500.0
_CHECKS_AT_MOST: Final = 3
_NAMES_AT_MOST: Final = 3
_TEST_NAME: Final = re.compile(r"(?<![\w/.])test_\w+(?![\w/]|\.py)")
_PLACE: Final = re.compile(r"^\| (?P<path>[^\n:]+\.py):\d+: (?P<indent>\s*)(?:async )?def ", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A failing test: the check that runs it, the account of its failure, and how well it fits the ticket."""

    test: str
    check: str
    account: str = ""
    score: float = 0.0


@dataclass
class Looked:
    """What runs showed: how tests failed, in which check, and what they ran."""

    failed: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    hits: dict[str, Hits] = field(default_factory=dict)


def suspects(body: Body, red: Sequence[str]) -> Steps[tuple[list[Suspect], Mapping[str, Hits]]]:
    """The tests and checks that are red, the one that fits the ticket best first, and what the tests ran.

    A test that the ticket names is among them when it fails, even where no run of its whole check came to it.
    """
    tests = [test for test in red if test not in body.checks]
    looked = Looked()
    yield from _look(body, looked, tests, [test for test in body.held_tests if "::" in test and test not in red])
    failing = [test for test in tests if test in looked.failed or not looked.failed]
    failing += yield from _not_reached(body, looked, tests)
    found = [
        Suspect(
            test=test,
            check=looked.checks.get(test, body.check),
            account=looked.failed.get(test, ""),
            score=_score(body, test, looked.failed.get(test, ""), failing),
        )
        for test in failing
    ]
    whole = [Suspect(test=name, check=name, score=_score_of_check(body, name)) for name in red if name in body.checks]
    return sorted((*found, *whole), key=lambda one: -one.score), looked.hits


def _look(body: Body, looked: Looked, tests: Sequence[str], also: Sequence[str] = ()) -> Steps[None]:
    """Run the tests in one check after the other, until each was run, or seen to fail."""
    # A check that is red as a whole seldom has tests: it goes behind the others.
    names = sorted(dict.fromkeys((body.check, *body.checks)), key=lambda name: name in body.red)
    for check in names[:_CHECKS_AT_MOST]:
        asked = [*(test for test in tests if test not in looked.failed), *also]
        if not set(asked) & set(tests):
            return
        (found,) = yield from runs(run(check, asked, coverage=True, seconds=LOOK_SECONDS))
        if found is None:
            continue
        looked.failed |= found.failed
        looked.hits |= found.hits
        looked.checks |= dict.fromkeys(found.failed, check)
        if found.tests >= len(asked):
            return


def _not_reached(body: Body, looked: Looked, tests: Sequence[str]) -> Steps[list[str]]:
    """Tests that the ticket names by a name which no test known as red has, where they fail."""
    known = {name_of(test) for test in tests}
    names = [name for name in dict.fromkeys(_TEST_NAME.findall(body.ticket)) if name not in known][:_NAMES_AT_MOST]
    found = list[str]()
    for name in names:
        (listed,) = yield (call("search", text=f"def {name}("),)
        places = [match for match in _PLACE.finditer(listed) if is_test_file(match["path"])]
        if len(places) == 1:
            # The id of a method has its class in it: the file as a whole tells that.
            place = places[0]["path"] if places[0]["indent"] else f"{places[0]['path']}::{name}"
            yield from _look(body, looked, [place])
            found += [test for test in looked.failed if test not in tests and name_of(test) == name]
    return found


def name_of(test: str) -> str:
    """The name of the function in the id of a test."""
    return re.split(r"\W+", test.rpartition("::")[2])[0]


def says(text: str, name: str) -> bool:
    """True when the name stands in the text by itself, not as a part of a longer one."""
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _score(body: Body, test: str, account: str, failing: Sequence[str]) -> float:
    """How well a failing test fits the ticket: its id, its names, the exception, the words that both use."""
    ticket = body.ticket
    if test == body.test:
        return _SHOWN
    name = name_of(test)
    alone = len({other.partition("[")[0] for other in failing if name_of(other) == name}) == 1
    score = _ID * says(ticket, test) + (_NAME if alone else 40.0) * says(ticket, name)
    score += 10.0 * (test.partition("::")[0] in ticket)
    score += 15.0 * any(kind in account for kind in exceptions(ticket))
    score += 5.0 * sum(function in account for function in set(functions(ticket)))
    score += 8.0 * sum(same_file(path, own) for path, _ in set(frames(ticket)) for own, _ in set(frames(account)))
    words = set(re.findall(r"[a-z]{3,}", ticket.lower()))
    return score + sum(part in words for part in name.lower().split("_") if len(part) > 2)


def _score_of_check(body: Body, check: str) -> float:
    """A check that the ticket names goes behind tests that fit, and before others; else it goes behind all."""
    return FITS if says(body.ticket.lower(), check.lower()) else -1.0
