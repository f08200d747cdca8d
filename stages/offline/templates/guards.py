"""Base cases and guards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice, Statement
from stages.offline.templates.base import Template
from stages.offline.templates.statements import is_plain

_NAMES_AT_MOST: Final = 4
_GIVEN_AT_MOST: Final = 8


class GuardInserted(Template):
    """`if not x: return …` before the first statement of a function."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for function in source.of(cst.FunctionDef):
            body = function.body
            if not isinstance(body, cst.IndentedBlock):
                continue
            first = next((one for one in body.body if not _is_docstring(one)), None)
            if not isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                continue
            for test in _tests(source.scope, function):
                for given in _given(source, function):
                    yield guarded(source, first, test, f"return {given}".rstrip())


class LoopGuardInserted(Template):
    """`if …: continue` before the first statement of a loop: with a test of a name of the loop."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for loop in source.of(cst.For, cst.While):
            if not isinstance(loop.body, cst.IndentedBlock):
                continue
            first = loop.body.body[0]
            if isinstance(first, cst.SimpleStatementLine | cst.BaseCompoundStatement):
                for name in _loop_names(source, loop)[:_NAMES_AT_MOST]:
                    for test in (f"not {name}", f"{name} is None"):
                        for word in ("continue", "break"):
                            yield guarded(source, first, test, word)


class GuardDropped(Template):
    """An `if` with nothing but a way out taken away."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.If):
            block = source.parent(node)
            alone = not isinstance(block, cst.IndentedBlock | cst.Module) or len(block.body) == 1
            if node.orelse is None and _leaves(node) and not alone:
                (first, _), (last, _) = source.span(node)
                yield Splice((first, 0), (last + 1, 0), "", node)


class ConditionDropped(Template):
    """What stands under an `if`, done always."""

    weight = 0.35

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.If):
            if node.orelse is not None or isinstance(source.parent(node), cst.If):
                continue
            if isinstance(node.body, cst.IndentedBlock) and len(node.body.body) == 1 and is_plain(node.body.body[0]):
                (first, _), (last, end) = source.span(node)
                text = source.indent(node) + source.cut(node.body.body[0]).strip()
                yield Splice((first, 0), (last, max(end, len(source.lines[last - 1]))), text, node)


def guarded(source: Source, first: Statement, test: str, way_out: str) -> Splice:
    """A guard before a statement."""
    indent, line = source.indent(first), source.span(first)[0][0]
    step = source.module.default_indent
    return Splice((line, 0), (line, 0), f"{indent}if {test}:\n{indent}{step}{way_out}\n", first)


def _tests(scope: Scope, function: cst.FunctionDef) -> list[str]:
    parameters = [parameter.name.value for parameter in function.params.params]
    tests: list[str] = []
    for name in [name for name in parameters if name not in ("self", "cls")][:_NAMES_AT_MOST]:
        tests += [f"not {name}"] if scope.kind_of(name, function) is not Kind.NUMBER else []
        tests += [f"{name} is None"]
        if scope.kind_of(name, function) in (Kind.NUMBER, Kind.UNKNOWN):
            tests += [f"{name} == 0", f"{name} <= 0", f"{name} < 0", f"{name} <= 1"]
    return tests


def _given(source: Source, function: cst.FunctionDef) -> list[str]:
    """What the guard can return: what the function returns elsewhere, empty values, the parameters."""
    elsewhere = [
        source.cut(node.value)
        for node in source.inside(function, cst.Return)
        if node.value is not None and isinstance(node.value, _SMALL)
    ]
    parameters = [parameter.name.value for parameter in function.params.params if parameter.name.value != "self"]
    usual = ("0", "[]", "None", "False", "True", "''", "1", "{}")
    return list(dict.fromkeys((*elsewhere, *usual, *parameters)))[: _GIVEN_AT_MOST + 2]


_SMALL: Final = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.List, cst.Dict, cst.Tuple)


def _loop_names(source: Source, loop: cst.For | cst.While) -> list[str]:
    if isinstance(loop, cst.For):
        return [source.cut(loop.target)] if isinstance(loop.target, cst.Name) else []
    assigned = [
        target.target.value
        for target in source.of(cst.AssignTarget)
        if isinstance(target.target, cst.Name) and loop in source.ancestors(target)
    ]
    return list(dict.fromkeys(assigned))


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)


def _leaves(node: cst.If) -> bool:
    if not isinstance(node.body, cst.IndentedBlock) or len(node.body.body) != 1:
        return False
    only = node.body.body[0]
    return isinstance(only, cst.SimpleStatementLine) and isinstance(
        only.body[0], cst.Return | cst.Raise | cst.Continue | cst.Break
    )
