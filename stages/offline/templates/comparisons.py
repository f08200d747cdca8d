"""Comparison operators, and the sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.usual import is_single, likelier_comparison

_BOUNDARY: Final[dict[type[cst.CSTNode], str]] = {
    cst.LessThan: "<=",
    cst.LessThanEqual: "<",
    cst.GreaterThan: ">=",
    cst.GreaterThanEqual: ">",
}
_OPPOSITE: Final[dict[type[cst.CSTNode], tuple[str, ...]]] = {
    cst.LessThan: (">", ">="),
    cst.LessThanEqual: (">=", ">"),
    cst.GreaterThan: ("<", "<="),
    cst.GreaterThanEqual: ("<=", "<"),
    cst.Equal: ("!=",),
    cst.NotEqual: ("==",),
    cst.Is: ("is not",),
    cst.IsNot: ("is",),
    cst.In: ("not in",),
    cst.NotIn: ("in",),
}
_ORDER: Final = ("<", "<=", ">", ">=")
_LITERALS: Final = (cst.Tuple, cst.List, cst.Set, cst.Dict)
_OTHERS: Final[dict[type[cst.CSTNode], tuple[str, ...]]] = {
    cst.LessThan: ("==", "!="),
    cst.LessThanEqual: ("==", "!="),
    cst.GreaterThan: ("==", "!="),
    cst.GreaterThanEqual: ("==", "!="),
    cst.Equal: (*_ORDER, "in", "is"),
    cst.NotEqual: (*_ORDER, "not in", "is not"),
    cst.Is: ("==",),
    cst.IsNot: ("!=",),
    cst.In: ("==",),
    cst.NotIn: ("!=",),
}
_CONSTANTS: Final = (cst.Integer, cst.Float, cst.SimpleString)
_IN_COMMON: Final = ("sorted({})", "set({})", "len({})", "abs({})", "str({})", "type({})")


def _known(target: cst.ComparisonTarget) -> tuple[str, ...]:
    """The operators that other templates try in the place of this one."""
    return (*_OPPOSITE.get(type(target.operator), ()), *_OTHERS.get(type(target.operator), ()))


def _instead(source: Source, target: cst.ComparisonTarget, sign: str) -> Splice:
    own = source.cut(target.operator).strip()
    return source.token(target.operator, sign).weighed(likelier_comparison(own, sign, target.comparator))


def _targets(source: Source) -> Iterator[tuple[cst.Comparison, cst.ComparisonTarget]]:
    for comparison in source.of(cst.Comparison):
        for target in comparison.comparisons:
            yield comparison, target


class ComparisonBoundary(Template):
    """`<` for `<=`, and the like."""

    weight = 1.0

    def splices(self, source: Program) -> Iterator[Splice]:
        for _, target in _targets(source):
            if other := _BOUNDARY.get(type(target.operator)):
                yield _instead(source, target, other)


class ComparisonOpposite(Template):
    """The comparison that is true where this one is not, and the one that looks the other way."""

    weight = 0.8

    def splices(self, source: Program) -> Iterator[Splice]:
        for _, target in _targets(source):
            yield from (_instead(source, target, other) for other in _OPPOSITE.get(type(target.operator), ()))


class ComparisonOperator(Template):
    """Another comparison: `<` for `==`, `==` for `<`, `==` for `in`."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for _, target in _targets(source):
            collection = isinstance(target.comparator, cst.Tuple | cst.List | cst.Set)
            for other in _OTHERS.get(type(target.operator), ()):
                if not (collection and isinstance(target.operator, cst.In | cst.NotIn) and other in ("==", "!=")):
                    yield _instead(source, target, other)


class IdentityOrMembership(Template):
    """`is` or `in` for another comparison."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for _, target in _targets(source):
            words, known = _asked_of(target.comparator), _known(target)
            if not isinstance(target.comparator, cst.Integer | cst.Float):
                yield from (_instead(source, target, word) for word in words if word not in known)


def _asked_of(other: cst.BaseExpression) -> tuple[str, ...]:
    identity, membership = ("is", "is not"), ("in", "not in")
    if is_single(other):
        return identity
    return membership if isinstance(other, _LITERALS) else (*membership, *identity)


class AnyComparison(Template):
    """An order or an equality where identity or membership is asked for, and a value is no single one."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for _, target in _targets(source):
            asked = isinstance(target.operator, cst.Is | cst.IsNot | cst.In | cst.NotIn)
            if asked and not is_single(target.comparator):
                known = _known(target)
                others = (*_ORDER, "==", "!=", "in", "not in")
                own = source.cut(target.operator).strip()
                yield from (_instead(source, target, other) for other in others if other not in (own, *known))


class ComparisonSides(Template):
    """The two sides of a comparison swapped."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for comparison, target in _targets(source):
            literal = isinstance(target.operator, cst.In | cst.NotIn) and isinstance(target.comparator, _LITERALS)
            swaps = isinstance(target.operator, (*_BOUNDARY, cst.In, cst.NotIn)) and not literal
            if swaps and len(comparison.comparisons) == 1:
                yield source.swap(comparison.left, target.comparator)


class BothSides(Template):
    """What two values have in common compared: `set(x) == set(y)` for `x == y`, and the like."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for comparison, target in _targets(source):
            pair = isinstance(target.operator, cst.Equal | cst.NotEqual) and len(comparison.comparisons) == 1
            if pair and not isinstance(target.comparator, _CONSTANTS) and not isinstance(comparison.left, _CONSTANTS):
                start, end = source.outer(comparison.left)[0], source.outer(target.comparator)[1]
                left, right = source.cut(comparison.left), source.cut(target.comparator)
                sign = source.cut(target.operator).strip()
                for shape in _IN_COMMON:
                    text = f"{shape.format(left)} {sign} {shape.format(right)}"
                    yield Splice(start, end, text, source.statement(comparison))


class ComparisonWidened(Template):
    """`x == 0` as `x <= 1`: operator and number together, for a base case that is too narrow."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for comparison, target in _targets(source):
            if isinstance(target.comparator, cst.Integer) and len(comparison.comparisons) == 1:
                start, end = source.span(target.operator)[0], source.span(target)[1]
                number = int(target.comparator.value, 0)
                for operator, other in (("<=", number + 1), (">=", number - 1), ("<", number + 1), (">", number - 1)):
                    yield Splice(start, end, f"{operator} {other}", source.statement(comparison))
