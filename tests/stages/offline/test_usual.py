"""What is rarely written stands there by mistake more often than what is written every day."""

from __future__ import annotations

import pytest

from stages.offline.candidate import Candidate
from stages.offline.ranking import Suspicion, ranked
from stages.offline.scope import Program

KINDS = (
    *("comparison opposite", "comparison operator", "identity or membership", "any comparison", "comparison boundary"),
    *("arithmetic operator", "any operator", "other family"),
)


def operators(expression: str) -> list[str]:
    """What is tried for the operator of an expression, the likeliest first, where nothing is known of what ran."""
    program = Program("src/work.py", f"def f(a, b, items):\n    return {expression}\n")
    made = [one for one in ranked([program], Suspicion([program], {})) if one.template in KINDS]
    return [_operator(one) for one in made]


def _operator(one: Candidate) -> str:
    return one.splice.text.strip()


@pytest.mark.parametrize(
    ("expression", "meant", "unusual"),
    [
        ("a is not b", "==", "<="),
        ('a is ""', "==", "in"),
        ("a == None", "is", "<"),
        ("a <= (1, 2)", "in", ">"),
        ("a ^ b", "|", "<<"),
        ("a @ b", "*", ">>"),
        ("a.b << b", "+", "**"),
    ],
)
def test_the_usual_operator_is_tried_before_the_unusual_one(expression: str, meant: str, unusual: str) -> None:
    made = operators(expression)

    assert made.index(meant) < made.index(unusual)


def test_constants_are_put_together_as_flags() -> None:
    assert operators("a.VERBOSE % a.ASCII")[0] == "|"
    assert operators("a.verbose % a.ascii")[0] != "|"


def test_an_unusual_operator_is_likelier_to_be_wrong_than_a_usual_one() -> None:
    text = "def f(a, b):\n    one = a + b\n    other = a ^ b\n    return one, other\n"
    program = Program("src/work.py", text)

    made = [one.line for one in ranked([program], Suspicion([program], {})) if one.template in KINDS]

    assert made[:2] == [3, 3]


@pytest.mark.parametrize(
    ("usual", "rare", "template"),
    [("not a", "not a == b", "not dropped"), ("-b", "+b", "unary sign"), ("-b", "~b", "unary sign")],
)
def test_what_hardly_anybody_writes_is_taken_for_wrong_first(usual: str, rare: str, template: str) -> None:
    program = Program("src/work.py", f"def f(a, b):\n    if g({usual}):\n        return 0\n    return g({rare})\n")

    made = [one.line for one in ranked([program], Suspicion([program], {})) if one.template == template]

    assert made[0] == 4


@pytest.mark.parametrize(
    ("number", "meant"), [("-1", "0"), ("11", "10"), ("101", "100"), ("255 * n", "256"), ("n + 0", "n + 1")]
)
def test_of_the_numbers_beside_one_the_usual_one_is_tried_first(number: str, meant: str) -> None:
    program = Program("src/work.py", f"def f(n):\n    return n == {number}\n")

    made = [one for one in ranked([program], Suspicion([program], {})) if one.template == "off by one number"]

    assert made[0].splice.text == meant


def test_of_many_numbers_the_odd_one_is_taken_for_wrong_first() -> None:
    program = Program("src/work.py", "SIZES = [10, 20, 50, 101, 200]\n")

    made = [one for one in ranked([program], Suspicion([program], {})) if one.template == "off by one number"]

    assert made[0].splice.text == "100"


def test_the_other_way_out_of_a_turn_is_tried_before_none_and_before_that_of_the_function() -> None:
    program = Program("src/work.py", "def f(items):\n    for n in items:\n        break\n")

    made = [one.splice.text for one in ranked([program], Suspicion([program], {})) if one.template == "loop exit"]

    assert made == ["continue", "pass", "return"]
