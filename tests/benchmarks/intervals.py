"""Exact intervals for shares (Clopper and Pearson, Biometrika 1934)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class Share:
    """`hits` of `of`, with the exact two-sided interval of 95 %."""

    hits: int
    of: int

    @property
    def value(self) -> float:
        """The share that was seen, 0 when nothing was."""
        return self.hits / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        """The lower bound."""
        if self.hits == 0:
            return 0.0
        return _solve(lambda share: 1 - _at_most(self.hits - 1, self.of, share), rising=True)

    @property
    def high(self) -> float:
        """The upper bound."""
        if self.hits == self.of:
            return 1.0
        return _solve(lambda share: _at_most(self.hits, self.of, share), rising=False)

    def as_json(self) -> dict[str, float | int]:
        """Counts, share and bounds, rounded to four digits."""
        return {
            "hits": self.hits,
            "of": self.of,
            "share": round(self.value, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
        }


def _solve(tail: object, *, rising: bool) -> float:
    assert callable(tail)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if (tail(middle) < (1 - CONFIDENCE) / 2) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _at_most(hits: int, of: int, share: float) -> float:
    """Chance of at most `hits` of `of` when each is one with chance `share`."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return 1.0 if hits >= of else 0.0
    odds, never = log(share), log1p(-share)
    whole = lgamma(of + 1)
    return min(
        1.0,
        sum(
            exp(whole - lgamma(one + 1) - lgamma(of - one + 1) + one * odds + (of - one) * never)
            for one in range(hits + 1)
        ),
    )
