"""Why a note got into a prompt and another did not, in lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.wording import count, listed
from memory.notes import called, flaw, unknown_keys
from memory.types import Block, LeftOut, MemoryContext, NoteFile, Record

_WORDS_TOLD = 24


def notes_told(context: MemoryContext) -> tuple[str, ...]:
    """What notes were looked for with, which were candidates, and by how much each got in or stayed out."""
    words = context.looked_for
    more = f" (+{len(words) - _WORDS_TOLD})" if len(words) > _WORDS_TOLD else ""
    found = f"{len(context.notes.shown)} of {context.notes.eligible} got in" if context.searched else "there are none"
    return (
        f"notes looked for: {', '.join(words[:_WORDS_TOLD]) or 'nothing, no word of the ticket tells'}{more}",
        f"rule {context.rule}, {count(context.searched, 'note')} searched: {found}",
        *candidates_told(context.notes),
    )


def flaws_told(notes: Iterable[NoteFile]) -> Iterator[str]:
    """A line for each note that is not used since its front matter cannot be understood: file, line, and why."""
    for note in notes:
        if found := flaw(note):
            yield f"{called(note)}:{found.line} · not read: {found.said}"


def unknown_keys_told(notes: Iterable[NoteFile]) -> Iterator[str]:
    """A line for each note that can be used, and says of itself what nobody reads: perhaps a key is misspelt."""
    for note in notes:
        if (found := unknown_keys(note)) and not flaw(note):
            yield f"{called(note)} · keys that nobody reads: {listed(found)}"


def candidates_told(block: Block) -> Iterator[str]:
    """A line for each candidate, and its scores in lines below it."""
    for record in block.shown:
        yield from _lines("in ", _named(record), record.why or "eligible")
    for left in block.left_out:
        yield from _lines("out", _named(left) if left.id else "", left.why)


def _lines(side: str, name: str, why: str) -> Iterator[str]:
    first, *rest = (why if ": " not in why else why.replace(": ", "; ", 1)).split("; ")
    yield f"{side}  {name}: {first}" if name else f"{side}  {first}"
    yield from (f"       {part}" for part in rest)


def _named(one: Record | LeftOut) -> str:
    return one.id if one.score is None else f"{one.id}, score {one.score:.2f}"
