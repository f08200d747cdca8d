"""What lines have in common at their start: the mark of a log writer that nobody has heard of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_DIGIT = re.compile(r"\d")
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
    masked = [_DIGIT.sub("0", line) for line in lines]
    written = [line for line in masked if line.strip()]
    seen = Counter(_shared(one, other) for one, other in pairwise(written))
    covered = {
        prefix: sum(line.startswith(prefix) or line == prefix.rstrip() for line in written)
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


def _shared(one: str, other: str) -> str:
    """What two lines begin with, cut behind a blank; "" when it is nothing."""
    differ = next((at for at, (mine, others) in enumerate(zip(one, other, strict=False)) if mine != others), -1)
    common = one[:differ] if differ >= 0 else min(one, other, key=len)
    bare = common[: max(common.rfind(" "), common.rfind("\t")) + 1].rstrip()
    return common[: len(bare) + 1] if bare else ""


def _writes(prefix: str) -> bool:
    """Whether a prefix may be a log writer's: frames of many languages begin alike too."""
    return len(prefix) > 1 and prefix.split()[0].lower() not in _WORDS_OF_FRAMES
