"""A tree of lines: what a terminal shows, before it knows anything of terminals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memory.text import fold


class Look(StrEnum):
    """What a line is for the eye."""

    PLAIN = "plain"
    HEAD = "head"
    GOOD = "good"
    BAD = "bad"
    QUIET = "quiet"  # beside the point: folded away, explained
    QUOTE = "quote"  # shown as it was written or sent


@dataclass(frozen=True, kw_only=True)
class Node:
    """One line, the lines that it quotes, and what stands below it."""

    text: str
    look: Look = Look.PLAIN
    quote: tuple[str, ...] = ()
    below: tuple[Node, ...] = ()


def node(text: str, *below: Node, look: Look = Look.PLAIN, quote: Iterable[str] = ()) -> Node:
    return Node(text=text, look=look, quote=tuple(quote), below=below)


def lines_of(text: str, at_most: int | None = None) -> tuple[str, ...]:
    """Lines that can be shown; of a long text the first ones and how many are missing."""
    lines = tuple(fold(text.rstrip("\n")))
    if at_most is None or len(lines) <= at_most + 1:
        return lines
    return (*lines[:at_most], f"(+{len(lines) - at_most} lines)")
