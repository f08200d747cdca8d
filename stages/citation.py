"""What a diagnosis copied from its ticket: it shows that the ticket was read, and this one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memory.text import fold, one_line
from stages.errors import UnreadableAnswer

CHARACTERS_AT_MOST: Final = 300
CHARACTERS_AT_LEAST: Final = 8
"""Without blanks. Fewer stand in any text; only a whole title may have fewer."""


def citation(quote: object, ticket: Iterable[str]) -> str:
    """The quote on one line. Raises UnreadableAnswer when no text of the ticket, as the model read it, says so."""
    said = " ".join(one_line(quote).split()) if isinstance(quote, str) else ""
    wanted = _bare(said)
    if not wanted:
        raise UnreadableAnswer(reason="quote is a line that is copied from the ticket, its title or of its text")
    if len(said) > CHARACTERS_AT_MOST:
        raise UnreadableAnswer(reason=f"quote has {len(said)} characters, and at most {CHARACTERS_AT_MOST} are taken")
    texts = [_bare(text) for text in ticket]
    if wanted in texts:
        return said
    if len(wanted) < CHARACTERS_AT_LEAST:
        raise UnreadableAnswer(reason=f"quote is shorter than {CHARACTERS_AT_LEAST} characters, and not the title")
    if not any(wanted in text for text in texts):
        raise UnreadableAnswer(reason="quote does not stand in the ticket: copy a line as it stands behind `| `")
    return said


def _bare(text: str) -> str:
    """Without what gets lost when a line is copied: blanks, capitals, and other forms of the same letter."""
    return "".join("".join(fold(text)).split()).casefold()
