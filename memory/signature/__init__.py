"""What makes two failures the same: text → signatures, and whether two lists of signatures meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory.signature.explaining import Explained, Explanation, Seen, explain
from memory.signature.extract import signatures_of
from memory.signature.headlines import headline, is_common_name, label
from memory.signature.keys import ALGO
from memory.signature.shapes import RepoView
from memory.types import ErrorSignature

__all__ = [
    "ALGO",
    "LEVELS",
    "STRONG",
    "Explained",
    "Explanation",
    "Match",
    "RepoView",
    "Seen",
    "explain",
    "headline",
    "is_common_name",
    "label",
    "match",
    "shows",
    "signatures",
]

LEVELS = ("x", "f", "c", "t")
"""From the whole trace to words alone."""
STRONG = ("x", "f", "c")
"""Levels that make a lesson eligible; a match of words alone admits nothing."""
_NO_REPOSITORY = RepoView()


@dataclass(frozen=True, kw_only=True)
class Match:
    """Two signatures that share a key, and the first level at which they do."""

    level: str
    key: str
    ours: ErrorSignature
    theirs: ErrorSignature

    @property
    def strong(self) -> bool:
        """False for a match of words alone."""
        return self.level in STRONG


def signatures(title: str, body: str, repo: RepoView | None = None) -> list[ErrorSignature]:
    """The signatures in a text: none to three, best first. Pure, linear in the text, reads 65,536 characters of it."""
    return signatures_of(title, body, repo or _NO_REPOSITORY)


def match(ours: Iterable[ErrorSignature], theirs: Iterable[ErrorSignature]) -> Match | None:
    """The strongest key that both sides share; words alone count only if one side has no frames."""
    pairs = _pairs(ours, theirs)
    for level in LEVELS:
        for one, other in pairs:
            key = one.keys.get(level)
            if key and key == other.keys.get(level) and (level in STRONG or not (one.frames and other.frames)):
                return Match(level=level, key=key, ours=one, theirs=other)
    return None


def shows(alert: Iterable[ErrorSignature], seen: Iterable[ErrorSignature]) -> bool:
    """Whether the output of a reproduction shows the failure of an alert.

    More than `match` asks for keys: a test comes from elsewhere, so type, words and the innermost frame are enough, and
    type and words where the alert has no frames.
    """
    return any(match([one], [other]) is not None or _tell_the_same(one, other) for one, other in _pairs(alert, seen))


def _tell_the_same(one: ErrorSignature, other: ErrorSignature) -> bool:
    return (
        bool(one.type)
        and (one.language, one.type, one.template) == (other.language, other.type, other.template)
        and one.discriminators == other.discriminators
        and bool(one.frames and other.frames and one.frames[0] == other.frames[0])
    )


def _pairs(
    ours: Iterable[ErrorSignature], theirs: Iterable[ErrorSignature]
) -> list[tuple[ErrorSignature, ErrorSignature]]:
    others = tuple(theirs)
    return [(one, other) for one in ours for other in others]
