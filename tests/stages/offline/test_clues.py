"""What Python's own message says of a failure leads the search."""

from __future__ import annotations

import pytest

from stages.offline.account import Clues, clues
from stages.offline.ranking import Suspicion, ranked
from stages.offline.scope import Program
from tests.stages.offline.scenes import gate, worked_through

SUMS = "def f(a, b):\n    one = a * b\n    other = one - a * 2\n    return one + other | b\n"


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("TypeError: unsupported operand type(s) for |: 'float' and 'float'", {"|"}),
        ("TypeError: unsupported operand type(s) for ** or pow(): 'str' and 'int'", {"**"}),
        ("TypeError: unsupported operand type(s) for +=: 'int' and 'str'", {"+="}),
        ("TypeError: unsupported operand type(s) for divmod(): 'str' and 'int'", set()),
        ("TypeError: '<=' not supported between instances of 'str' and 'int'", {"<="}),
        ("TypeError: bad operand type for unary ~: 'float'", {"~"}),
        ("AssertionError: assert 1 == 2", set()),
    ],
)
def test_the_operator_that_a_message_names_is_found(message: str, found: set[str]) -> None:
    assert clues(f"E  {message}\nwork.py:3: TypeError").operators == found


def test_names_and_attributes_that_a_message_names_are_found() -> None:
    text = "NameError: name 'limt' is not defined\nAttributeError: 'NoneType' object has no attribute 'next'"

    assert clues(text) == Clues(unknown_names=frozenset({"limt"}), attributes_of_none=frozenset({"next"}))


@pytest.mark.parametrize("sign", ["|", "-"])
def test_another_operator_is_tried_first_for_the_one_that_the_message_names(sign: str) -> None:
    program = Program("src/work.py", SUMS)

    first = ranked([program], Suspicion([program], {}), Clues(operators=frozenset({sign})))[0].splice

    assert program.between(first.start, first.end).strip() == sign


@pytest.mark.parametrize("end", ["\n", ""], ids=["a last newline", "none, as tools show a file"])
def test_clues_weigh_what_drops_the_last_line_too(end: str) -> None:
    program = Program("src/work.py", f"def f(a, b):\n    if a <= b:\n        a += 1\n    g(a){end}")

    found = ranked([program], Suspicion([program], {}), Clues(operators=frozenset({"<="})))

    assert any(one.splice.end[0] == 5 for one in found), "nothing reaches behind the last line"
    assert found[0].source.between(found[0].splice.start, found[0].splice.end).strip() == "<="


def test_a_method_that_fails_before_any_of_its_lines_runs_is_repaired() -> None:
    work = "class Work:\n    def __init__(self, n):\n        self.n = n\n\n    def made(cls):\n        return cls(3)\n"
    tests = "def test_work():\n    assert Work(2).n == 2\n    assert Work.made().n == 3\n"

    played = worked_through(work, tests)

    assert gate(played.ground) == []
    assert "    @classmethod\n    def made(cls)" in played.ground.files["src/work.py"]
