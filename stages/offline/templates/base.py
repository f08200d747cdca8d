"""What a template is: one kind of small repair, and everything that it could change in a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from stages.offline.scope import Program
from stages.offline.source import Splice


class Template(ABC):
    """One kind of repair.

    `weight` is how likely this kind repairs a defect, relative to the others, before anything is known of the place.
    """

    weight: float

    @property
    def name(self) -> str:
        """Its name in plain words: `comparison boundary`."""
        kind = type(self).__name__
        return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).strip()

    @abstractmethod
    def splices(self, source: Program) -> Iterator[Splice]:
        """All single edits of this kind, in the order of the text."""
