"""Changed lines inside functions are counted, and those that some test ran."""

from __future__ import annotations

from stages.covering import Covered, covered
from stages.verdict import Span

SOURCE = b'''"""Text."""

LIMIT = 3


def total(prices):
    """What it is."""
    if not prices:
        return 0
    result = sum(
        prices,
        LIMIT,
    )
    return result


class Cart:
    size = 0

    def count(self):
        global LIMIT
        for _ in ():
            self.size += 1
        return self.size
'''
ALL = Span(path="a.py", first=1, last=SOURCE.count(b"\n"))


def test_only_statements_inside_functions_count() -> None:
    assert covered([ALL], {"a.py": SOURCE}, []) == Covered(changed=10, covered=0)


def test_a_line_counts_as_run_when_its_statement_was() -> None:
    hits = [{"a.py": {8: (0, 1)}}, {"a.py": {10: (1, 0), 22: (0, 2)}, "b.py": {9: (1, 1)}}]

    assert covered([ALL], {"a.py": SOURCE}, hits) == Covered(changed=10, covered=6)
    assert covered([Span(path="a.py", first=11, last=11)], {"a.py": SOURCE}, hits) == Covered(changed=1, covered=1)


def test_files_that_are_not_given_or_cannot_be_read_count_nothing() -> None:
    assert covered([ALL, Span(path="b.py", first=1, last=9)], {"a.py": b"def f(:"}, []) == Covered()
