"""Numbers: off by one, and other constants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_load, loads
from stages.offline.templates.usual import RARE, likelier_number

_NAMES_AT_MOST: Final = 10
_OTHERS_AT_MOST: Final = 30
"""Numbers of the file that are tried for one number."""
_PLACES: Final = 12
"""Behind the point, as far as a sum of two numbers is exact."""


class OffByOneNumber(Template):
    """A number, one more or one less."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Integer):
            parent, value = source.parent(node), int(node.value, 0)
            if isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Minus):
                yield from (_beside(source, parent, -value, step) for step in (1, -1))
            elif sign := _sign_of(parent, node):
                yield from _stepped(source, parent, node, sign)
            else:
                yield from (_beside(source, node, value, step) for step in (1, -1))
        for number in source.of(cst.Float):
            yield from (source.replace(number, repr(round(float(number.value) + step, _PLACES))) for step in (1, -1))


def _beside(source: Source, node: cst.BaseExpression, value: int, step: int) -> Splice:
    return source.replace(node, str(value + step)).weighed(likelier_number(value, value + step))


def _sign_of(parent: cst.CSTNode, node: cst.Integer) -> int:
    """1 for the n of `x + n`, -1 for the n of `x - n`, 0 elsewhere."""
    match parent:
        case cst.BinaryOperation(operator=cst.Add(), right=right) if right is node:
            return 1
        case cst.BinaryOperation(operator=cst.Subtract(), right=right) if right is node:
            return -1
        case _:
            return 0


def _stepped(source: Source, parent: cst.CSTNode, node: cst.Integer, sign: int) -> Iterator[Splice]:
    assert isinstance(parent, cst.BinaryOperation)
    value = int(node.value, 0)
    for change in (1, -1):
        # `x - 1` one more is `x`, never `x - 0` or `x - 1 + 1`
        number = sign * value + change
        share = likelier_number(sign * value, number) if value else RARE
        yield source.replace(parent, plus(source.whole(parent.left), number)).weighed(share)


def plus(text: str, number: int) -> str:
    """`text` and a number added, as one would write it."""
    if number == 0:
        return text
    return f"{text} + {number}" if number > 0 else f"{text} - {-number}"


class OffByOne(Template):
    """One more or one less where it is counted: arguments of `range` and of a function's call of itself, indexes,
    slices, sides of a comparison."""

    weight = 0.8

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in _counting(source):
            if not _has_number(node) and source.scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN):
                text = source.whole(node)
                yield source.replace(node, f"{text} - 1")
                yield source.replace(node, f"{text} + 1")


def _counting(source: Source) -> Iterator[cst.BaseExpression]:
    for node in source.nodes:
        match node:
            case cst.Call(func=cst.Name("range" | "enumerate" | "islice"), args=arguments):
                yield from (argument.value for argument in arguments)
            case cst.Call(args=arguments) if calls_itself(source, node):
                yield from (argument.value for argument in arguments)
            case cst.Index(value=value) if not isinstance(value, cst.SimpleString | cst.Tuple):
                if is_load(source, source.parent(source.parent(node))):  # type: ignore[arg-type]
                    yield value
            case cst.Slice():
                yield from (bound for bound in (node.lower, node.upper) if bound is not None)
            case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator, comparator=right)]):
                if not isinstance(operator, cst.In | cst.NotIn | cst.Is | cst.IsNot):
                    yield from (node.left, right)
            case _:
                pass


def calls_itself(source: Source, call: cst.Call) -> bool:
    """True for a call of a function in its own body."""
    around = (above.name.value for above in source.ancestors(call) if isinstance(above, cst.FunctionDef))
    return isinstance(call.func, cst.Name) and call.func.value in around


class OffByOneAnywhere(Template):
    """One more or one less for any other value that may be a number."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        counted = {id(node) for node in _counting(source)}
        for node in loads(source):
            if id(node) in counted or _has_number(node) or not _may_be_number(source, source.scope, node):
                continue
            text = source.whole(node)
            yield source.replace(node, f"{text} - 1")
            yield source.replace(node, f"{text} + 1")


def _has_number(node: cst.BaseExpression) -> bool:
    """True for numbers, and for sums with one: those are changed where the number stands."""
    match node:
        case cst.Integer() | cst.Float() | cst.UnaryOperation(expression=cst.Integer() | cst.Float()):
            return True
        case cst.BinaryOperation(operator=cst.Add() | cst.Subtract(), right=cst.Integer()):
            return True
        case _:
            return False


def _may_be_number(source: Source, scope: Scope, node: cst.BaseExpression) -> bool:
    if isinstance(source.parent(node), cst.Attribute | cst.Expr):
        return False
    match node:
        case cst.Name(value):
            return scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN) and value not in ("None", "self", "cls")
        case cst.Call() | cst.BinaryOperation():
            return scope.kind(node) in (Kind.NUMBER, Kind.UNKNOWN)
        case cst.Subscript() | cst.Attribute():
            return not (isinstance(source.parent(node), cst.Call | cst.Subscript) or _of_module(node))
        case _:
            return False


def _of_module(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Attribute)


class Constant(Template):
    """Another number: one that stands in the file or the ticket, 0, 1, ten times or a tenth."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        numbers = (*source.every(cst.Integer), *source.every(cst.Float))
        in_file = dict.fromkeys(source.cut(node) for node in numbers)
        hinted = [hint for hint in source.hints if hint.replace(".", "", 1).isdigit()]
        for node in source.of(cst.Integer, cst.Float):
            others = dict.fromkeys((*hinted, *_near(node), *list(in_file)[:_OTHERS_AT_MOST]))
            yield from (source.replace(node, other) for other in others if other != node.value)


class ConstantToName(Template):
    """A name in scope for a number."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in (*source.of(cst.Integer), *source.of(cst.Float)):
            names = [name for name in source.scope.visible(node) if source.scope.fits(name, node)]
            yield from (source.replace(node, name) for name in names[:_NAMES_AT_MOST] if name not in ("self", "cls"))


def _near(node: cst.Integer | cst.Float) -> tuple[str, ...]:
    if isinstance(node, cst.Float):
        value = float(node.value)
        return tuple(dict.fromkeys(repr(near) for near in (value + 1.0, value - 1.0, value / 10, value * 10, 0.0, 1.0)))
    number = int(node.value, 0)
    return tuple(
        str(near) for near in (0, 1, 2, -1, number + 2, number - 2, number * 2, number // 2, number * 10, number // 10)
    )
