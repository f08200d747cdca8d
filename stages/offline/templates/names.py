"""Names, attributes and functions, each replaced by another one that stands in the file."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.places import is_load, loads

_ALIKE: Final = (
    ("min", "max"),
    ("any", "all"),
    ("sum", "len", "max", "min"),
    ("sorted", "reversed", "list", "set", "tuple"),
    ("int", "round", "float", "abs", "str"),
    ("floor", "ceil", "trunc", "round"),
    ("append", "extend", "insert", "add", "remove"),
    ("add", "discard", "remove", "update"),
    ("pop", "popleft", "remove"),
    ("appendleft", "append"),
    ("keys", "values", "items"),
    ("lower", "upper", "title", "capitalize", "casefold", "swapcase"),
    ("strip", "lstrip", "rstrip"),
    ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"),
    ("find", "rfind", "index", "rindex"),
    ("startswith", "endswith"),
    ("ljust", "rjust", "center", "zfill"),
    ("union", "intersection", "difference", "symmetric_difference", "update"),
    ("issubset", "issuperset"),
    ("isdigit", "isalpha", "isalnum", "isnumeric", "isdecimal", "isspace", "isupper", "islower"),
    ("removeprefix", "removesuffix"),
    ("copy", "deepcopy"),
    ("match", "search", "fullmatch", "findall", "finditer"),
    ("combinations", "permutations", "product", "combinations_with_replacement"),
    ("setdefault", "get", "pop"),
    ("islice", "takewhile", "dropwhile"),
    ("nlargest", "nsmallest"),
    ("bisect", "bisect_left", "bisect_right"),
    ("read", "readline", "readlines"),
    ("now", "utcnow", "today"),
)
OTHERS: Final[dict[str, list[str]]] = defaultdict(list)
for _group in _ALIKE:
    for _one in _group:
        OTHERS[_one].extend(other for other in _group if other != _one and other not in OTHERS[_one])
_NAMES_AT_MOST: Final = 14
"""Names tried for one name."""

_EXCEPTIONS: Final = (
    *("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "ZeroDivisionError", "Exception"),
    *("StopIteration", "OSError", "ImportError", "UnicodeError", "RuntimeError", "LookupError", "OverflowError"),
)


class NameReplaced(Template):
    """Another name in scope that may hold the same kind of thing."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in loads(source):
            if isinstance(node, cst.Name) and not _is_called(source, node) and not _is_builtin(node.value):
                near = [
                    name for name in source.scope.visible(node) if name != node.value and source.scope.fits(name, node)
                ]
                yield from (source.replace(node, name) for name in near[:_NAMES_AT_MOST])


class NoneReplaced(Template):
    """A name in scope for a `None` that is given, assigned or returned."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Name):
            if node.value == "None" and isinstance(source.parent(node), cst.Arg | cst.Assign | cst.Return):
                taken = {source.cut(target.target) for target in getattr(source.parent(node), "targets", ())}
                near = [name for name in source.scope.visible(node) if name not in taken]
                yield from (source.replace(node, name) for name in near[:_NAMES_AT_MOST])


class NoneToLiteral(Template):
    """A constant for a `None` that is given, assigned or returned: one of the function, or an empty value."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Name):
            if node.value == "None" and isinstance(source.parent(node), cst.Arg | cst.Assign | cst.Return | cst.Param):
                near = [source.cut(one) for one in source.inside(source.function(node), cst.SimpleString, cst.Integer)]
                others = dict.fromkeys((*near[:_NAMES_AT_MOST], '""', "0", "1", "True", "False", "[]", "{}"))
                yield from (source.replace(node, other) for other in others)


class ModuleName(Template):
    """A name of the module for another one: a constant, a class."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        names = source.scope.locals(None)
        given = [name for name in names if source.scope.kind_of(name, None) is not Kind.CALLABLE]
        for node in loads(source):
            if not isinstance(node, cst.Name) or _is_called(source, node):
                continue
            if node.value == "None" and isinstance(source.parent(node), cst.Arg | cst.Assign | cst.Return):
                yield from (source.replace(node, name) for name in given[:_NAMES_AT_MOST])
            if node.value in names:
                near = [name for name in names if name != node.value and source.scope.fits(name, node)]
                yield from (source.replace(node, name) for name in near[:_NAMES_AT_MOST])


class AttributeReplaced(Template):
    """Another attribute or method: one that is easily mistaken for it, or one of the same thing in this file."""

    weight = 0.7

    def splices(self, source: Program) -> Iterator[Splice]:
        seen: dict[tuple[str, bool], dict[str, None]] = defaultdict(dict)
        everywhere: dict[bool, dict[str, None]] = defaultdict(dict)
        for node in source.every(cst.Attribute):
            called = _is_called(source, node)
            seen[source.cut(node.value), called][node.attr.value] = None
            everywhere[called][node.attr.value] = None
        methods = dict.fromkeys(_methods(source))
        for node in source.of(cst.Attribute):
            called = _is_called(source, node)
            near = dict.fromkeys(OTHERS[node.attr.value] if called else ()) | seen[source.cut(node.value), called]
            near |= (methods if called else {}) if source.cut(node.value) == "self" else everywhere[called]
            others = [name for name in near if name != node.attr.value][:_NAMES_AT_MOST]
            start, end = source.span(node.attr)
            yield from (Splice(start, end, name, source.statement(node)) for name in others)


class FunctionReplaced(Template):
    """Another function: one that is easily mistaken for it, or another one of the file."""

    weight = 0.7

    def splices(self, source: Program) -> Iterator[Splice]:
        own = [
            name
            for name in source.scope.locals(None)
            if source.scope.kind_of(name, None) in (Kind.CALLABLE, Kind.UNKNOWN)
        ]
        for node in source.of(cst.Call):
            if isinstance(node.func, cst.Name):
                name = node.func.value
                mine = own if name in own else []
                others = dict.fromkeys((*OTHERS.get(name, ()), *mine, *_local_calls(source.scope, source, node)))
                near = [
                    other for other in others if other != name and (other in own or _known(other, source.scope, node))
                ]
                yield from (source.replace(node.func, other) for other in near[:_NAMES_AT_MOST])


class ExceptionReplaced(Template):
    """Another type of exception, where one is raised or caught."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        in_file = dict.fromkeys(
            node.value for node in source.every(cst.Name) if node.value.endswith(("Error", "Exception"))
        )
        for node in source.of(cst.Name):
            if node.value in in_file and source.within(node, cst.Raise | cst.ExceptHandler) and is_load(source, node):  # type: ignore[arg-type]
                others = [name for name in dict.fromkeys((*in_file, *_EXCEPTIONS)) if name != node.value]
                yield from (source.replace(node, name) for name in others)


def _is_called(source: Source, node: cst.BaseExpression) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.Call) and parent.func is node


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name)


def _known(name: str, scope: Scope, node: cst.CSTNode) -> bool:
    return _is_builtin(name) or name in scope.visible(node, module_too=True)


def _local_calls(scope: Scope, source: Source, node: cst.Call) -> list[str]:
    function = source.function(node)
    return [name for name in scope.locals(function) if scope.kind_of(name, function) is Kind.CALLABLE]


def _methods(source: Source) -> Iterator[str]:
    for node in source.every(cst.FunctionDef):
        if isinstance(source.parent(source.parent(node)), cst.ClassDef):
            yield node.name.value
