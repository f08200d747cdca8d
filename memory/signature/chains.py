"""Exceptions as they were printed, one after the other → traces with their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from memory.signature.shapes import Thrown, Trace


class Joint(Enum):
    """What stands between an exception of Python and the one printed before it."""

    NONE = "none"
    CAUSE = "cause"  # raise … from …
    CONTEXT = "context"  # raised while the one before was handled


_CAUSE = "The above exception was the direct cause"
_CONTEXT = "During handling of the above exception"


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One exception, how it follows the one before, and the lines that it was read from."""

    thrown: Thrown
    joint: Joint
    first: int
    last: int


def joint_in(line: str) -> Joint:
    """What a line says about the exceptions around it."""
    if _CAUSE in line:
        return Joint.CAUSE
    return Joint.CONTEXT if _CONTEXT in line else Joint.NONE


def chained(printed: Sequence[Printed]) -> list[Trace]:
    """What was raised while another was handled stands alone, for people quote it. Causes stay with their effect."""
    traces: list[Trace] = []
    chain: list[Printed] = []
    for one in printed:
        if chain and one.joint is not Joint.CAUSE:
            traces.append(_trace(chain, handled=one.joint is Joint.CONTEXT))
        chain = [*chain, one] if one.joint is Joint.CAUSE else [one]
    return [*traces, _trace(chain)] if chain else traces


def _trace(chain: Sequence[Printed], *, handled: bool = False) -> Trace:
    # Python prints the root first; a trace holds it last.
    return Trace(
        language="python",
        chain=tuple(one.thrown for one in reversed(chain)),
        first=chain[0].first,
        last=chain[-1].last,
        handled=handled,
    )
