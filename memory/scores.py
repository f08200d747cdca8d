"""The named scores of a note for a ticket: what each weighs, and how they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_WORDS_TOLD: Final = 8


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How much a note is about a ticket, in five numbers; a lead is over the best other note, and below 0 behind it."""

    subject: float  # share of the ticket's subject that the note holds, rare words counting more
    title: float  # share of the note's title that the ticket holds
    words_lead: (
        float  # by: BM25 of the subject and of the best words of the ticket's body, against the most it could be
    )
    likeness_lead: float  # by: likeness of the whole texts
    rarest_lead: float  # by: how rare the rarest word is that both hold; 1 for one that no other note holds

    @property
    def total(self) -> float:
        # Rounded from a logistic fit on pairs of duplicate reports, 150 to 200 notes an index.
        return (
            0.25 * self.subject
            + 0.35 * self.title
            + 0.25 * self.words_lead
            + 0.35 * self.likeness_lead
            + 0.1 * self.rarest_lead
        )

    def told(self, found: Sequence[str], shared: str) -> str:
        """The scores in words; `found` are the subject's words in the note, `shared` the rarest word of both."""
        more = f" (+{len(found) - _WORDS_TOLD})" if len(found) > _WORDS_TOLD else ""
        words = " ".join(found[:_WORDS_TOLD]) or "none"
        return (
            f"subject words of the note found: {words}{more}, {self.subject:.2f} of the subject; "
            f"{self.title:.2f} of its title is in the ticket; {_lead(self.words_lead)} in words, "
            f"{_by(self.likeness_lead)} in likeness, {_by(self.rarest_lead)} in the rarest word"
            + (f", {shared}" if shared else "")
        )


def _lead(by: float) -> str:
    return f"clear of the next note by {by:.2f}" if by >= 0 else f"behind the best note by {-by:.2f}"


def _by(lead: float) -> str:
    return f"{lead:+.2f}"
