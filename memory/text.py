"""Text of any origin → lines that are safe to quote."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

_TAB_WIDTH = 4
_MARKS_PER_BASE = 8
# Characters that look like nothing though Unicode does not call them format characters.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VARIATION = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x1810))


def fold(text: str) -> list[str]:
    """Lines of `text` after NFKC folding, without control, format, private and unassigned characters.

    Folded before it is split, and split with `str.splitlines()`, so that no reader can find a line that this function
    did not see. Folding twice gives the same lines. Bidirectional controls stay visible as `\\u202e`; tabs become four
    spaces; at most eight combining marks stand on one base.
    """
    folded = unicodedata.normalize("NFKC", _visible(text))
    return [_visible(line).rstrip() for line in folded.splitlines()]


def one_line(text: str) -> str:
    """`text` folded, its lines joined with single spaces."""
    return " ".join(line.strip() for line in fold(text) if line.strip())


class _Shown(dict[int, str | int | None]):
    """What stands for a character, worked out once for each; a table for `str.translate`."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: set[str] = set()  # those that were met

    def __missing__(self, point: int) -> str | int | None:
        character = chr(point)
        category = unicodedata.category(character)
        shown = _shown(character, category)
        self[point] = point if shown == character else shown or None
        if shown and category in ("Mn", "Me"):
            self._marks.add(character)
        return self[point]

    def visible(self, text: str) -> str:
        shown = text.translate(self)
        return shown if self._marks.isdisjoint(shown) else "".join(self._few_marks(shown))

    def _few_marks(self, text: str) -> Iterator[str]:
        standing = 0  # marks on one base
        for character in text:
            standing = standing + 1 if character in self._marks else 0
            if standing <= _MARKS_PER_BASE:
                yield character


_SHOWN: Final = _Shown()


def _visible(text: str) -> str:
    return text if text.isascii() and text.isprintable() else _SHOWN.visible(text)


def _shown(character: str, category: str) -> str:
    if character in "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":
        return character  # line breaks: splitlines takes them away
    if character == "\t":
        return " " * _TAB_WIDTH
    if 0x202A <= ord(character) <= 0x202E or 0x2066 <= ord(character) <= 0x2069:
        return f"\\u{ord(character):04x}"
    if category in ("Cc", "Cf", "Cn", "Co", "Cs") or character in _BLANK:
        return ""
    if any(ord(character) in block for block in _VARIATION):
        return ""
    return character
