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
_ASKED_AT_MOST: Final = 3


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


class AskedToo(Template):
    """One more thing asked of a name in a condition: even, odd, its sign, or what a function of the file says of it."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        askers = [function.name.value for function in source.every(cst.FunctionDef) if _asks(source, function)]
        for node in conditions(source):
            if isinstance(source.parent(node), cst.BooleanOperation) or _is_true(node):
                continue
            text, scope, function = source.whole(node), source.scope, source.function(node)
            inner = [name.value for name in source.inside(function, cst.Name) if _inside(source, name, node)]
            for name in [name for name in dict.fromkeys(inner) if name in scope.visible(node)][:_ASKED_AT_MOST]:
                own = function is not None and function.name.value
                parts = [f"{asker}({name})" for asker in askers if asker != own]
                if scope.kind_of(name, function) in (Kind.NUMBER, Kind.UNKNOWN):
                    parts += [f"{name} {rest}" for rest in ("% 2 == 0", "% 2 != 0", "> 0", ">= 0", "< 0", "!= 0")]
                for part in parts:
                    yield source.replace(node, f"{text} and {part}")
                    yield source.replace(node, f"{text} or {part}")


def _asks(source: Source, function: cst.FunctionDef) -> bool:
    """True for a function of one argument, and none of a class."""
    return len(function.params.params) == 1 and not isinstance(source.parent(source.parent(function)), cst.ClassDef)


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
    """`while x` for `while True`, and `while not x`."""

    weight = 0.8

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.While):
            if _is_true(node.test) and not _ends_the_answer(source, node):
                yield from _left(source, node)


class LoopConditionAtTheEnd(Template):
    """The same where nothing comes after the loop: the function then gives None, though it gives values elsewhere.

    Tests that ask only whether the answer is true do not tell None from False.
    """

    weight = 0.2

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.While):
            if _is_true(node.test) and _ends_the_answer(source, node):
                yield from _left(source, node)


def _left(source: Program, loop: cst.While) -> Iterator[Splice]:
    for name in source.scope.visible(loop):
        if source.scope.kind_of(name, source.function(loop)) is not Kind.CALLABLE:
            yield source.replace(loop.test, name)
    for part in _parts(source, source.scope, loop.test):
        yield source.replace(loop.test, f"not ({part})")


def _ends_the_answer(source: Source, loop: cst.While) -> bool:
    """True when a function that returns values ends where the loop ends."""
    function = source.function(loop)
    if function is None or not any(given.value is not None for given in source.inside(function, cst.Return)):
        return False
    here: cst.CSTNode = loop
    while here is not function:
        block = source.parent(here)
        if isinstance(block, cst.IndentedBlock) and block.body[-1] is not here:
            return False
        here = block
    return True


def _parts(source: Source, scope: Scope, node: cst.BaseExpression) -> list[str]:
    """Small conditions that can be asked at a place."""
    text = source.cut(node)
    inner = [
        below for below in source.inside(source.function(node), cst.Name, cst.Attribute) if _inside(source, below, node)
    ]
    mine = dict.fromkeys(source.cut(below) for below in inner if not _is_callee(source, below))
    names = [name for name in scope.visible(node) if scope.kind_of(name, source.function(node)) is not Kind.CALLABLE]
    parts = [f"{name} is {nothing}" for nothing in ("None", "not None") for name in mine]
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
