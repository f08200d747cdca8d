"""Each kind of repair finds the edit that it is for, and leaves everything else of the file as it stands."""

from __future__ import annotations

import pytest

from stages.offline.candidate import Candidate
from stages.offline.scope import Program
from stages.offline.templates import TEMPLATES
from tests.stages.offline.repairs import BLOCKS, LINES

BY_NAME = {template.name: template for template in TEMPLATES}

BEFORE = '''\
"""A module."""  # with a comment


def work(n, limit, items):
    """Do it."""
    total = None
    size = len(items)

    # the line under test
'''
AFTER = "\n    return total  # done\n"


def body(line: str) -> str:
    nested = "\n        pass" if line.rstrip().split("  #")[0].endswith(":") else ""
    if line in ("break", "continue"):
        return f"{BEFORE}    for n in items:\n        {line}{AFTER}"
    return f"{BEFORE}    {line}{nested}{AFTER}"


def texts(name: str, text: str, hints: tuple[str, ...] = ()) -> list[str]:
    program = Program("src/work.py", text, hints)
    return [
        Candidate(source=program, splice=splice, template=name, rank=0.0).text
        for splice in BY_NAME[name].splices(program)
    ]


@pytest.mark.parametrize(("name", "line", "repaired"), LINES)
def test_a_line_is_repaired_and_the_rest_of_the_file_stays(name: str, line: str, repaired: str) -> None:
    made = texts(name, body(line))

    assert body(repaired) in made


@pytest.mark.parametrize(("name", "text", "repaired"), BLOCKS)
def test_a_function_is_repaired(name: str, text: str, repaired: str) -> None:
    made = texts(name, text)

    assert repaired in made


def test_each_template_has_an_example() -> None:
    shown = {name for name, *_ in (*LINES, *BLOCKS)}

    assert shown == set(BY_NAME)


def test_a_number_and_a_text_of_the_ticket_are_tried() -> None:
    number = texts("constant", body("total = n * 19"), ("20.5", "'a'"))
    text = texts("text constant", body('total = "helo"'), ("'hello'",))

    assert body("total = n * 20.5") in number
    assert body("total = 'hello'") in text


def test_a_docstring_is_left_alone() -> None:
    made = texts("text constant", body('total = "a"'))

    assert all('"""Do it."""' in text and '"""A module."""  # with a comment' in text for text in made)


def test_parentheses_come_where_the_place_demands_them() -> None:
    made = texts("off by one anywhere", body("total = n * divide(limit)"))

    assert body("total = (n - 1) * divide(limit)") in made


def test_layout_and_comments_survive_in_a_statement_of_several_lines() -> None:
    text = "def f(a, b):\n    return g(\n        a,  # first\n        b,\n    )\n"

    made = texts("swapped arguments", text)

    assert made == ["def f(a, b):\n    return g(\n        b,  # first\n        a,\n    )\n"]
