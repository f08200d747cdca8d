"""Text of any origin → lines that are safe to quote."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_TAB_WIDTH = 4
_MARKS_PER_BASE = 8
_A_MARK = "\u0300"
_PILE = re.compile(f"{_A_MARK}{{{_MARKS_PER_BASE + 1},}}")
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


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 call`, `12,345 tokens`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def one_line(text: str) -> str:
    """`text` folded, its lines joined with single spaces."""
    return " ".join(line.strip() for line in fold(text) if line.strip())


def vanishes(character: str) -> bool:
    """True for a character of which `fold` leaves nothing."""
    return _shown(character, unicodedata.category(character)) == ""


class _Shown(dict[int, str | int | None]):
    """What stands for a character, worked out once for each; a table for `str.translate`."""

    def __init__(self) -> None:
        super().__init__()
        self._marks: set[str] = set()  # those that were met
        self._flat: dict[int, str] = {}  # each of them as one and the same

    def __missing__(self, point: int) -> str | int | None:
        character = chr(point)
        category = unicodedata.category(character)
        shown = _shown(character, category)
        if shown and category in ("Mn", "Me"):
            self._flat[point] = _A_MARK
            self._marks.add(character)  # before another thread can find the character known
        self[point] = point if shown == character else shown or None
        return self[point]

    def visible(self, text: str) -> str:
        shown = text.translate(self)
        return shown if self._marks.isdisjoint(shown) else self._with_few_marks(shown)

    def _with_few_marks(self, text: str) -> str:
        kept: list[str] = []
        at = 0
        for pile in _PILE.finditer(text.translate(self._flat)):
            kept.append(text[at : pile.start() + _MARKS_PER_BASE])
            at = pile.end()
        return "".join((*kept, text[at:]))


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
    # NFKC makes an ordinary space of every other kind of space; the Ogham one it leaves.
    return " " if category == "Zs" else character
