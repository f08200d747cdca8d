"""Text of any origin → text that every table can hold."""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for each NUL and each lone surrogate."""
    return _UNSTORABLE.sub("\ufffd", text)
