"""Exact intervals for a share that was counted (Clopper and Pearson 1934)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_STEPS = 60  # halvings: far below what is ever printed


@dataclass(frozen=True, kw_only=True)
class Share:
    """`hits` of `of`, with the bounds that hold the true share in at least 95 of 100 cases."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        return self.hits / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        if self.hits == 0:
            return 0.0
        return _where(lambda share: 1 - _at_most(self.hits - 1, self.of, share) < 0.025)

    @property
    def high(self) -> float:
        if self.hits >= self.of:
            return 1.0
        return _where(lambda share: _at_most(self.hits, self.of, share) > 0.025)

    @property
    def surely_below(self) -> float:
        """The one-sided bound: with 95 % certainty the true share is not above it."""
        if self.hits >= self.of:
            return 1.0
        return _where(lambda share: _at_most(self.hits, self.of, share) > 0.05)


def _where(below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def _at_most(hits: int, of: int, share: float) -> float:
    """The chance of `hits` or fewer of `of`."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return 0.0 if hits < of else 1.0
    yes, no, whole = math.log(share), math.log1p(-share), math.lgamma(of + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(n + 1) - math.lgamma(of - n + 1) + n * yes + (of - n) * no)
        for n in range(hits + 1)
    )
