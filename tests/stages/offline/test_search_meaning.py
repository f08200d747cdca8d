"""Where several edits turn the tests green, the one that says what was meant is tried first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stages.offline.scope import Program
from stages.offline.templates.conditions import LoopCondition, LoopConditionAtTheEnd
from stages.offline.templates.filling import NeverFilled
from tests.stages.offline.playground import play
from tests.stages.offline.scenes import gate, ground, prompt, worked_through

LAST = """\
class Node:
    def __init__(self, next):
        self.next = next


def turns(node):
    ahead = node
    while True:
        if ahead.next is None:
            return False
        node = node.next
        ahead = ahead.next.next
        if ahead is node:
            return True
"""
TURNS = """\
def test_work():
    assert not turns(Node(Node(None)))

def test_turn():
    one = Node(None)
    one.next = Node(one)
    assert turns(one)

def test_long():
    assert not turns(Node(Node(Node(None))))
"""
REACHED = """\
class Node:
    def __init__(self, *leads_to):
        self.leads_to = list(leads_to)


def reached(start, goal):
    seen = set()

    def search(node):
        if node in seen:
            return False
        if node is goal:
            return True
        return any(search(other) for other in node.leads_to)

    return search(start)
"""
REACHES = """\
def test_work():
    one, other = Node(), Node()
    one.leads_to.append(one)
    assert not reached(one, other)

def test_next():
    goal = Node()
    assert reached(Node(Node(), goal), goal)
"""


@pytest.mark.parametrize(
    ("work", "tests", "meant", "at_most"),
    [
        (LAST, TURNS, "        if ahead is None or ahead.next is None:\n", 10),
        (REACHED, REACHES, "        seen.add(node)\n", 10),
    ],
)
def test_what_the_failure_points_at_is_repaired_where_deleting_code_would_pass_too(
    work: str, tests: str, meant: str, at_most: int
) -> None:
    played = worked_through(work, tests)

    assert gate(played.ground) == []
    assert meant in played.ground.files["src/work.py"]
    assert played.ground.candidate_runs <= at_most


def test_a_loop_that_ends_an_answer_is_left_by_its_condition_only_when_little_else_is_left() -> None:
    ends = "def f(n):\n    if n:\n        while True:\n            if n.last:\n                return True\n"
    goes_on = f"{ends}    return False\n"
    gives_nothing = ends.replace("return True", "return")

    def made(text: str) -> tuple[bool, bool]:
        program = Program("src/work.py", text)
        return any(LoopCondition().splices(program)), any(LoopConditionAtTheEnd().splices(program))

    assert made(ends) == (False, True)
    assert made(goes_on) == made(gives_nothing) == (True, False)


@pytest.mark.parametrize(
    "filling", ["seen.update(nodes)", "seen = nodes", "fill(seen)", "seen |= nodes", "seen[0] = nodes", "print(nodes)"]
)
def test_only_a_collection_that_nothing_is_put_into_is_filled(filling: str) -> None:
    text = f"def f(nodes):\n    seen = set()\n    {filling}\n    return 1 in seen\n"

    made = list(NeverFilled().splices(Program("src/work.py", text)))

    assert bool(made) is (filling == "print(nodes)")


def test_a_right_edit_that_takes_long_has_its_time_when_all_others_have_failed() -> None:
    body = "    a = 1\n    while n < 0:\n        a = (a * 7 + n) % 1009\n        n -= 1\n    return a\n"
    slow = f"def mixed(n):\n{body}"
    right: dict[str, Callable[[int], int]] = {}
    exec(slow.replace("n < 0", "n > 0"), right)
    tests = f"def test_work():\n    assert mixed(4000) == {right['mixed'](4000)}\n"

    played = play(prompt("Develop"), ground(slow, tests), candidate_runs=60)

    runs = [arguments for name, arguments in played.ground.asked if name == "run" and not arguments.get("coverage")]
    assert gate(played.ground) == []
    assert runs[0]["seconds"] == 1
    assert "seconds" not in runs[-1]
