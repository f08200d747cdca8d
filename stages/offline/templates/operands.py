"""Operands dropped or added, and values held between bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template
from stages.offline.templates.numbers import calls_itself
from stages.offline.templates.places import is_load

_NAMES_AT_MOST: Final = 10
_OPERANDS: Final = (
    cst.Name,
    cst.Subscript,
    cst.Call,
    cst.List,
    cst.ListComp,
    cst.BinaryOperation,
    cst.Attribute,
)


class DroppedOperand(Template):
    """`a` for `a + b`, and `b`."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BinaryOperation):
            yield source.replace(node, source.whole(node.left))
            yield source.replace(node, source.whole(node.right))


class AddedNumber(Template):
    """A name that surely holds a number, added or taken away."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operands(source):
            if source.scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN):
                for name in _fitting(source, node):
                    if source.scope.kind_of(name, source.function(node)) is Kind.NUMBER:
                        yield from (source.replace(node, f"{source.whole(node)} {sign} {name}") for sign in "-+*")


class OwnArgument(Template):
    """What a function gives to its call of itself, less or more by a number that it has counted."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for call in source.of(cst.Call):
            for node in [one.value for one in call.args] if calls_itself(source, call) else ():
                if isinstance(node, cst.Name) and source.scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN):
                    function = source.function(node)
                    counted = [
                        name for name in _fitting(source, node) if source.scope.kind_of(name, function) is Kind.NUMBER
                    ]
                    yield from (
                        source.replace(node, f"{node.value} {sign} {name}") for name in counted for sign in "-+"
                    )


class AddedOperand(Template):
    """Another name in scope added, taken away, or set as a factor."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operands(source):
            text, kind = source.whole(node), source.scope.kind(node)
            signs = ("+",) if kind in (Kind.LIST, Kind.TEXT) else ("+", "-", "*")
            for name in _fitting(source, node):
                if source.scope.kind_of(name, source.function(node)) is not Kind.NUMBER:
                    yield from (source.replace(node, f"{text} {sign} {name}") for sign in signs)
                if kind is Kind.LIST:
                    yield source.replace(node, f"{name} + {text}")


class Squared(Template):
    """`x ** 2` for `x`."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operands(source):
            if isinstance(node, cst.Name | cst.Attribute) and source.scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN):
                yield source.replace(node, f"{source.whole(node)} ** 2")


class Scaled(Template):
    """Half of a number, its double, its square and its cube."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _operands(source):
            if source.scope.kind(node) not in (Kind.NUMBER, Kind.UNKNOWN) or isinstance(node, cst.List | cst.ListComp):
                continue
            text = source.whole(node)
            atom = f"({text})" if isinstance(node, cst.BinaryOperation) and not node.lpar else text
            shapes = ("{} / 2", "{} // 2", "{} * 2", "{} ** 2", "{} ** 3")
            plain = isinstance(node, cst.Name | cst.Attribute)  # whose square is tried before
            yield from (source.replace(node, shape.format(atom)) for shape in shapes if not (plain and "** 2" in shape))


class Clamp(Template):
    """A value that may not pass another one: `max(0, x)`, and at an assignment the target itself."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Assign, cst.Return):
            value = node.value
            if (
                value is None
                or source.scope.kind(value) not in (Kind.NUMBER, Kind.UNKNOWN)
                or isinstance(value, cst.Tuple)
            ):
                continue
            text = source.cut(value)
            bounds = ["0"]
            if isinstance(node, cst.Assign):
                bounds = [source.cut(node.targets[0].target), "0"]
            for bound in bounds:
                yield source.replace(value, f"max({bound}, {text})")
                yield source.replace(value, f"min({bound}, {text})")


class ClampDropped(Template):
    """`x` for `max(x, y)` and `min(x, y)`."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            if isinstance(node.func, cst.Name) and node.func.value in ("min", "max") and len(node.args) == 2:
                yield from (source.replace(node, source.cut(argument.value)) for argument in node.args)


def _operands(source: Program) -> Iterator[cst.BaseExpression]:
    for node in source.expressions():
        if isinstance(node, _OPERANDS) and _may_be_operand(source, node):
            yield node


def _may_be_operand(source: Program, node: cst.BaseExpression) -> bool:
    kind, parent = source.scope.kind(node), source.parent(node)
    if kind not in (Kind.NUMBER, Kind.TEXT, Kind.LIST, Kind.UNKNOWN) or not is_load(source, node):
        return False
    if isinstance(node, cst.Name) and node.value in ("None", "self", "cls", "True", "False"):
        return False
    if isinstance(parent, cst.BinaryOperation):
        return not isinstance(node, cst.BinaryOperation)
    return not isinstance(
        parent, cst.Attribute | cst.Expr | cst.BooleanOperation | cst.For | cst.CompFor | cst.Call | cst.Subscript
    )


def _fitting(source: Program, node: cst.BaseExpression) -> list[str]:
    text, scope = source.cut(node), source.scope
    names = [name for name in scope.visible(node) if scope.fits(name, node) and name not in (text, "self", "cls")]
    return names[:_NAMES_AT_MOST]
