"""What lines have in common at their start: the mark of a log writer that nobody has heard of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_DIGIT = re.compile(r"\d")
_ASCII_DIGITS = str.maketrans("123456789", "000000000")  # faster than the pattern where no other digit can be
_LINES_AT_LEAST = 3
_MANY = 0.4  # of all lines: a ticket has words around its log
_LOOKED_AT = 40
_CANDIDATES = 8
_WORDS_OF_FRAMES = frozenset(
    ("at", "from", "file", "in", "by", "bei", "e", "#0", "#00", "000:", "00:", "0:", "caused", "|")
)
_NEARLY_ALL = 0.8


def without_common(lines: Sequence[str]) -> tuple[list[str], bool] | None:
    """`lines` without what most of them begin with, and whether nearly all did; None when that is nothing.

    For a writer that nobody has heard of: digits count as equal, blanks behind the prefix belong to the line.
    """
    masked = [_masked(line) for line in lines]
    written = [line for line in masked if line.strip()]
    seen = Counter(_shared(one, other) for one, other in pairwise(written))
    covered = {
        prefix: _covered(written, prefix)
        for prefix, _ in sorted(seen.most_common(_LOOKED_AT), key=lambda pair: len(pair[0]))[:_CANDIDATES]
        if _writes(prefix)
    }
    prefix = max(covered, key=lambda one: (covered[one], len(one)), default="")
    if not prefix or covered[prefix] < max(_LINES_AT_LEAST, _MANY * len(written)):
        return None
    bare = prefix.rstrip()
    kept = [
        line[len(prefix) :] if text.startswith(prefix) else "" if text.rstrip() == bare else line
        for line, text in zip(lines, masked, strict=True)
    ]
    return kept, covered[prefix] >= _NEARLY_ALL * len(written)


def beginning(one: str, other: str) -> str:
    """What both begin with."""
    if one == other:
        return one
    differ = next((at for at, (mine, others) in enumerate(zip(one, other, strict=False)) if mine != others), -1)
    return one[:differ] if differ >= 0 else min(one, other, key=len)


def _masked(line: str) -> str:
    """`line` with 0 for each digit."""
    return line.translate(_ASCII_DIGITS) if line.isascii() else _DIGIT.sub("0", line)


def _shared(one: str, other: str) -> str:
    """What two lines begin with, cut behind a blank; "" when it is nothing."""
    common = beginning(one, other)
    bare = common[: max(common.rfind(" "), common.rfind("\t")) + 1].rstrip()
    return common[: len(bare) + 1] if bare else ""


def _covered(lines: Sequence[str], prefix: str) -> int:
    """How many lines begin with it, or are nothing else."""
    bare = prefix.rstrip()
    return sum(line.startswith(prefix) or line == bare for line in lines)


def _writes(prefix: str) -> bool:
    """Whether a prefix may be a log writer's: frames of many languages begin alike too."""
    return len(prefix) > 1 and prefix.split()[0].lower() not in _WORDS_OF_FRAMES
