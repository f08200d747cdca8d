"""What asks for work."""

from __future__ import annotations

from dataclasses import dataclass

from memory.types import TicketId


@dataclass(frozen=True, kw_only=True)
class Comment:
    author: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """A GitHub issue, or a local file with the same fields. All its text is foreign."""

    id: TicketId
    title: str
    body: str
    comments: tuple[Comment, ...] = ()
    author: str = ""
    number: int | None = None

    @property
    def text(self) -> str:
        """Body and comments as one text: where an alert is looked for."""
        return "\n\n".join((self.body, *(comment.text for comment in self.comments)))
