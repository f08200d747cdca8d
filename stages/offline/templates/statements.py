"""Statements dropped, inserted, moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program, Scope
from stages.offline.source import Source, Splice, Statement
from stages.offline.templates.base import Template

_DONORS_AT_MOST: Final = 16
_NAMES_AT_MOST: Final = 6
_EXITS: Final = ("break", "continue")
_NO_EXIT: Final = 0.5
"""How likely `pass` or `return` is meant beside them: they are not what people mistake for one another."""


class StatementDropped(Template):
    """A statement taken away, or `pass` in its place where it stands alone."""

    weight = 0.45

    def splices(self, source: Program) -> Iterator[Splice]:
        for block in blocks(source):
            for statement in block:
                if is_plain(statement):
                    yield _dropped(source, statement, alone=len(block) == 1)


class StatementInserted(Template):
    """A statement of the same function repeated at another place."""

    weight = 0.4

    def splices(self, source: Program) -> Iterator[Splice]:
        for block in blocks(source):
            donors = _donors(source, block)
            for statement in block:
                yield from inserted(source, statement, donors)


class CollectionFilled(Template):
    """`x.append(y)` or `x.add(y)` where x is used so, or is a list or a set, and y is a name in scope."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for block in blocks(source):
            function = source.function(block[0])
            if function is None:
                continue
            names = source.scope.visible(block[0])
            verbs = _verbs(source, source.scope, function)
            made = [
                f"{x}.{verb}({y})"
                for x, verb in verbs
                for y in names
                if y != x and _may_be_item(source.scope, y, function)
            ]
            for statement in block:
                yield from inserted(source, statement, made[:_DONORS_AT_MOST])


class NameAssigned(Template):
    """`x = y`, `x += 1` for names that the function assigns."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for block in blocks(source):
            function = source.function(block[0])
            if function is None:
                continue
            names = source.scope.locals(function)
            assigned = _assigned(source, function)[:_NAMES_AT_MOST]
            made = [f"{x} = {y}" for x in assigned for y in names if x != y and source.scope.fits(x, cst.Name(y))]
            made += [f"{x} += 1" for x in assigned if source.scope.kind_of(x, function) is Kind.NUMBER]
            for statement in block:
                yield from inserted(source, statement, made[: 2 * _DONORS_AT_MOST])


class StatementMoved(Template):
    """A statement one place up or down, out of its block, or into the block before it."""

    weight = 0.5

    def splices(self, source: Program) -> Iterator[Splice]:
        for block in blocks(source):
            for upper, lower in pairwise(block):
                yield _exchanged(source, upper, lower)
            yield from _outward(source, block)
            yield from _inward(source, block)


class LoopExit(Template):
    """`break`, `continue` and `pass` for one another."""

    weight = 0.6

    def splices(self, source: Program) -> Iterator[Splice]:
        for node in source.of(cst.Break, cst.Continue, cst.Pass):
            others = [word for word in ("break", "continue", "pass") if word != source.cut(node).strip()]
            others += ["return"] if source.function(node) is not None else []
            for other in others:
                share = 1.0 if other in _EXITS else _NO_EXIT
                yield Splice(*source.span(node), other, source.statement(node), share)


def blocks(source: Source) -> Iterator[Sequence[Statement]]:
    """Blocks of statements of functions, loops and conditions, each statement on lines of its own."""
    for node in source.of(cst.IndentedBlock):
        body = [one for one in node.body if isinstance(one, cst.SimpleStatementLine | cst.BaseCompoundStatement)]
        if body:
            yield body


def is_plain(statement: cst.CSTNode) -> bool:
    """True for a simple statement that does something: no import, no docstring, no `pass`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    one = statement.body[0]
    is_text = isinstance(one, cst.Expr) and isinstance(one.value, cst.SimpleString | cst.ConcatenatedString)
    return not (is_text or isinstance(one, cst.Import | cst.ImportFrom | cst.Pass | cst.Global | cst.Nonlocal))


