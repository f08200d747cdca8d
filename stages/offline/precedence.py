"""When an expression needs parentheses in another's place."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import libcst as cst

_ATOM: Final = 14
_UNARY: Final = 11
# From the table of operator precedence in Python's language reference.
_BINARY: Final[dict[type[cst.CSTNode], int]] = {
    cst.BitOr: 5,
    cst.BitXor: 6,
    cst.BitAnd: 7,
    cst.LeftShift: 8,
    cst.RightShift: 8,
    cst.Add: 9,
    cst.Subtract: 9,
    cst.Power: 12,
    cst.Or: 1,
    cst.And: 2,
}
_PRODUCT: Final = 10


def fitted(text: str, demand: int) -> str:
    """`text`, in parentheses if it would bind less than its place demands."""
    if text.isidentifier() or (_strength(text) >= demand and "\n" not in text):
        return text
    return f"({text})"


@lru_cache(maxsize=20_000)
def _strength(text: str) -> int:
    try:
        made = cst.parse_expression(text)
    except (cst.ParserSyntaxError, RecursionError):
        return _ATOM  # a candidate that is no Python is thrown away later
    return _ATOM if made.lpar else binding(made)


def binding(node: cst.BaseExpression) -> int:
    """How tightly an expression binds: 14 for an atom, 0 for a lambda."""
    match node:
        case cst.BinaryOperation() | cst.BooleanOperation():
            return _BINARY.get(type(node.operator), _PRODUCT)
        case cst.Comparison():
            return 4
        case cst.UnaryOperation():
            return 3 if isinstance(node.operator, cst.Not) else _UNARY
        case cst.Await():
            return 13
        case cst.Lambda() | cst.IfExp() | cst.Yield() | cst.NamedExpr() | cst.GeneratorExp():
            return 0
        case cst.Tuple():
            return -1
        case _:
            return _ATOM


def demand(node: cst.BaseExpression, parent: cst.CSTNode) -> int:
    """How tightly an expression in the place of `node` must bind to stand without parentheses."""
    match parent:
        case cst.BinaryOperation():
            own = _BINARY.get(type(parent.operator), _PRODUCT)
            tight_side = parent.left if isinstance(parent.operator, cst.Power) else parent.right
            return own + (node is tight_side)
        case cst.BooleanOperation():
            return _BINARY[type(parent.operator)]
        case cst.Comparison() | cst.ComparisonTarget():
            return 5
        case cst.UnaryOperation():
            return 3 if isinstance(parent.operator, cst.Not) else _UNARY
        case cst.Attribute() | cst.Await():
            return _ATOM
        case cst.Call() | cst.Subscript():
            return _ATOM  # the value that is called or subscripted; arguments stand in nodes of their own
        case cst.IfExp() | cst.CompIf() | cst.StarredElement() | cst.Arg() | cst.Element():
            return 1 if isinstance(parent, cst.IfExp) else 0
        case _:
            return -1
