"""First values, returned values and collections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template

_FIRST: Final = ("0", "1", "-1", "None", "[]", "{}", "set()", "''", "float('inf')", "float('-inf')", "False", "True")
_NAMES_AT_MOST: Final = 10


class InitialValue(Template):
    """Another first value for a name: another constant, or a parameter."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Assign):
            if not _is_plain(node.value):
                continue
            text, function = source.cut(node.value), source.function(node)
            names = (
                [name for name in source.scope.locals(function) if name not in _written(source, node)]
                if function
                else []
            )
            for other in (*_FIRST, *names[:_NAMES_AT_MOST]):
                if other != text:
                    yield source.replace(node.value, other)


class DefaultValue(Template):
    """Another default of a parameter."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Param):
            if node.default is not None and _is_plain(node.default):
                text = source.cut(node.default)
                yield from (source.replace(node.default, other) for other in _FIRST if other != text)


class ReturnedValue(Template):
    """Another returned or yielded value: a name in scope, a constant, or what the function returns elsewhere."""

    weight = 0.45

    def splices(self, source: Program) -> Iterator[Splice]:
        given = [node for node in source.of(cst.Return, cst.Yield) if isinstance(node.value, cst.BaseExpression)]
        for node in given:
            assert isinstance(node.value, cst.BaseExpression)
            function, text = source.function(node), source.cut(node.value)
            elsewhere = [other for other in source.inside(function, cst.Return, cst.Yield) if other is not node]
            donors = [source.cut(other.value) for other in elsewhere if isinstance(other.value, cst.BaseExpression)]
            names = list(source.scope.locals(function))[:_NAMES_AT_MOST]
            tests = [f"{name} == 0" for name in names if source.scope.kind_of(name, function) is Kind.NUMBER]
            tests += [f"not {name}" for name in names] if source.scope.kind(node.value) is Kind.TRUTH else []
            plain = [f"[{name}]" for name in names] if source.scope.kind(node.value) is Kind.LIST else []
            for other in dict.fromkeys(
                (*donors, *names, *tests, *plain, "None", "True", "False", "0", "1", "[]", "''")
            ):
                if other != text:
                    yield source.replace(node.value, other)


class Nested(Template):
    """A list put into a list, an item put into an empty list, or taken out of its brackets."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.List):
            yield source.replace(node, f"[{source.cut(node)}]")
            if len(node.elements) == 1:
                yield source.replace(node, source.cut(node.elements[0].value))
            if not node.elements:
                names = [name for name in source.scope.visible(node) if name not in ("self", "cls")][:_NAMES_AT_MOST]
                yield from (source.replace(node, f"[{name}]") for name in names)


class ItemDropped(Template):
    """A list, a tuple or a dict with one item less."""

    weight = 0.3

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.List, cst.Dict, cst.Tuple):
            items = [source.cut(item) for item in node.elements]
            if len(items) < 2:
                continue
            start, end = source.span(node.elements[0])[0], source.span(node.elements[-1])[1]
            for place in range(len(items)):
                rest = ", ".join(items[:place] + items[place + 1 :])
                tail = "," if isinstance(node, cst.Tuple) and len(items) == 2 else ""
                yield Splice(start, end, rest + tail, source.statement(node))


class YieldFrom(Template):
    """`yield from x` for `yield x`, and the other way round."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Yield):
            match node.value:
                case cst.From(item=item):
                    yield Splice(*source.span(node), f"yield {source.cut(item)}", source.statement(node))
                case cst.BaseExpression():
                    yield Splice(*source.span(node), f"yield from {source.cut(node.value)}", source.statement(node))
                case _:
                    pass


def _is_plain(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Integer() | cst.Float() | cst.SimpleString() | cst.Name() | cst.UnaryOperation():
            return True
        case cst.List(elements=elements) | cst.Dict(elements=elements) | cst.Tuple(elements=elements):
            return not elements
        case cst.Call():
            return not node.args
        case cst.Subscript():
            return True
        case _:
            return False


def _written(source: Source, node: cst.Assign) -> list[str]:
    return [source.cut(node.value), *(source.cut(target.target) for target in node.targets)]
