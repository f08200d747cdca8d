"""For a loop over nothing, what it was for comes first."""

from __future__ import annotations

import pytest

from stages.offline.scope import Program
from stages.offline.templates.loops import LoopOver
from stages.offline.templates.nothing import LoopOverNothing

RECORDS = """\
from tools import read_lines

FIELDS = make_fields()
WORDS = re.compile("[a-z]+")


class Records:
    kinds = load_kinds()

    def __init__(self, rows):
        self.rows = rows

    def work(self, given, limit, weights=()):
        found = []
        if limit:
            found = self.start(limit)
        for {target} in []:
            found.append(self.turn({target}))
        return found

    def all_columns(self):
        for column in self.split(self.table):
            yield column
"""


def tried(text: str) -> list[str]:
    """What is tried for the one loop over nothing, the likeliest first."""
    made = list(LoopOverNothing().splices(Program("src/work.py", text)))
    return [one.text for one in sorted(made, key=lambda one: -one.share)]


@pytest.mark.parametrize(
    ("target", "meant", "within"),
    [
        ("one", "given", 2),  # nothing else uses it
        ("weight", "weights", 1),  # nor this, and it is called like what the loop makes of it
        ("key, value", "given.items()", 2),
        ("i, one", "enumerate(given)", 2),
        ("left, right", "zip(given, weights)", 5),
        ("row", "self.rows", 5),
        ("kind", "self.kinds", 5),
        ("field", "FIELDS", 5),
        ("column", "self.split(self.table)", 5),
        ("i", "range(limit)", 30),
        ("i", "range(len(found))", 30),
        ("line", "read_lines(given)", 10),
        ("word", "WORDS.finditer(limit)", 30),
    ],
)
def test_what_a_loop_over_nothing_was_for_is_tried_early(target: str, meant: str, within: int) -> None:
    made = tried(RECORDS.format(target=target))

    assert meant in made[:within]


def test_what_is_bound_below_the_loop_comes_behind_what_is_bound_above() -> None:
    made = tried("def f():\n    above = g()\n    for n in []:\n        h(n)\n    below = g()\n    h(above, below)\n")

    assert made.index("above") < made.index("below")


def test_what_another_loop_goes_over_is_tried_where_its_names_are_known() -> None:
    made = tried("def f(a):\n    for n in sorted(a):\n        print(n)\n    for m in []:\n        print(m)\n")
    unknown = tried(
        "def f(a):\n    for n in sorted(a):\n        print(n)\n\n\ndef g(b):\n    for m in []:\n        b(m)\n"
    )

    assert "sorted(a)" in made
    assert "sorted(a)" not in unknown


def test_a_loop_over_something_is_left_to_the_other_template() -> None:
    program = Program("src/work.py", "def f(a, b):\n    for n in a:\n        print(n, b)\n")

    assert list(LoopOverNothing().splices(program)) == []
    assert "b" in [one.text for one in LoopOver().splices(program)]


def test_the_likeliest_is_tried_first_even_where_another_is_shorter() -> None:
    made = list(LoopOverNothing().splices(Program("src/work.py", RECORDS.format(target="weight"))))

    shares = [one.share for one in made]
    assert shares == sorted(shares, reverse=True)
    assert len(set(shares)) == len(shares) > 20
