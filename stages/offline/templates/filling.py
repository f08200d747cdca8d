"""Collections that are asked and never filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from stages.offline.scope import Kind, Program
from stages.offline.source import Source, Splice
from stages.offline.templates.base import Template
from stages.offline.templates.statements import blocks, inserted

_FILLS: Final = ("add", "append", "update", "extend", "insert", "setdefault", "push", "appendleft")
_VERBS: Final = {Kind.SET: "{0}.add({1})", Kind.LIST: "{0}.append({1})", Kind.DICT: "{0}[{1}] = True"}


class NeverFilled(Template):
    """`x.add(y)` where `y in x` is asked, x begins empty, and nothing is ever put into it."""

    weight = 0.9

    def splices(self, source: Program) -> Iterator[Splice]:
        filled = source.once("filled", lambda: frozenset(_filled(source)))
        for target in source.of(cst.ComparisonTarget):
            asked = target.comparator
            if not isinstance(target.operator, cst.In | cst.NotIn) or not isinstance(asked, cst.Name):
                continue
            function, comparison = source.function(target), source.parent(target)
            shape = _VERBS.get(source.scope.kind_of(asked.value, function))
            if function is None or shape is None or asked.value in filled or not isinstance(comparison, cst.Comparison):
                continue
            text = shape.format(asked.value, source.cut(comparison.left))
            for block in blocks(source):
                if source.function(block[0]) is function:
                    for statement in block:
                        yield from inserted(source, statement, [text])


def _filled(source: Source) -> Iterator[str]:
    """Names that something is put into, or that are given elsewhere and may be filled there."""
    for call in source.every(cst.Call):
        match call.func:
            case cst.Attribute(value=value, attr=cst.Name(verb)) if verb in _FILLS:
                yield source.cut(value)
            case _:
                yield from (
                    source.cut(argument.value) for argument in call.args if isinstance(argument.value, cst.Name)
                )
    for target in source.every(cst.AssignTarget):
        if isinstance(target.target, cst.Subscript):
            yield source.cut(target.target.value)
    yield from (source.cut(node.target) for node in source.every(cst.AugAssign))
