"""Shares with their exact intervals, as benchmarks print them."""

from __future__ import annotations

from memory import intervals


class Share(intervals.Share):
    """`hits` of `of`, with the exact two-sided interval of 95 %."""

    def as_json(self) -> dict[str, float | int]:
        """Counts, share and bounds, rounded to four digits."""
        return {
            "hits": self.hits,
            "of": self.of,
            "share": round(self.value, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
        }
