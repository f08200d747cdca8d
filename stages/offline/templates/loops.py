"""What a loop goes over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import loads

_AT_MOST: Final = 14
_WITHOUT_ITEMS: Final = (Kind.NUMBER, Kind.TRUTH, Kind.CALLABLE)


class LoopOver(Template):
    """Something else to go over: a name in scope, or what stands elsewhere in the function or the class.

    Pairs are taken from `.items()`, `enumerate` and `zip` too, numbers from `range(len(x))`.
    """

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for loop in source.of(cst.For, cst.CompFor):
            own = source.cut(loop.iter)
            targets = set(_names(loop.target))
            names = [name for name in _collections(source, loop) if name not in targets]
            pair = isinstance(loop.target, cst.Tuple)
            shapes = ("{}.items()", "enumerate({})", "{}") if pair else ("{}", "range(len({}))", "range({})")
            known = [text for text in _gone_over(source) if text != own]
            # An empty loop says nothing of what it was for; any other one was nearly right.
            wanted = [shape.format(name) for shape in shapes for name in names]
            for text in dict.fromkeys(
                (*known[:_AT_MOST], *wanted[: 3 * _AT_MOST if _is_empty(loop.iter) else _AT_MOST])
            ):
                if text != own:
                    yield source.replace(loop.iter, text)


def _is_empty(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.List | cst.Tuple) and not node.elements


def _collections(source: Program, loop: cst.For | cst.CompFor) -> list[str]:
    scope, function = source.scope, source.function(loop)
    visible = [name for name in scope.visible(loop) if scope.kind_of(name, function) not in _WITHOUT_ITEMS]
    attributes = [
        source.cut(node)
        for node in loads(source)
        if isinstance(node, cst.Attribute) and source.function(node) is function
    ]
    return [name for name in dict.fromkeys((*visible, *attributes)) if name not in ("self", "cls")]


def _gone_over(source: Program) -> list[str]:
    """What other loops of the file go over, the nearest in the order of the text."""
    return source.once("gone over", lambda: list(dict.fromkeys(_iterables(source))))


def _iterables(source: Program) -> Iterator[str]:
    for node in source.every(cst.CSTNode):  # type: ignore[type-abstract]
        if isinstance(node, cst.For | cst.CompFor) and "\n" not in (text := source.cut(node.iter)):
            yield text


def _names(target: cst.BaseExpression) -> Iterator[str]:
    match target:
        case cst.Name(name):
            yield name
        case cst.Tuple(elements=elements):
            for element in elements:
                yield from _names(element.value)
        case _:
            return
