"""Calls put around a value or taken away, and their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_load

_AROUND: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.NUMBER: ("abs({})", "int({})", "str({})", "round({}, 2)"),
    Kind.TEXT: ("int({})", "float({})", "{}.strip()", "{}.lower()", "len({})"),
    Kind.LIST: ("len({})", "sorted({})", "list({})", "reversed({})", "set({})", "sum({})", "{}.copy()"),
    Kind.DICT: ("len({})", "dict({})", "{}.values()", "{}.items()", "{}.copy()"),
    Kind.SET: ("len({})", "sorted({})", "list({})", "{}.copy()"),
    Kind.UNKNOWN: ("abs({})", "len({})", "list({})", "sorted({})", "int({})", "str({})", "{}.lower()", "{}.strip()",
                   "set({})", "reversed({})", "{}.copy()", "{}.items()", "float({})", "tuple({})"),
}  # fmt: skip
_NAMES_AT_MOST: Final = 8


class CallUnwrapped(Template):
    """`x` for `f(x)`, and for `x.f()`."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            if isinstance(source.parent(node), cst.Expr):
                continue
            for argument in node.args:
                if not argument.star:
                    yield source.replace(node, source.whole(argument.value))
            if isinstance(node.func, cst.Attribute) and isinstance(node.func.value, cst.BaseExpression):
                yield source.replace(node, source.whole(node.func.value))


class CallWrapped(Template):
    """`f(x)` for `x`, with a function that people forget: `abs`, `len`, `sorted`, `.strip()`."""

    weight = 0.45

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.expressions():
            if not isinstance(
                node, cst.Name | cst.Attribute | cst.Subscript | cst.Call | cst.BinaryOperation | cst.ListComp
            ):
                continue
            if not _can_be_wrapped(source, node):
                continue
            text = source.whole(node)
            atom = f"({text})" if isinstance(node, cst.BinaryOperation) and not node.lpar else text
            for shape in _AROUND.get(source.scope.kind(node), ()):
                yield source.replace(node, shape.format(atom if shape.startswith("{}.") else source.cut(node)))


class ArgumentDropped(Template):
    """A call with one argument less."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            arguments = [source.cut(argument) for argument in node.args]
            for place in range(len(arguments)):
                start, end = source.span(node.args[0])[0], source.span(node.args[-1])[1]
                rest = ", ".join(arguments[:place] + arguments[place + 1 :])
                yield Splice(start, end, rest, source.statement(node))


class ArgumentAdded(Template):
    """A call with one argument more: a name in scope, by place or by its own name; one of `max`, `round`, `get`."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Call):
            if isinstance(node.func, cst.Name) and node.func.value in ("len", "str", "isinstance", "super", "list"):
                continue
            names = [name for name in source.scope.visible(node) if name not in ("self", "cls")][:_NAMES_AT_MOST]
            given = [source.cut(argument) for argument in node.args]
            keywords = _keywords(source, source.cut(node.func))
            for text in (*names, *(f"{keyword}={keyword}" for keyword in names if keyword in keywords), "0", "1"):
                if text not in given:
                    yield _call(source, node, ", ".join((*given, text)))
                    if "=" not in text:
                        yield from _in_front(source, node, text, given)


class KeywordReplaced(Template):
    """Another keyword that calls of the same function take."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for argument in source.of(cst.Arg):
            call = source.parent(argument)
            if argument.keyword is not None and isinstance(call, cst.Call):
                taken = {arg.keyword.value for arg in call.args if arg.keyword is not None}
                others = [name for name in _keywords(source, source.cut(call.func)) if name not in taken]
                yield from (source.replace(argument.keyword, name) for name in others)


def _in_front(source: Source, node: cst.Call, text: str, given: list[str]) -> Iterator[Splice]:
    if given and not given[0].startswith("*"):
        yield _call(source, node, ", ".join((text, *given)))


def _call(source: Source, node: cst.Call, arguments: str) -> Splice:
    if node.args:
        start, end = source.span(node.args[0])[0], source.span(node.args[-1])[1]
    else:
        line, column = source.span(node)[1]
        start = end = (line, column - 1)
    return Splice(start, end, arguments, source.statement(node))


def _keywords(source: Program, called: str) -> list[str]:
    """Names of parameters of the functions of this file that a call may mean, and keywords of other such calls."""
    name = called.rpartition(".")[2]
    return source.once(("keywords", name), lambda: list(_parameters(source, name)))


def _parameters(source: Program, name: str) -> dict[str, None]:
    names: dict[str, None] = {}
    for function in source.every(cst.FunctionDef):
        owner = source.parent(source.parent(function))
        made = owner.name.value if function.name.value == "__init__" and isinstance(owner, cst.ClassDef) else ""
        if name in (function.name.value, made):
            parameters = (*function.params.params, *function.params.kwonly_params)
            names |= dict.fromkeys(parameter.name.value for parameter in parameters)
    for other in source.every(cst.Call):
        if source.cut(other.func).rpartition(".")[2] == name:
            names |= dict.fromkeys(arg.keyword.value for arg in other.args if arg.keyword is not None)
    return {name: None for name in names if name not in ("self", "cls")}


def _can_be_wrapped(source: Source, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name) and node.value in ("None", "self", "cls", "True", "False"):
        return False
    parent = source.parent(node)
    if isinstance(parent, cst.Attribute | cst.Expr | cst.Raise | cst.Subscript | cst.ExceptHandler):
        return False
    return is_load(source, node) and not (isinstance(parent, cst.Call) and parent.func is node)
