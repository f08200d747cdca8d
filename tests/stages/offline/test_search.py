"""The search, from the prompt to the finished edit, on small programs."""

from __future__ import annotations

import pytest

from tests.stages.offline.playground import play
from tests.stages.offline.scenes import gate, ground, prompt, worked_through

UNIQUE = """\
def unique(items):
    seen = set()
    out = []
    for item in items:
        if item not in seen:
            out.append(item)
    return out
"""
TABLE = """\
KNOWN = {}


def known(name, number):
    KNOWN[name] = number + 2


known('a', 1)


def value(name):
    return KNOWN[name]
"""
# A defect, what its line must become, and tests that say so.
DEFECTS = {
    "comparison": (
        "def grown_up(age):\n    return age > 18\n",
        "def grown_up(age):\n    return age >= 18\n",
        "def test_work():\n    assert grown_up(18)\n\ndef test_young():\n    assert not grown_up(17)\n",
    ),
    "boolean": (
        "def both(a, b):\n    return a or b\n",
        "def both(a, b):\n    return a and b\n",
        "def test_work():\n    assert not both(True, False)\n\ndef test_all():\n    assert both(1, 1)\n",
    ),
    "arithmetic": (
        "def net(price, tax):\n    return price + tax\n",
        "def net(price, tax):\n    return price - tax\n",
        "def test_work():\n    assert net(10, 2) == 8\n\ndef test_none():\n    assert net(10, 0) == 10\n",
    ),
    "off by one": (
        "def numbers(n):\n    return [k for k in range(1, n)]\n",
        "def numbers(n):\n    return [k for k in range(1, n + 1)]\n",
        "def test_work():\n    assert numbers(3) == [1, 2, 3]\n",
    ),
    "swapped arguments": (
        "def share(part, whole):\n    return part / whole\n\n\ndef half(a, b):\n    return share(b, a)\n",
        "def share(part, whole):\n    return part / whole\n\n\ndef half(a, b):\n    return share(a, b)\n",
        "def test_work():\n    assert half(1, 2) == 0.5\n\ndef test_share():\n    assert share(1, 4) == 0.25\n",
    ),
    "wrong name": (
        "def area(width, height):\n    size = width * width\n    return size\n",
        "def area(width, height):\n    size = width * height\n    return size\n",
        "def test_work():\n    assert area(2, 3) == 6\n\ndef test_square():\n    assert area(2, 2) == 4\n",
    ),
    "constant at import": (
        "RATE = 30\n\n\ndef tax(price):\n    return price * RATE / 100\n",
        "RATE = 20\n\n\ndef tax(price):\n    return price * RATE / 100\n",
        "def test_work():\n    assert tax(100) == 20\n",
    ),
    "function called at import": (TABLE, TABLE.replace("+ 2", "+ 1"), "def test_work():\n    assert value('a') == 2\n"),
    "endless loop": (
        "def drain(queue):\n    out = []\n    while True:\n        out.append(queue.pop())\n    return out\n",
        "def drain(queue):\n    out = []\n    while queue:\n        out.append(queue.pop())\n    return out\n",
        "def test_work():\n    assert drain([1, 2]) == [2, 1]\n",
    ),
    "missing guard": (
        "def mean(numbers):\n    return sum(numbers) / len(numbers)\n",
        "def mean(numbers):\n    if not numbers:\n        return 0\n    return sum(numbers) / len(numbers)\n",
        "def test_work():\n    assert mean([]) == 0\n\ndef test_two():\n    assert mean([2, 6]) == 4\n",
    ),
    "missing statement": (
        UNIQUE,
        UNIQUE.replace("            out", "            seen.add(item)\n            out"),
        "def test_work():\n    assert unique([1, 1, 2, 2, 1]) == [1, 2]\n",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_repaired(defect: str) -> None:
    wrong, right, tests = DEFECTS[defect]

    played = worked_through(wrong, tests)

    assert gate(played.ground) == []
    assert "test_work" in played.answer["summary"]
    assert right.count("\n") == played.ground.files["src/work.py"].count("\n")


def test_the_comments_and_the_layout_of_a_file_stay() -> None:
    wrong = "def grown_up(age):  # in years\n\n    return (age\n            > 18)  # the law\n"
    tree = ground(wrong, "def test_work():\n    assert grown_up(18)\n")

    play(prompt("Develop"), tree)

    assert tree.files["src/work.py"] == wrong.replace("> 18", ">= 18")


def test_it_gives_up_honestly_and_leaves_the_tree_as_it_was() -> None:
    wrong = "def greet(name):\n    return 'hello'\n"
    tree = ground(wrong, "def test_work():\n    assert greet('you') == chr(65) * 7\n")

    played = play(prompt("Develop"), tree, candidate_runs=25)

    assert tree.files["src/work.py"] == wrong
    assert played.answer == {
        "summary": "Not found: none of 25 small edits that were tried turned tests/test_work.py::test_work green."
    }


def test_no_edit_touches_what_says_what_is_right() -> None:
    beside = (
        "def total(prices):\n    return {0: 0}\n\n\n"
        "def same(one, other):\n    assert one == other\n\n\n"
        "def test_here():\n    expected = 3\n    assert total([1, 2]) == expected\n"
    )
    given = ground(beside, "def test_work():\n    same(total([1, 2]), 3)\n")

    played = play(prompt("Develop"), given)

    assert played.answer["summary"].startswith("Not found: none of ")
    assert given.files["src/work.py"] == beside


def test_the_lines_of_passing_tests_are_tried_last() -> None:
    work = """
        def low(n):
            return n < 10


        def high(n):
            return n < 100
        """
    tests = """
        def test_low():
            assert low(9) and not low(10)

        def test_work():
            assert high(100)
        """
    tree = ground(work, tests)

    play(prompt("Develop"), tree)

    edited = [arguments["new"] for name, arguments in tree.asked if name == "edit"]
    assert not any("10" in text and "100" not in text for text in edited)


LEVELS = """
    def level(points):
        if points < 10:
            return 'low'
        if points < 100:
            return 'high'
        return 'top'
    """
LEVEL_TESTS = """
    def test_low():
        assert level(9) == 'low'

    def test_work():
        assert level(100) == 'high'

    def test_second():
        assert level(10) == 'low'
    """


def test_an_edit_that_turns_the_other_red_tests_green_too_is_better() -> None:
    work = "def double(n):\n    return n + 1\n"
    tests = "def test_work():\n    assert double(3) == 6\n\ndef test_more():\n    assert double(5) == 10\n"
    tree = ground(work, tests)

    played = play(prompt("Develop", "Red before any change:\n| tests/test_work.py::test_more"), tree)

    assert gate(tree) == []
    assert "stay red" not in played.answer["summary"]


def test_the_best_edit_is_handed_in_when_none_turns_all_red_tests_green() -> None:
    tree = ground(LEVELS, LEVEL_TESTS)

    played = play(prompt("Develop", "Red before any change:\n| tests/test_work.py::test_second"), tree)

    assert gate(tree) == ["tests/test_work.py::test_second"]
    assert "1 other tests that were red stay red" in played.answer["summary"]


def test_a_red_test_that_has_nothing_to_do_with_it_costs_nothing() -> None:
    tree = ground("def grown_up(age):\n    return age > 18\n", "def test_work():\n    assert grown_up(18)\n")
    tree.files["tests/test_other.py"] = "def test_other():\n    assert 1 == 2\n"

    play(prompt("Develop", "Red before any change:\n| tests/test_other.py::test_other"), tree)

    assert gate(tree) == ["tests/test_other.py::test_other"]
    assert tree.candidate_runs == 1


def test_an_edit_that_takes_longer_than_it_may_in_a_hurry_has_its_time_at_the_end() -> None:
    work = """
        def total(n):
            found = 0
            for k in range(n):
                found += 1
            return found - 1
        """
    tree = ground(work, "def test_work():\n    assert total(5_000) == 5_000\n")

    played = play(prompt("Develop"), tree, candidate_runs=2_000)

    runs = [arguments for name, arguments in tree.asked if name == "run"]
    assert gate(tree) == []
    assert "passes now" in played.answer["summary"]
    assert "seconds" not in runs[-1]
    assert sum("seconds" in one for one in runs) > sum("seconds" not in one for one in runs)


def test_what_python_says_is_unknown_is_replaced_first() -> None:
    work = """
        LIMIT = 10


        def bounded(values):
            found = []
            for value in values:
                if value < LIMT:
                    found.append(value)
            return found
        """
    tree = ground(work, "def test_work():\n    assert bounded([1, 20]) == [1]\n")

    play(prompt("Develop"), tree)

    assert "value < LIMIT" in tree.files["src/work.py"]
    assert tree.candidate_runs <= 4


def test_the_condition_that_led_to_an_exception_is_tried_before_what_the_exception_says() -> None:
    work = """
        def checked(name, size):
            label = "%s: %d" % (name, size)
            if not size:
                raise ValueError("too many " + label + " of " + str(size - 1))
            return label
        """
    tree = ground(work, "def test_work():\n    assert checked('a', 2) == 'a: 2'\n    assert checked('', 0) == ': 0'\n")
    tree.files["src/work.py"] = tree.files["src/work.py"].replace("if not size", "if size")

    play(prompt("Develop"), tree)

    assert tree.candidate_runs <= 40
    assert gate(tree) == []


def test_what_fails_before_it_runs_any_line_is_found_by_its_name() -> None:
    work = """
        class Work:
            def made(cls, size):
                return size + 1


        class Other:
            def made(self, size):
                return size
        """
    tree = ground(work, "def test_work():\n    assert Work.made(2) == 3\n")

    played = play(prompt("Develop"), tree)

    assert "    @classmethod\n    def made(cls, size)" in tree.files["src/work.py"]
    assert "passes now" in played.answer["summary"]
