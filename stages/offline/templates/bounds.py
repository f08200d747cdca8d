"""Indexes and slices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_load, loads

_BOUNDS_AT_MOST: Final = 11
"""Slices tried for one sequence."""
_WITH_ITEMS: Final = (Kind.LIST, Kind.TEXT, Kind.UNKNOWN)
_INDEXED_AT_MOST: Final = 4


class SliceBound(Template):
    """A bound of a slice dropped, moved to the other side, or its sign changed."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Slice):
            start, end = source.span(node)
            lower, upper = (source.cut(bound) if bound is not None else "" for bound in (node.lower, node.upper))
            step = f":{source.cut(node.step)}" if node.step is not None else ""
            made = [(lower, ""), ("", upper), (upper, lower), (lower, "-1"), ("1", upper)]
            made += [(lower, f"-{upper}")] if upper.isidentifier() or upper.isdigit() else []
            made += [(f"-{lower}", upper)] if lower.isidentifier() or lower.isdigit() else []
            for one, other in dict.fromkeys(made):
                if (one, other) != (lower, upper):
                    yield Splice(start, end, f"{one}:{other}{step}", source.statement(node))


class IndexReplaced(Template):
    """The first for the last, or the element before this one from the end."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Index):
            text = source.cut(node.value)
            others = {"0": ("-1", "1"), "-1": ("0", "-2"), "1": ("0", "-1")}.get(text, ())
            yield from (source.replace(node.value, other) for other in others)


class SliceAdded(Template):
    """Only a part of a sequence: from the second, without the last, up to or from a number in scope, reversed."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in loads(source):
            if isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.ListComp) and _may_be_sequence(
                source, source.scope, node
            ):
                text = source.cut(node)
                numbers = _numbers(source, source.scope, node)
                bounds = ("1:", ":-1", "::-1", *(f"{n}:" for n in numbers), *(f":{n}" for n in numbers))
                yield from (source.replace(node, f"{text}[{bound}]") for bound in bounds[:_BOUNDS_AT_MOST])


class Indexed(Template):
    """`x[i]` for a name, where i counts the loop around it."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in loads(source):
            if isinstance(node, cst.Name) and (counters := _counters(source, node)) and not _is_item(source, node):
                scope, function = source.scope, source.function(node)
                known = [name for name in scope.visible(node) if scope.kind_of(name, function) in _WITH_ITEMS]
                wanted = [name for name in known if name not in (*counters, "self", "cls")][:_INDEXED_AT_MOST]
                yield from (source.replace(node, f"{name}[{counter}]") for name in wanted for counter in counters)


class IndexDropped(Template):
    """`x` for `x[i]`, and for `x[i:j]`."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Subscript):
            if is_load(source, node) and source.within(node, cst.Annotation) is None:
                yield source.replace(node, source.whole(node.value))


def _counters(source: Source, node: cst.CSTNode) -> list[str]:
    """What the loops around a node count with."""
    loops = [above for above in source.ancestors(node) if isinstance(above, cst.For)]
    return [loop.target.value for loop in loops if isinstance(loop.target, cst.Name) and _counts(loop.iter)]


def _counts(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "range"


def _is_item(source: Source, node: cst.CSTNode) -> bool:
    """True for what is indexed, called, or an index itself."""
    parent = source.parent(node)
    called = isinstance(parent, cst.Call) and parent.func is node
    return called or isinstance(parent, cst.Subscript | cst.Index | cst.Attribute)


def _numbers(source: Source, scope: Scope, node: cst.BaseExpression) -> list[str]:
    """Names in scope that hold a number, then those that may."""
    kinds = {name: scope.kind_of(name, source.function(node)) for name in scope.visible(node)}
    sure = [name for name, kind in kinds.items() if kind is Kind.NUMBER]
    return sure + [name for name, kind in kinds.items() if kind is Kind.UNKNOWN and name != source.cut(node)]


def _may_be_sequence(source: Source, scope: Scope, node: cst.BaseExpression) -> bool:
    parent = source.parent(node)
    if isinstance(parent, cst.Attribute | cst.Subscript | cst.BinaryOperation | cst.Comparison | cst.Index | cst.Expr):
        return False
    if isinstance(parent, cst.Call) and parent.func is node:
        return False
    known = scope.kind(node) in (Kind.LIST, Kind.TEXT)
    iterated = isinstance(parent, cst.For | cst.CompFor)
    given = isinstance(parent, cst.Arg) and not isinstance(node, cst.Call)
    return known or iterated or (given and scope.kind(node) is Kind.UNKNOWN)
