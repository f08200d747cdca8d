"""An expression replaced by another one of the same function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, alike
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_load, loads

_DONORS_AT_MOST: Final = 16
_RICH: Final = (cst.Call, cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.Name, cst.IfExp)


class DonorExpression(Template):
    """A call, an attribute, an item or an operation replaced by one that stands elsewhere in the function."""

    weight = 0.45

    def splices(self, source: Program) -> Iterator[Splice]:
        taken = [node for node in loads(source) if isinstance(node, _RICH) and not _is_callee(source, node)]
        by_function: dict[cst.FunctionDef | None, dict[str, Kind]] = {}
        for node in taken:
            text = source.cut(node)
            if "\n" not in text and text not in ("None", "True", "False", "self", "cls"):
                by_function.setdefault(source.function(node), {}).setdefault(text, source.scope.kind(node))
        for node in taken:
            function, text = source.function(node), source.cut(node)
            if function is None or isinstance(source.parent(node), cst.Expr):
                continue
            donors = by_function.get(function, {}).items()
            near = [
                other
                for other, kind in donors
                if other != text
                and alike(kind, source.scope.kind(node))
                and not (isinstance(node, cst.Name) and other.isidentifier())
            ]
            yield from (source.replace(node, other) for other in near[:_DONORS_AT_MOST])


class NoneToDonor(Template):
    """An expression of the same function for a `None` that is given, assigned or returned."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Name):
            if node.value == "None" and isinstance(source.parent(node), cst.Arg | cst.Assign | cst.Return):
                donors = [
                    source.cut(other)
                    for other in loads(source)
                    if isinstance(other, _RICH) and source.function(other) is source.function(node)
                ]
                rich = [text for text in dict.fromkeys(donors) if not text.isidentifier() and "\n" not in text]
                yield from (source.replace(node, text) for text in rich[: 2 * _DONORS_AT_MOST])


class LikeSibling(Template):
    """A call with the argument that another call of the same function has there, more or instead."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            own = [source.cut(argument) for argument in node.args]
            if not node.args:
                continue
            start, end = source.span(node.args[0])[0], source.span(node.args[-1])[1]
            for place, text in source.once(("siblings", source.cut(node.func)), lambda: _siblings(source, node)):  # noqa: B023 - used at once
                if text in own or place > len(own):
                    continue
                more = ", ".join((*own[:place], text, *own[place:]))
                yield Splice(start, end, more, source.statement(node))
                if place < len(own):
                    yield Splice(start, end, ", ".join((*own[:place], text, *own[place + 1 :])), source.statement(node))


class AssignedElsewhere(Template):
    """What the same name is assigned at another place of the file."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        given: dict[str, dict[str, None]] = {}
        for node in source.every(cst.Assign):
            text = source.cut(node.value)
            if "\n" not in text:
                given.setdefault(source.cut(node.targets[0].target), {})[text] = None
        for node in source.of(cst.Assign):
            others = given.get(source.cut(node.targets[0].target), {})
            near = [text for text in others if text != source.cut(node.value)]
            yield from (source.replace(node.value, text) for text in near[:_DONORS_AT_MOST])


class DictKey(Template):
    """Another key that is used in the file: `x["b"]` for `x["a"]`, `.get("b")` for `.get("a")`."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        keys: dict[str, None] = {}
        places: list[cst.SimpleString] = []
        for node in source.of(cst.SimpleString):
            parent = source.parent(node)
            called = source.parent(parent)
            got = isinstance(called, cst.Call) and source.cut(called.func).endswith((".get", ".pop", ".setdefault"))
            first = isinstance(called, cst.Call) and called.args[0] is parent
            key = isinstance(parent, cst.Index) or (isinstance(parent, cst.DictElement) and parent.key is node)
            if key or (got and first):
                keys[node.value] = None
                places.append(node)
        for node in places:
            yield from (source.replace(node, key) for key in keys if key != node.value)


class ItemsOfName(Template):
    """An attribute of a name for the name: `x.value` for `x`, with attributes that the file uses."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        attributes = dict.fromkeys(
            node.attr.value
            for node in source.every(cst.Attribute)
            if not _is_callee(source, node) and is_load(source, node)
        )
        for node in source.of(cst.Name):
            if node.value in ("None", "True", "False", "self", "cls") or source.function(node) is None:
                continue
            if is_load(source, node) and not _is_callee(source, node) and source.scope.kind(node) is Kind.UNKNOWN:
                yield from (source.replace(node, f"{node.value}.{name}") for name in list(attributes)[:8])


class ValueOfAttribute(Template):
    """`x` for `x.value`."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Attribute):
            if source.cut(node.value) in ("self", "cls") or isinstance(node.value, cst.Call):
                continue
            if is_load(source, node) and not _is_callee(source, node):
                yield source.replace(node, source.whole(node.value))


def _siblings(source: Program, node: cst.Call) -> list[tuple[int, str]]:
    """Arguments of other calls of the same function, each with its place, those that stand next first."""
    called, line = source.cut(node.func), source.span(node)[0][0]
    others = [other for other in source.every(cst.Call) if other is not node and source.cut(other.func) == called]
    others.sort(key=lambda other: abs(source.span(other)[0][0] - line))
    found = [(place, source.cut(argument)) for other in others for place, argument in enumerate(other.args)]
    return [(place, text) for place, text in dict.fromkeys(found) if "\n" not in text][:_DONORS_AT_MOST]


def _is_callee(source: Source, node: cst.BaseExpression) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node
