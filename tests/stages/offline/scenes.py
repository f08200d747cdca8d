"""Prompts, trees and a gate for the search, as the runner would make them."""

from __future__ import annotations

from difflib import SequenceMatcher
from textwrap import dedent

from stages.patch import edit_digest
from tests.stages.offline.playground import Played, Playground, play

SECTION = """\
[ticketsmith:context v1] x
[ticketsmith:tuning] 0 of 0
[ticketsmith:lessons] {count}
{lessons}[ticketsmith:memory] 0 of 0 by per_word, 0 notes
[ticketsmith:end]
"""


def prompt(title: str, *blocks: str, lessons: str = "", test: str = "tests/test_work.py::test_work") -> str:
    count = "1 of 1" if lessons else "0 of 0"
    section = SECTION.format(count=count, lessons=lessons)
    rest = "\n\n".join((f"Reproduction: check pytest, test {test}", *blocks))
    return f"{section}# {title}: do it.\n\nTicket:\n| It is wrong.\n\nChecks: pytest\n\n{rest}"


def ground(work: str, tests: str, **more: str) -> Playground:
    files = {"src/work.py": dedent(work), "tests/test_work.py": "from work import *\n\n\n" + dedent(tests)}
    return Playground(files | more)


def gate(tree: Playground) -> list[str]:
    return [test for test in tree.tests() if tree.run_test(test).error is not None]


def edits(played: Played, work: str) -> list[str]:
    """The edits of what stands in the tree, as holds and lessons write them."""
    before, after = dedent(work).split("\n"), played.ground.files["src/work.py"].split("\n")
    return [
        f"src/work.py:{i1 + 1} #{edit_digest([*(f'-{x}' for x in before[i1:i2]), *(f'+{x}' for x in after[j1:j2])])}"
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def held(played: Played, work: str, attempt: int = 1) -> str:
    """The block of a prompt that says what the gate held."""
    lines = [f"| failed {test}" for test in gate(played.ground)] + [f"| edit {edit}" for edit in edits(played, work)]
    return "\n".join([f"Held: at the gate, attempt {attempt}, cause check", *lines])


def worked_through(work: str, tests: str, attempts: int = 3, **more: str) -> Played:
    """Develop, and refix for as long as the gate holds."""
    played = play(prompt("Develop", **more), ground(work, tests))
    for attempt in range(1, attempts):
        if not gate(played.ground):
            break
        played = play(prompt("Refix", held(played, work, attempt), **more), ground(work, tests))
    return played
