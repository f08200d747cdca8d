"""Diagnosis: which failing test the ticket is about, or a new one made of the ticket, and where the fault may lie."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from stages.agents.embedded import call
from stages.offline.account import frames, same_file
from stages.offline.body import Body
from stages.offline.job import LOOK_SECONDS
from stages.offline.paths import is_test_file
from stages.offline.reproduction import new_tests, snippets
from stages.offline.results import Hits
from stages.offline.small import always
from stages.offline.steps import Steps, run, runs
from stages.offline.suspects import FITS, Suspect, suspects

_TEST_ID: Final = re.compile(r"(?<![\w/])[\w./-]+\.py::[\w:\[\].-]*\w\]?")
_RED_AT_MOST: Final = 20
_LINES_NAMED: Final = 5
_FILES_NAMED: Final = 5


def diagnose(body: Body) -> Steps[None]:
    """Name the test, the cause and the files; without a fitting test, make one from the ticket's own code."""
    red = list(dict.fromkeys(test for test in (body.test, *body.red) if test))[:_RED_AT_MOST]
    yield from _named(body, red)
    found, hits = yield from suspects(body, red)
    fits = bool(found) and found[0].score >= FITS
    if fits:
        yield from _known(body, found, hits)
    yield from _made(body)
    if not fits:
        yield from _known(body, found, hits)
    cause = "No known test fails, and the ticket has no code that shows the failure."
    yield from always(call("finish", quote=body.line, cause=cause, files=[]))


def _named(body: Body, red: Sequence[str]) -> Steps[None]:
    """A test that the ticket names by its id is named, even when it passes by now: code then knows that it is fixed.

    Where another one that it names is red, that one goes first.
    """
    ids = list(dict.fromkeys(_TEST_ID.findall(body.ticket)))
    for test in ids:
        if not set(ids) & set(red):
            cause = f"The ticket says that {test} fails."
            yield (call("finish", quote=body.line, cause=cause, files=[], reproduction=test),)


def _known(body: Body, found: Sequence[Suspect], hits: Mapping[str, Hits]) -> Steps[None]:
    """Offer the failing tests until code takes one."""
    for suspect in found:
        mine = hits
        if len(found) > 1 and "::" in suspect.test:
            mine = (yield from _alone(suspect)) or hits
        files, cause = _named_files(body, mine), _cause(body, suspect, mine)
        yield (call("finish", quote=body.line, cause=cause, files=files, reproduction=suspect.test),)


def _alone(suspect: Suspect) -> Steps[Mapping[str, Hits]]:
    (found,) = yield from runs(run(suspect.check, [suspect.test], coverage=True, seconds=LOOK_SECONDS))
    return found.hits if found is not None else {}


def _cause(body: Body, suspect: Suspect, hits: Mapping[str, Hits]) -> str:
    head = next((line.strip() for line in suspect.account.split("\n") if line.strip()), "")
    said = [f"{suspect.test} fails: {head[:200]}." if head else f"{suspect.test} fails."]
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
    for test in (yield from new_tests(body.ticket, paths, body.folders_of_tests)):
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
