"""Decorators that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template

_OF_FILE_AT_MOST: Final = 8
_OF_CLASSES: Final = ("__new__", "__init_subclass__", "__class_getitem__")
"""Methods that take a class and need no decorator for it (Python's data model)."""


class MethodKind(Template):
    """A method made what its parameters say that it is: a class method, a static one, the setter of a property."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for function in source.of(cst.FunctionDef):
            if _is_method(source, function) and (kind := _told_by_parameters(source, function)):
                yield _added(source, function, kind)


class DecoratorAdded(Template):
    """A method made a property, or a decorator that the file uses elsewhere."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        used = [_text(source, node) for node in source.every(cst.Decorator)]
        in_file = [text for text in dict.fromkeys(used) if "\n" not in text and not text.endswith(".setter")]
        for function in source.of(cst.FunctionDef):
            own = {_text(source, node) for node in function.decorators}
            alone = [parameter.name.value for parameter in function.params.params] == ["self"]
            likely = ["property"] if alone and _is_method(source, function) else []
            for text in dict.fromkeys((*likely, *in_file[:_OF_FILE_AT_MOST])):
                if text not in own:
                    yield _added(source, function, text)


def _is_method(source: Program, function: cst.FunctionDef) -> bool:
    return isinstance(source.parent(source.parent(function)), cst.ClassDef)


def _told_by_parameters(source: Program, function: cst.FunctionDef) -> str:
    own = {_text(source, node) for node in function.decorators}
    parameters = [parameter.name.value for parameter in function.params.params]
    if not own and len(parameters) == 2 and function.name.value in _above(source, function):
        return f"{function.name.value}.setter"
    if own & {"classmethod", "staticmethod", "property"} or function.name.value in _OF_CLASSES:
        return ""
    match parameters[:1]:
        case ["cls"]:
            return "classmethod"
        case ["self"]:
            return ""
        case _:
            return "" if isinstance(function.params.star_arg, cst.Param) else "staticmethod"


def _above(source: Program, function: cst.FunctionDef) -> list[str]:
    """Names of the functions above in the same class."""
    block = source.parent(function)
    functions = [node for node in source.every(cst.FunctionDef) if source.parent(node) is block]
    return [node.name.value for node in functions[: functions.index(function)]]


def _text(source: Program, decorator: cst.Decorator) -> str:
    return source.cut(decorator).strip().removeprefix("@")


def _added(source: Program, function: cst.FunctionDef, text: str) -> Splice:
    first = function.decorators[0] if function.decorators else function
    line = source.span(first)[0][0]
    return Splice((line, 0), (line, 0), f"{source.indent(first)}@{text}\n", function)
