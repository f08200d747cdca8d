"""Secrets out, before anything is written."""

from __future__ import annotations

from collections.abc import Iterable


class Scrubber:
    """Replaces secrets by `[secret]`."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple(values)

    def scrub(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, "[secret]")
        return text
