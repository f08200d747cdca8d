"""How usual operators and numbers are: what is rarely written is more often a mistake than what is written every day.

The idea is that of Ray, Hellendoorn and others, On the "naturalness" of buggy code (2016). The counts are rounded from
those of Python's own standard library, of about a thousand each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import libcst as cst

Usual = TypeVar("Usual", int, str)

_OF_SINGLES: Final = {"is": 540, "is not": 430, "==": 10, "!=": 10}
_OF_VALUES: Final = {"==": 370, "in": 165, "!=": 100, "<": 80, ">": 70, "not in": 55, "<=": 45, ">=": 45, "is": 45,
                     "is not": 35}  # fmt: skip
_OF_COLLECTIONS: Final = {"in": 660, "not in": 215, "==": 80, "!=": 20, ">=": 10, "<": 10}
_OPERATIONS: Final = {"+": 500, "-": 150, "*": 130, "%": 60, "&": 40, "|": 30, "/": 30, "**": 20, "//": 20, "<<": 20,
                      ">>": 10, "^": 5}  # fmt: skip
_OF_CONSTANTS: Final = {"|": 830, "+": 140, "-": 20, "<<": 10}
_NUMBERS: Final = {0: 210, 1: 190, 2: 100, -1: 60, 3: 45, 4: 40, 5: 25, 8: 20, 10: 18, 6: 16, 16: 10, 7: 9, 100: 8,
                   12: 7, -2: 6, 20: 6, 32: 6, 9: 5, 30: 4, 256: 4, 60: 3, 24: 3, 50: 3, 255: 3, 64: 2, 128: 2,
                   1000: 2, 1024: 2}  # fmt: skip
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


def likelier_number(old: int, new: int) -> float:
    """The same for a whole number."""
    return _likelier(_NUMBERS, old, new)


def _likelier(counts: Mapping[Usual, int], old: Usual, new: Usual) -> float:
    return float((counts.get(new, 1) / counts.get(old, 1)) ** _TEMPER)


def _is_constant(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Name(name) | cst.Attribute(attr=cst.Name(name)):
            return name.isupper()
        case cst.BinaryOperation(operator=cst.BitOr()):
            return _is_constant(node.right)
        case _:
            return False