def inserted(source: Source, statement: Statement, texts: Sequence[str]) -> Iterator[Splice]:
    """Each text as a statement before this one, and after it."""
    indent, ((first, _), (last, _)) = source.indent(statement), source.span(statement)
    leaves = isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Return | cst.Raise | cst.Break | cst.Continue
    )
    own = source.cut(statement).strip()
    for text in texts:
        if text != own:
            yield Splice((first, 0), (first, 0), f"{indent}{text}\n", statement)
            if not leaves:
                end = len(source.lines[last - 1])
                yield Splice((last, end), (last, end), f"\n{indent}{text}", statement)


def _dropped(source: Source, statement: Statement, *, alone: bool) -> Splice:
    (first, column), (last, _) = source.span(statement)
    if alone:
        return Splice((first, column), (last, len(source.lines[last - 1])), "pass", statement)
    return Splice((first, 0), (last + 1, 0), "", statement)


def _donors(source: Source, block: Sequence[Statement]) -> list[str]:
    function = source.function(block[0])
    if function is None:
        return []
    texts = [source.cut(one).strip() for one in source.inside(function, cst.SimpleStatementLine) if is_plain(one)]
    return [text for text in dict.fromkeys(texts) if "\n" not in text][:_DONORS_AT_MOST]


def _verbs(source: Source, scope: Scope, function: cst.FunctionDef) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for name in scope.visible(function.body):
        match scope.kind_of(name, function):
            case Kind.LIST:
                found[name, "append"] = None
            case Kind.SET:
                found[name, "add"] = None
            case _:
                pass
    for call in source.inside(function, cst.Call):
        match call:
            case cst.Call(func=cst.Attribute(value=value, attr=cst.Name("append" | "add" as verb)), args=[_]):
                found[source.cut(value), verb] = None
            case _:
                pass
    return list(found)


def _may_be_item(scope: Scope, name: str, function: cst.FunctionDef) -> bool:
    return name not in ("self", "cls") and scope.kind_of(name, function) is not Kind.CALLABLE


def _assigned(source: Source, function: cst.FunctionDef) -> list[str]:
    names: dict[str, None] = {}
    for node in source.inside(function, cst.AssignTarget, cst.AugAssign):
        if isinstance(node.target, cst.Name):
            names[node.target.value] = None
    return list(names)


def _exchanged(source: Source, upper: Statement, lower: Statement) -> Splice:
    """Two neighbours, each with the comments between them left where they are."""
    (first, _), (upper_last, _) = source.span(upper)
    (lower_first, _), (last, _) = source.span(lower)
    one = source.lines[first - 1 : upper_last]
    between = source.lines[upper_last : lower_first - 1]
    other = source.lines[lower_first - 1 : last]
    at = upper if isinstance(upper, cst.SimpleStatementLine) else lower
    return Splice((first, 0), (last, len(source.lines[last - 1])), "\n".join((*other, *between, *one)), at)


def _outward(source: Source, block: Sequence[Statement]) -> Iterator[Splice]:
    """The last statement of a block, after the block's owner."""
    owner = source.statement(source.parent(block[-1])) if block else None
    if len(block) < 2 or not is_plain(block[-1]) or not isinstance(owner, cst.For | cst.While | cst.If | cst.With):
        return
    (first, _), (last, _) = source.span(block[-1])
    owner_last = source.span(owner)[1][0]
    text = source.indent(owner) + source.cut(block[-1]).strip()
    between = source.lines[last:owner_last]
    yield Splice((first, 0), (owner_last, len(source.lines[owner_last - 1])), "\n".join((*between, text)), block[-1])


def _inward(source: Source, block: Sequence[Statement]) -> Iterator[Splice]:
    """A statement after a compound one, at the end of that one's block."""
    for owner, statement in pairwise(block):
        if not isinstance(owner, cst.For | cst.While | cst.If | cst.With) or not is_plain(statement):
            continue
        if not isinstance(owner.body, cst.IndentedBlock) or getattr(owner, "orelse", None) is not None:
            continue
        owner_last, ((first, _), (last, _)) = source.span(owner)[1][0], source.span(statement)
        text = source.indent(owner.body.body[-1]) + source.cut(statement).strip()
        between = source.lines[owner_last : first - 1]
        yield Splice(
            (owner_last, len(source.lines[owner_last - 1])),
            (last, len(source.lines[last - 1])),
            "\n" + "\n".join((text, *between)),
            statement,
        )
