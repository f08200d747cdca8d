"""`and`, `or` and `not`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import conditions
from stages.offline.templates.usual import RARE


class BooleanOperator(Template):
    """`or` for `and`, `and` for `or`."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BooleanOperation):
            yield source.token(node.operator, "or" if isinstance(node.operator, cst.And) else "and")


class BooleanChain(Template):
    """All of `a and b and c` at once: `a or b or c`."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BooleanOperation):
            kind = type(node.operator)
            sides = _chained(node, kind)
            above = source.parent(node)
            inner = isinstance(above, cst.BooleanOperation) and isinstance(above.operator, kind)
            if len(sides) > 2 and not inner:
                word = " or " if kind is cst.And else " and "
                yield source.replace(node, word.join(source.whole(side) for side in sides))


def _chained(node: cst.BaseExpression, kind: type[cst.CSTNode]) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, kind):
        return [*_chained(node.left, kind), *_chained(node.right, kind)]
    return [node]


class NotDropped(Template):
    """A `not` taken away."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.UnaryOperation):
            if isinstance(node.operator, cst.Not):
                share = RARE if isinstance(node.expression, cst.Comparison) else 1.0
                yield source.replace(node, source.cut(node.expression)).weighed(share)


class Negation(Template):
    """A condition negated."""

    weight = 0.7

    def splices(self, source: Program) -> Iterator[Splice]:
        for test in conditions(source):
            if not isinstance(test, cst.UnaryOperation | cst.Comparison):
                text = source.cut(test)
                yield source.replace(test, f"not ({text})" if isinstance(test, cst.BooleanOperation) else f"not {text}")


class NegatedValue(Template):
    """What is returned, or a side of `and` and `or` that no condition asks, negated."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        asked = {id(node) for node in conditions(source)}
        sides = [side for node in source.of(cst.BooleanOperation) for side in (node.left, node.right)]
        returned = [node.value for node in source.of(cst.Return) if node.value is not None]
        for value in (*sides, *returned):
            if id(value) not in asked and isinstance(value, cst.Name | cst.Attribute | cst.Subscript | cst.Call):
                yield source.replace(value, f"not {source.cut(value)}")


class Truth(Template):
    """`True` for `False`, `False` for `True`."""

    weight = 0.8

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Name):
            if node.value in ("True", "False"):
                yield source.replace(node, str(node.value == "False"))


class DroppedCondition(Template):
    """One side of `and` or `or` taken away."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BooleanOperation):
            yield source.replace(node, source.cut(node.left))
            yield source.replace(node, source.cut(node.right))


class NoneTest(Template):
    """`x is not None` for `x`, and the other way round."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in conditions(source):
            match node:
                case cst.Name() | cst.Attribute() | cst.Subscript() | cst.Call():
                    yield source.replace(node, f"{source.cut(node)} is not None")
                case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name() | cst.Attribute() | cst.Subscript()):
                    yield source.replace(node, f"{source.cut(node.expression)} is None")
                case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=cst.Name("None"))]):
                    yield source.replace(node, f"not {source.cut(left)}")
                    yield source.replace(node, source.cut(left))
                case _:
                    pass
