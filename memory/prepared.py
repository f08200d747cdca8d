"""What people wrote, made ready to be published: scrubbed, cut and in chunks, before any lock is taken."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from memory.notes import chunks
from memory.scrub import Scrubber
from memory.text import fold
from memory.types import Chunk, CommitId, NoteFile, Sources

PREPARED_FORMAT: Final = "p4"
"""Changes when the same note gives other chunks or is scrubbed otherwise: then all notes are published anew."""
NOTE_AT_MOST: Final = 1 << 20
"""Characters of a note that are read; a longer one says at its end how much is missing."""
RULES_AT_MOST: Final = 200
"""Rules of tuning that are read. Their block has room for fewer: 900 characters, and six at least for each."""
_BULLETS: Final = ("- ", "* ", "+ ")


@dataclass(frozen=True, kw_only=True)
class KeptNote:
    """A note that is live in memory: the digest of what it was made of, and itself."""

    source: str
    digest: str
    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class PreparedNote:
    """A note as it will be kept."""

    source: str  # digest of what was read
    digest: str  # of what is kept
    note: NoteFile
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Sources as they will be kept: a note by its digest, None when it is live already."""

    commit: CommitId
    notes: Mapping[str, PreparedNote | None]
    tuning: str  # one rule a line


def prepare(sources: Sources, kept: Mapping[str, KeptNote], scrubber: Scrubber) -> Prepared:
    """`sources` as memory keeps them. `kept` are the live notes by source: what did not change is not made again.

    A live note in which a value of the scrubber stands is made again too: the value became a secret later.
    """
    notes: dict[str, PreparedNote | None] = {}
    for note in sources.notes:
        source = digest_of([PREPARED_FORMAT, note.path, note.shared, note.changed, note.text])
        live = kept.get(source)
        if live and not scrubber.holds_value(live.path) and not scrubber.holds_value(live.text):
            notes[live.digest] = None
        else:
            made = _note(note, source, scrubber)
            notes[made.digest] = made
    return Prepared(commit=sources.commit, notes=notes, tuning="\n".join(_rules(_clean(sources.tuning, scrubber))))


def digest_of(parts: object) -> str:
    """SHA-256 over the JSON of what names a content."""
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _note(note: NoteFile, source: str, scrubber: Scrubber) -> PreparedNote:
    clean = replace(
        note,
        path=scrubber.scrub(note.path),
        changed=scrubber.scrub(note.changed),
        text=_clean(_cut(note.text), scrubber),
    )
    digest = digest_of([PREPARED_FORMAT, clean.path, clean.shared, clean.changed, clean.text])
    return PreparedNote(source=source, digest=digest, note=clean, chunks=chunks(clean))


def _cut(text: str) -> str:
    if len(text) <= NOTE_AT_MOST:
        return text
    end = text.rfind("\n", 0, NOTE_AT_MOST)
    read = text[: end if end > 0 else NOTE_AT_MOST]
    return f"{read}\n\n(This note is too long: {len(text) - len(read)} characters that follow here are not read.)\n"


def _clean(text: str, scrubber: Scrubber) -> str:
    """`text` without secrets, also without those that only folding lays bare."""
    clean = scrubber.scrub(text)
    folded = "\n".join(fold(clean))
    again = scrubber.scrub(folded)
    return clean if again == folded else again


def _rules(text: str) -> list[str]:
    """One rule for each line that is not empty, without its bullet."""
    lines = (_unbulleted(line.strip()) for line in fold(text))
    return [line for line in lines if line][:RULES_AT_MOST]


def _unbulleted(line: str) -> str:
    return line[2:].strip() if f"{line} ".startswith(_BULLETS) else line
