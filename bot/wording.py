"""Figures, times, lists and long texts in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from memory.text import count

__all__ = ["LISTED_AT_MOST", "count", "duration", "listed", "money", "short"]

LISTED_AT_MOST = 5
_SHORT_AT_MOST = 60  # characters


def money(dollars: float) -> str:
    """US dollars; four places where two would say nothing."""
    return f"${dollars:.4f}" if 0 < dollars < 0.01 else f"${dollars:,.2f}"


def duration(seconds: float) -> str:
    """`0.8 s`, `1 min 42 s`, `2 h 5 min`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def listed(items: Sequence[str], at_most: int = LISTED_AT_MOST) -> str:
    """The first ones, and how many more there are."""
    more = f", +{len(items) - at_most}" if len(items) > at_most else ""
    return ", ".join(items[:at_most]) + more


def short(text: str, at_most: int = _SHORT_AT_MOST) -> str:
    """A text that shares its line with others, such as a title: its beginning, where it is long."""
    return text if len(text) <= at_most else f"{text[: at_most - 3]}..."
