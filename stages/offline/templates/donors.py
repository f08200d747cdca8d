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
            if isinstance(parent, cst.Index | cst.DictElement) or (isinstance(parent, cst.Arg) and got):
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
            for node in source.of(cst.Attribute)
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


def _is_callee(source: Source, node: cst.BaseExpression) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node
