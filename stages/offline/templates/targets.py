"""Targets of assignments, and methods that change a thing in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template

_OTHERS_AT_MOST: Final = 10
_IN_PLACE: Final = ("update", "append", "extend", "add")
_GIVES_NEW: Final = ("sort", "reverse")


class TargetReplaced(Template):
    """Another target: a name that the function knows, an attribute or a stored item."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.AssignTarget, cst.AugAssign):
            target, function = node.target, source.function(node)
            text = source.cut(target)
            others = [name for name in source.scope.locals(function) if function is not None]
            others += _stored(source, function, (cst.Attribute, cst.Subscript))
            if isinstance(target, cst.Subscript):
                others = [*_made_of(source, target), *others]
            for other in [other for other in dict.fromkeys(others) if other != text][:_OTHERS_AT_MOST]:
                yield source.replace(target, other)


class AssignedInPlace(Template):
    """`x = y` for `x.update(y)`, and the other way round."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Expr):
            match node.value:
                case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(verb)), args=[argument]):
                    if verb in _IN_PLACE:
                        whole, given = source.cut(value), source.cut(argument.value)
                        yield Splice(*source.span(node), f"{whole} = {given}", source.statement(node))
                        yield Splice(*source.span(node), f"{whole} = {whole} + {given}", source.statement(node))
                case _:
                    pass
        for made in source.of(cst.Assign):
            if isinstance(made.targets[0].target, cst.Name | cst.Subscript | cst.Attribute):
                whole, given = source.cut(made.targets[0].target), source.cut(made.value)
                verbs = [verb for verb in _IN_PLACE if f".{verb}(" in source.text]
                yield from (
                    Splice(*source.span(made), f"{whole}.{verb}({given})", source.statement(made)) for verb in verbs
                )


class ResultKept(Template):
    """`x = f(x)` for a call whose result was thrown away."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Expr):
            match node.value:
                case cst.Call(func=cst.Attribute(value=value)):
                    text = source.cut(node.value)
                    yield Splice(*source.span(node), f"{source.cut(value)} = {text}", source.statement(node))
                    yield Splice(*source.span(node), f"return {text}", source.statement(node))
                case cst.Call():
                    yield Splice(*source.span(node), f"return {source.cut(node.value)}", source.statement(node))
                case _:
                    pass


def _stored(source: Source, function: cst.FunctionDef | None, kinds: tuple[type[cst.CSTNode], ...]) -> list[str]:
    """Targets of this shape elsewhere in the function."""
    found = [
        node for node in source.inside(function, cst.AssignTarget, cst.AugAssign) if isinstance(node.target, kinds)
    ]
    return [source.cut(node.target) for node in found]


def _made_of(source: Source, target: cst.Subscript) -> Iterator[str]:
    """Items of things that the function subscripts, with the parts of this key."""
    function, key = source.function(target), source.span(target.slice[0])[0]
    whole_key = source.between(key, source.span(target.slice[-1])[1])
    parts = [source.cut(part) for part in target.slice]
    for element in source.inside(function, cst.Tuple):
        if element in [one.slice.value for one in target.slice if isinstance(one.slice, cst.Index)]:
            parts += [source.cut(item.value) for item in element.elements]
    bases = [source.cut(one.value) for one in source.inside(function, cst.Subscript)]
    for base in dict.fromkeys((source.cut(target.value), *bases)):
        for part in dict.fromkeys((whole_key, *(part.rstrip(", ") for part in parts))):
            yield f"{base}[{part}]"
