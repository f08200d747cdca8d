"""The budget of one block: what fits is shown, what does not is left out whole and written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory.types import Block, LeftOut, Record

FRAME: Final = 5  # characters that a line gets in the section: `| - ` or `|   ` before it and its line break
LEFT_OUT_AT_MOST: Final = 20
"""Candidates of a block that are written down one by one; of the others only how many there are."""


def size(lines: Sequence[str]) -> int:
    """Characters that `lines` take in the context section; an empty line takes fewer."""
    return sum(len(line) for line in lines) + FRAME * len(lines)


class Allowance:
    """Counts characters as they appear in the section, prefixes and line breaks included."""

    def __init__(self, characters: int, *, each: int | None = None, count: int | None = None) -> None:
        self._characters, self._each, self._count = characters, each or characters, count
        self._shown: list[Record] = []
        self._left_out: list[LeftOut] = []
        self._used = self._eligible = self._more = 0

    def offer(self, record: Record) -> None:
        """Show the record, if it fits; it counts as eligible either way."""
        self._eligible += 1
        taken = size(record.lines)  # `each` is of the record's own text
        if self._count is not None and len(self._shown) >= self._count:
            self._refuse(record, f"at most {self._count} are shown")
        elif record.size > self._each:
            self._refuse(record, f"{record.size} characters: more than {self._each} for one")
        elif self._used + taken > self._characters:
            self._refuse(record, f"{taken} characters: more than are left of {self._characters}")
        else:
            self._used += taken
            self._shown.append(record)

    def refuse(self, name: str, why: str, score: float | None = None) -> None:
        """Write down what is not shown, and was not eligible."""
        if len(self._left_out) < LEFT_OUT_AT_MOST:
            self._left_out.append(LeftOut(id=name, why=why, score=score))
        else:
            self._more += 1

    def offer_unseen(self, count: int) -> None:
        """As many more were eligible, and nobody read them."""
        self._eligible += count
        self._more += count

    def _refuse(self, record: Record, why: str) -> None:
        self.refuse(record.id, why, record.score)

    def block(self) -> Block:
        """What is shown, and what is not."""
        rest = [LeftOut(id="", why=f"and {self._more} more")] if self._more else []
        return Block(shown=tuple(self._shown), eligible=self._eligible, left_out=(*self._left_out, *rest))
