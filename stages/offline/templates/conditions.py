"""Conditions made stricter, looser, or replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice, Where
from stages.offline.templates.base import Template
from stages.offline.templates.places import conditions

_PARTS_AT_MOST: Final = 24


class ExtendedCondition(Template):
    """`c or d` and `c and d` for `c`: d from the function, or a test of a name for emptiness or None."""

    weight = 0.55

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in conditions(source):
            if isinstance(source.parent(node), cst.BooleanOperation) or _is_true(node):
                continue
            text = source.whole(node)
            for part in _parts(source, source.scope, node):
                yield source.replace(node, f"{part} or {text}")
                yield source.replace(node, f"{_tight(part)} and {text}")


class ConditionReplaced(Template):
    """Always, never, or another condition of the same function."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.If, cst.While, cst.IfExp):
            text = source.cut(node.test)
            if not _is_true(node.test):
                yield source.replace(node.test, "True")
                if not isinstance(node, cst.While):
                    yield source.replace(node.test, "False")
            function = source.function(node)
            donors = dict.fromkeys(
                source.cut(other.test)
                for other in (*source.inside(function, cst.If, cst.While), *source.inside(function, cst.IfExp))
            )
            yield from (source.replace(node.test, other) for other in donors if other != text)


class LoopCondition(Template):
    """`while x` for `while True`, and the other way round."""

    weight = 0.8

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.While):
            if not _is_true(node.test):
                continue
            for name in source.scope.visible(node):
                if source.scope.kind_of(name, source.function(node)) is not Kind.CALLABLE:
                    yield source.replace(node.test, name)
            for part in _parts(source, source.scope, node.test):
                yield source.replace(node.test, f"not ({part})")


def _parts(source: Source, scope: Scope, node: cst.BaseExpression) -> list[str]:
    """Small conditions that can be asked at a place."""
    text = source.cut(node)
    inner = [
        below for below in source.inside(source.function(node), cst.Name, cst.Attribute) if _inside(source, below, node)
    ]
    mine = dict.fromkeys(source.cut(below) for below in inner if not _is_callee(source, below))
    names = [name for name in scope.visible(node) if scope.kind_of(name, source.function(node)) is not Kind.CALLABLE]
    parts = [f"{name} is None" for name in mine]
    parts += [f"not {name}" for name in dict.fromkeys((*names, *mine))]
    parts += source.once(("tests", source.function(node)), lambda: _tests(source, source.function(node)))
    parts += list(dict.fromkeys((*names, *mine)))
    return [part for part in dict.fromkeys(parts) if part != text][:_PARTS_AT_MOST]


def _tests(source: Source, function: Where) -> list[str]:
    """Comparisons that a function asks."""
    asked = (other for other in conditions(source) if isinstance(other, cst.Comparison))
    return [source.cut(other) for other in asked if source.function(other) is function]


def _inside(source: Source, below: cst.CSTNode, node: cst.CSTNode) -> bool:
    start, end = source.span(node)
    first, last = source.span(below)
    return start <= first and last <= end


def _is_callee(source: Source, node: cst.BaseExpression) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


def _tight(part: str) -> str:
    return f"({part})" if " or " in part else part
