"""How usual operators are: what is rarely written stands there by mistake more often than what is written every day.

The idea is that of Ray, Hellendoorn and others, On the "naturalness" of buggy code (2016). The counts are rounded from
those of Python's own standard library, of about a thousand each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import libcst as cst

_OF_SINGLES: Final = {"is": 540, "is not": 430, "==": 10, "!=": 10}
_OF_VALUES: Final = {"==": 370, "in": 165, "!=": 100, "<": 80, ">": 70, "not in": 55, "<=": 45, ">=": 45, "is": 45,
                     "is not": 35}  # fmt: skip
_OF_COLLECTIONS: Final = {"in": 660, "not in": 215, "==": 80, "!=": 20, ">=": 10, "<": 10}
_OPERATIONS: Final = {"+": 500, "-": 150, "*": 130, "%": 60, "&": 40, "|": 30, "/": 30, "**": 20, "//": 20, "<<": 20,
                      ">>": 10, "^": 5}  # fmt: skip
_OF_CONSTANTS: Final = {"|": 830, "+": 140, "-": 20, "<<": 10}
_SINGLES: Final = ("None", "True", "False", "NotImplemented", "Ellipsis")
_TEMPER: Final = 0.25
"""How far the counts are believed: 1 is as they are, 0 not at all."""

RARE: Final = 2.0
"""How much likelier what stands there is wrong where hardly anybody writes it: `not a == b`, `+1`."""


def is_single(node: cst.BaseExpression) -> bool:
    """True for what there is only one of, which identity is asked of."""
    return isinstance(node, cst.Name) and node.value in _SINGLES


def likelier_comparison(old: str, new: str, other: cst.BaseExpression) -> float:
    """How much likelier one comparison with `other` is than the one that stands there."""
    collection = isinstance(other, cst.Tuple | cst.List | cst.Set | cst.Dict)
    return _likelier(_OF_COLLECTIONS if collection else _OF_SINGLES if is_single(other) else _OF_VALUES, old, new)


def likelier_operation(old: str, new: str, node: cst.CSTNode) -> float:
    """The same for an operator between two values; two constants are mostly flags."""
    constants = isinstance(node, cst.BinaryOperation) and _is_constant(node.left) and _is_constant(node.right)
    return _likelier(_OF_CONSTANTS if constants else _OPERATIONS, old, new)


def _likelier(counts: Mapping[str, int], old: str, new: str) -> float:
    return float((counts.get(new, 1) / counts.get(old, 1)) ** _TEMPER)


def _is_constant(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Name(name) | cst.Attribute(attr=cst.Name(name)):
            return name.isupper()
        case cst.BinaryOperation(operator=cst.BitOr()):
            return _is_constant(node.right)
        case _:
            return False
