"""Arithmetic operators, also those of augmented assignments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice, Where
from stages.offline.templates.base import Template
from stages.offline.templates.places import conditions, is_load
from stages.offline.templates.usual import RARE, likelier_operation

_NEAR: Final[dict[str, tuple[str, ...]]] = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "**"),
    "/": ("//", "*"),
    "//": ("/", "%"),
    "%": ("//", "*"),
    "**": ("*",),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("&", "|", "**"),
    "<<": (">>",),
    ">>": ("<<",),
    "@": ("*",),
}
_ALL: Final = ("+", "-", "*", "/", "//", "%", "**")
_BITS: Final = ("&", "|", "^", "<<", ">>")


class ArithmeticOperator(Template):
    """The operator that is most easily mistaken for this one: `-` for `+`, `//` for `/`."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operations(source, source.scope):
            yield from (_instead(source, node, other) for other in _NEAR.get(_sign(source, node), ()))


class AnyOperator(Template):
    """Any other operator of the same family."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operations(source, source.scope):
            sign = _sign(source, node)
            family = _BITS if sign in _BITS else _ALL
            yield from (_instead(source, node, other) for other in family if other not in (sign, *_NEAR.get(sign, ())))


class OtherFamily(Template):
    """An operator of numbers for one of bits and sets, and the other way round."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operations(source, source.scope):
            sign = _sign(source, node)
            family = _ALL if sign in _BITS else _BITS
            yield from (_instead(source, node, other) for other in family if other not in _NEAR.get(sign, ()))


class TextOperator(Template):
    """`+` and `%` between texts."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BinaryOperation):
            if Kind.TEXT in (source.scope.kind(node.left), source.scope.kind(node.right)):
                sign = _sign(source, node.operator)
                filled = isinstance(node.right, cst.Tuple | cst.Dict)  # only `%` takes one
                others = ("%",) if filled else ("+", "%", "*")
                yield from (source.token(node.operator, other) for other in others if other != sign)


class AugmentedOperator(Template):
    """`-=` for `+=`, `=` for `+=`, `+=` for `=`."""

    weight = 0.7

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.AugAssign):
            sign = source.cut(node.operator).strip().removesuffix("=")
            family = _BITS if sign in _BITS else _ALL
            yield from (source.token(node.operator, f"{other}=") for other in _NEAR.get(sign, ()))
            yield source.token(node.operator, "=")
            yield from (source.token(node.operator, f"{other}=") for other in family if other != sign)
        for target in source.of(cst.AssignTarget):
            if isinstance(target.target, cst.Name | cst.Attribute | cst.Subscript) and not _is_new(source, target):
                left, right = source.span(target.target)[1], _value_start(source, target)
                kind = source.scope.kind(_assigned(source, target))
                signs = ("+",) if kind in (Kind.TEXT, Kind.LIST) else ("+", "-")
                yield from (Splice(left, right, f" {sign}= ", source.statement(target)) for sign in signs)


class UnarySign(Template):
    """A minus taken away, set before a number, or in the place of a `not` that no condition asks."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        asked = {id(node) for node in conditions(source)}
        for node in source.of(cst.UnaryOperation):
            match node.operator:
                case cst.Not() if id(node) not in asked:
                    yield source.replace(node, f"-{source.whole(node.expression)}")
                case cst.Minus():
                    yield source.replace(node, source.cut(node.expression))
                case cst.Plus() | cst.BitInvert():
                    yield source.replace(node, f"-{source.cut(node.expression)}").weighed(RARE)
                case _:
                    pass
        for number in source.of(cst.Integer, cst.Float):
            if not _has_sign(source, number) and number.value not in ("0", "0.0"):
                yield source.replace(number, f"-{number.value}")


def _has_sign(source: Source, number: cst.Integer | cst.Float) -> bool:
    """True where a minus is there, would be the other sign of a sum, or the remainder by a number below zero."""
    parent = source.parent(number)
    if isinstance(parent, cst.BinaryOperation) and parent.right is number:
        return isinstance(parent.operator, cst.Add | cst.Subtract | cst.Modulo)
    return isinstance(parent, cst.UnaryOperation)


class RoundedUp(Template):
    """A quotient rounded up."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BinaryOperation):
            if isinstance(node.operator, cst.FloorDivide | cst.Divide):
                left, right = source.whole(node.left), source.whole(node.right)
                yield source.replace(node, f"-(-{left} // {right})")


def _instead(source: Source, operator: cst.BaseBinaryOp, sign: str) -> Splice:
    return source.token(operator, sign).weighed(
        likelier_operation(_sign(source, operator), sign, source.parent(operator))
    )


def _operations(source: Source, scope: Scope) -> Iterator[cst.BaseBinaryOp]:
    for node in source.of(cst.BinaryOperation):
        if Kind.TEXT not in (scope.kind(node.left), scope.kind(node.right)):
            yield node.operator


def _sign(source: Source, operator: cst.BaseBinaryOp) -> str:
    return source.cut(operator).strip()


def _is_new(source: Program, target: cst.AssignTarget) -> bool:
    """True for a name that has no value before: nothing can be added to it."""
    if not isinstance(target.target, cst.Name):
        return False
    name, function = target.target.value, source.function(target)
    if function is not None and any(one.name.value == name for one in function.params.params):
        return False
    before = source.once(("assigned", function), lambda: _first_lines(source, function))
    return source.span(target)[0][0] <= before.get(name, 0)


def _first_lines(source: Program, function: Where) -> dict[str, int]:
    """The line in which each name of a function is first written."""
    lines: dict[str, int] = {}
    for node in source.inside(function, cst.Name):
        if not is_load(source, node):
            lines.setdefault(node.value, source.span(node)[0][0])
    return lines


def _assigned(source: Source, target: cst.AssignTarget) -> cst.BaseExpression:
    above = source.parent(target)
    assert isinstance(above, cst.Assign)
    return above.value


def _value_start(source: Source, target: cst.AssignTarget) -> tuple[int, int]:
    line, column = source.span(target.target)[1]
    rest = source.lines[line - 1][column:]
    equals = rest.index("=") + 1
    return line, column + equals + len(rest[equals:]) - len(rest[equals:].lstrip())
