"""Decorators that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Program
from stages.offline.source import Splice
from stages.offline.templates.base import Template

_OF_FILE_AT_MOST: Final = 8


class DecoratorAdded(Template):
    """A method made a property, its setter, a class method, a static one; or a decorator that the file uses."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        used = [source.cut(node).strip().removeprefix("@") for node in source.every(cst.Decorator)]
        in_file = [text for text in dict.fromkeys(used) if "\n" not in text and ".setter" not in text]
        for function in source.of(cst.FunctionDef):
            own = {source.cut(node).strip().removeprefix("@") for node in function.decorators}
            likely = _likely(source, function)
            for text in dict.fromkeys((*likely, *in_file[:_OF_FILE_AT_MOST])):
                if text not in own:
                    yield _added(source, function, text)


def _likely(source: Program, function: cst.FunctionDef) -> Iterator[str]:
    """By the first parameter, where the function stands in a class."""
    if not isinstance(source.parent(source.parent(function)), cst.ClassDef):
        return
    parameters = [parameter.name.value for parameter in function.params.params]
    if len(parameters) == 2 and function.name.value in _before(source, function):
        yield f"{function.name.value}.setter"
    match parameters[:1]:
        case ["self"]:
            if len(parameters) == 1:
                yield "property"
        case ["cls"]:
            yield "classmethod"
        case _:
            yield "staticmethod"


def _before(source: Program, function: cst.FunctionDef) -> list[str]:
    """Names of the functions above in the same class."""
    block = source.parent(function)
    above = [node for node in source.every(cst.FunctionDef) if source.parent(node) is block]
    return [node.name.value for node in above[: above.index(function)]]


def _added(source: Program, function: cst.FunctionDef, text: str) -> Splice:
    first = function.decorators[0] if function.decorators else function
    line = source.span(first)[0][0]
    return Splice((line, 0), (line, 0), f"{source.indent(first)}@{text}\n", function)
