"""Places that several templates look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Source, Where

_NO_VALUE: Final = (
    cst.Param,
    cst.ImportAlias,
    cst.ImportFrom,
    cst.Import,
    cst.FunctionDef,
    cst.ClassDef,
    cst.Annotation,
    cst.Global,
    cst.Nonlocal,
    cst.AsName,
    cst.NameItem,
    cst.Del,
    cst.Decorator,
)


def conditions(source: Source) -> Sequence[cst.BaseExpression]:
    """Expressions that are asked whether they are true, the smallest ones of `and` and `or` too."""
    return source.once("conditions", lambda: list(_conditions(source)))


def _conditions(source: Source) -> Iterator[cst.BaseExpression]:
    for node in source.nodes:
        if isinstance(node, cst.If | cst.While | cst.IfExp | cst.CompIf | cst.Assert):
            yield from _sides(node.test)
    for given in source.of(cst.Return):
        if isinstance(given.value, cst.Comparison | cst.BooleanOperation | cst.UnaryOperation | cst.Name):
            yield from _sides(given.value)


def _sides(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    yield node
    if isinstance(node, cst.BooleanOperation):
        yield from _sides(node.left)
        yield from _sides(node.right)


def loads(source: Source) -> Sequence[cst.BaseExpression]:
    """Expressions whose value is used: no targets, no names of parameters, functions, keywords, annotations."""
    return source.once("loads", lambda: [node for node in source.expressions() if is_load(source, node)])


def is_load(source: Source, node: cst.BaseExpression) -> bool:
    """True when the value of the expression is used where it stands."""
    parent = source.parent(node)
    match parent:
        case cst.Attribute(value=value):
            return node is value
        case cst.Arg(keyword=keyword):
            return node is not keyword
        case cst.AssignTarget() | cst.AugAssign(target=_) if node is parent.target:
            return False
        case cst.AnnAssign() | cst.NamedExpr() | cst.For() | cst.CompFor() if node is parent.target:
            return False
        case cst.Element() | cst.StarredElement():
            group = source.parent(parent)
            return not isinstance(group, cst.BaseExpression) or is_load(source, group)
        case cst.Param(default=default):
            return node is default
        case _ if isinstance(parent, _NO_VALUE):
            return False
        case _:
            return not _in_annotation(source, node)


def idle(source: Program, function: Where) -> list[str]:
    """Names that a function binds and never uses, not even in functions within it; None is the module."""
    return source.once(("idle", function), lambda: _idle(source, function))


def _idle(source: Program, function: Where) -> list[str]:
    first, last = source.span(function.body if function else source.module)
    inside = (node for node in source.every(cst.Name) if first <= source.span(node)[0] <= last)
    used = {node.value for node in inside if is_load(source, node)}
    return [name for name in source.scope.locals(function) if name not in used and name != "_"]


def _in_annotation(source: Source, node: cst.CSTNode) -> bool:
    return isinstance(source.parent(node), cst.Subscript) and source.within(node, cst.Annotation) is not None


def is_docstring(source: Source, node: cst.BaseExpression) -> bool:
    """True for a text that stands alone as a statement."""
    return isinstance(source.parent(node), cst.Expr)
