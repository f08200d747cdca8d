"""Order: arguments, operands, items, targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import libcst as cst

from stages.offline.scope import Program, Scope, alike
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template

_FIXED: Final = (cst.Subtract, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power, cst.LeftShift, cst.RightShift)

_TEXTS: Final = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_ORDERED: Final = ("isinstance", "issubclass", "getattr", "setattr", "hasattr", "super")
"""Functions whose arguments nobody swaps unseen: what comes out fails at once."""


class SwappedArguments(Template):
    """Two arguments of a call swapped."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            if isinstance(node.func, cst.Name) and node.func.value in _ORDERED:
                continue
            plain = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
            yield from _pairs(source, source.scope, plain)
            named = [arg.value for arg in node.args if arg.keyword is not None]
            yield from _pairs(source, source.scope, named)


class SwappedOperands(Template):
    """The operands of an operation swapped where the order matters."""

    weight = 0.7

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.BinaryOperation):
            if isinstance(node.left, _TEXTS) and isinstance(node.operator, cst.Modulo):
                continue  # a text and what is put into it
            sure = isinstance(node.operator, _FIXED)
            if (sure or isinstance(node.operator, cst.Add)) and source.cut(node.left) != source.cut(node.right):
                yield source.swap(node.left, node.right)


class SwappedItems(Template):
    """Two items of a tuple, a list or an index swapped, or two targets."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Tuple, cst.List):
            yield from _pairs(source, source.scope, [one.value for one in node.elements])
        for subscript in source.of(cst.Subscript):
            parts = [part.slice.value for part in subscript.slice if isinstance(part.slice, cst.Index)]
            yield from _pairs(source, source.scope, parts)
        for entry in source.of(cst.DictElement):
            if alike(source.scope.kind(entry.key), source.scope.kind(entry.value)):
                yield source.swap(entry.key, entry.value)


class SwappedBranches(Template):
    """`a if c else b` as `b if c else a`."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.IfExp):
            yield source.swap(node.body, node.orelse)


def _pairs(source: Source, scope: Scope, nodes: Sequence[cst.BaseExpression]) -> Iterator[Splice]:
    for one, other in combinations(nodes[:4], 2):
        if source.cut(one) != source.cut(other) and alike(scope.kind(one), scope.kind(other)):
            yield source.swap(one, other)
