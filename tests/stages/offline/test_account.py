"""What the text of a failure names."""

from __future__ import annotations

import pytest

from stages.offline.account import frames

PYTEST = """\
    def reached(node):
>       return any(reached(one) for one in node.leads_to)

src/work.py:5:{}
tests/test_work.py:9: {}
"""
PYTHON = """\
Traceback (most recent call last):
  File "src/work.py", line 5, in reached
    return any(reached(one) for one in node.leads_to)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  [Previous line repeated 974 more times]
  File "src/work.py", line 4, in reached
    seen = set(node)
           ^^^^^^^^^
{}: maximum recursion depth exceeded
"""


@pytest.mark.parametrize("prefix", ["", "| ", "E   "])
def test_where_python_gives_up_an_endless_recursion_is_no_place(prefix: str) -> None:
    text = "".join(prefix + line for line in PYTHON.splitlines(keepends=True))

    assert frames(text.format("ValueError")) == [("src/work.py", 5), ("src/work.py", 4)]
    assert frames(text.format("RecursionError")) == [("src/work.py", 5)]


def test_pytest_names_the_exception_behind_the_place() -> None:
    assert frames(PYTEST.format("", "ValueError")) == [("src/work.py", 5), ("tests/test_work.py", 9)]
    assert frames(PYTEST.format("", "RecursionError")) == [("src/work.py", 5)]


def test_a_place_of_the_recursion_itself_stays_one() -> None:
    text = "src/work.py:5: \nsrc/work.py:5: RecursionError\n"

    assert frames(text) == [("src/work.py", 5)]
