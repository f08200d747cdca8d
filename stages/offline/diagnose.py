"""Diagnosis: which failing test the ticket is about, or a new one made of the ticket, and where the fault may lie."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stages.agents.embedded import call
from stages.offline.account import exceptions, frames, functions, same_file
from stages.offline.body import Body
from stages.offline.job import LOOK_SECONDS
from stages.offline.paths import is_test_file
from stages.offline.reproduction import new_tests, snippets
from stages.offline.results import Hits, Seen
from stages.offline.small import always
from stages.offline.steps import Steps, run, runs

_TEST_ID: Final = re.compile(r"(?<![\w/])[\w./-]+\.py::[\w:\[\].-]*\w\]?")
_RED_AT_MOST: Final = 20
_FITS: Final = 2.0
"""Score from which a red test goes before a test that is made of the ticket's own code."""
_LINES_NAMED: Final = 5
_FILES_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A failing test: the account of its failure, and how well it fits the ticket."""

    test: str
    account: str
    score: float


def diagnose(body: Body) -> Steps[None]:
    """Name the test, the cause and the files; without a fitting test, make one from the ticket's own code."""
    red = list(dict.fromkeys(test for test in (body.test, *body.red) if test))[:_RED_AT_MOST]
    yield from _named(body, red)
    suspects, hits = yield from _suspects(body, red)
    fits = bool(suspects) and suspects[0].score >= _FITS
    if fits:
        yield from _known(body, suspects, hits)
    yield from _made(body)
    if not fits:
        yield from _known(body, suspects, hits)
    cause = "No known test fails, and the ticket has no code that shows the failure."
    yield from always(call("finish", quote=body.line, cause=cause, files=[]))


def _named(body: Body, red: Sequence[str]) -> Steps[None]:
    """A test that the ticket names by its id is named, even when it passes by now: code then knows that it is fixed."""
    for test in dict.fromkeys(_TEST_ID.findall(body.ticket)):
        if test not in red:
            cause = f"The ticket says that {test} fails."
            yield (call("finish", quote=body.line, cause=cause, files=[], reproduction=test),)


def _suspects(body: Body, red: Sequence[str]) -> Steps[tuple[list[Suspect], Mapping[str, Hits]]]:
    """The tests that are red, the one that fits the ticket best first, and what they ran."""
    if not red:
        return [], {}
    also = [test for test in body.held_tests if "::" in test and test not in red]
    found = yield from _run_red(body, red, also)
    if found is None:
        return [], {}
    suspects = [
        Suspect(test=test, account=found.failed.get(test, ""), score=_score(body, test, found.failed.get(test, "")))
        for test in red
        if test in found.failed or test in body.checks or not found.failed
    ]
    return sorted(suspects, key=lambda one: -one.score), found.hits


def _run_red(body: Body, red: Sequence[str], also: Sequence[str]) -> Steps[Seen | None]:
    if set(red) & set(body.checks):
        (found,) = yield from runs(run(next(name for name in red if name in body.checks)))
    else:
        (found,) = yield from runs(run(body.check, [*red, *also], coverage=True, seconds=LOOK_SECONDS))
    return found


def _known(body: Body, suspects: Sequence[Suspect], hits: Mapping[str, Hits]) -> Steps[None]:
    """Offer the failing tests until code takes one."""
    for suspect in suspects:
        mine = hits
        if len(suspects) > 1 and "::" in suspect.test:
            mine = (yield from _alone(body, suspect.test)) or hits
        files, cause = _named_files(body, mine), _cause(body, suspect, mine)
        yield (call("finish", quote=body.line, cause=cause, files=files, reproduction=suspect.test),)


def _alone(body: Body, test: str) -> Steps[Mapping[str, Hits]]:
    (found,) = yield from runs(run(body.check, [test], coverage=True, seconds=LOOK_SECONDS))
    return found.hits if found is not None else {}


def _score(body: Body, test: str, account: str) -> float:
    """How well a failing test fits the ticket: its id, its names, the exception, the words that both use."""
    ticket = body.ticket
    if test == body.test:
        return 1_000.0
    name = re.split(r"\W+", test.rpartition("::")[2])[0]
    score = 100.0 * (test in ticket) + 40.0 * (name in ticket and name != "")
    score += 10.0 * (test.partition("::")[0] in ticket)
    score += 15.0 * any(kind in account for kind in exceptions(ticket))
    score += 5.0 * sum(function in account for function in set(functions(ticket)))
    score += 8.0 * sum(same_file(path, own) for path, _ in set(frames(ticket)) for own, _ in set(frames(account)))
    words = set(re.findall(r"[a-z]{3,}", ticket.lower()))
    return score + sum(part in words for part in name.lower().split("_") if len(part) > 2)


def _cause(body: Body, suspect: Suspect, hits: Mapping[str, Hits]) -> str:
    head = next((line.strip() for line in suspect.account.split("\n") if line.strip()), "it fails")
    said = [f"{suspect.test} fails: {head[:200]}."]
    if lines := _lines(hits):
        said.append("Run by the failing test and by the fewest passing ones: " + ", ".join(lines) + ".")
    if body.held_tests:
        said.append("The held patch made " + ", ".join(body.held_tests[:3]) + " fail.")
    return " ".join(said)


def _lines(hits: Mapping[str, Hits]) -> list[str]:
    found = [
        (-(failed / (failed + passed)), path, line)
        for path, lines in hits.items()
        if not is_test_file(path)
        for line, (failed, passed) in lines.items()
        if failed
    ]
    return [f"{path}:{line}" for _, path, line in sorted(found)[:_LINES_NAMED]]


def _named_files(body: Body, hits: Mapping[str, Hits]) -> list[str]:
    """Files that the failing test runs, those that the ticket names first."""
    ran = [path for path, lines in hits.items() if not is_test_file(path) and any(hit[0] for hit in lines.values())]
    named = [path for path in ran if any(same_file(written, path) for written, _ in frames(body.ticket))]
    return list(dict.fromkeys((*named, *ran)))[:_FILES_NAMED]


def _made(body: Body) -> Steps[None]:
    """Offer new tests made of the ticket's code, until code takes one."""
    if not any(snippets(body.ticket)):
        return
    (listed,) = yield (call("list"),)
    paths = [line[2:].strip() for line in listed.split("\n") if line.startswith("| ")]
    for test in (yield from new_tests(body.ticket, paths)):
        yield (
            call(
                "finish",
                quote=body.line,
                cause=test.cause,
                files=list(test.files),
                test_path=test.path,
                test_text=test.text,
            ),
        )
