"""Patterns that end with a place: looked for where there is such an end, and only up to the last one."""

from __future__ import annotations

import re
from collections import deque


def ending_with(tail: re.Pattern[str], pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    """What `pattern.search(line)` finds, for a pattern that ends with what `tail` matches.

    A pattern that may begin anywhere, and goes on with any text, reads a line once for each beginning that has no end:
    quadratic. No beginning is tried when there is no end; those before the last end all find one.
    """
    last = deque(tail.finditer(line), maxlen=1)
    return pattern.search(line, 0, last[0].end()) if last else None
