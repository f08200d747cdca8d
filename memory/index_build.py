"""Writing an index file, and reading its rows back."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from memory.search import Profile, rarity
from memory.types import Chunk
from memory.words import FUNCTION_WORDS, WORDS_FORMAT, parts, words

INDEX_FORMAT: Final = f"i2{WORDS_FORMAT}"
"""A part of the file's name: an index of another form is never opened."""
NOTE_BITS: Final = 20
"""A row is the number of its note, shifted by this, plus the number of the chunk in it."""

# The words are cut by `memory.words` alone: the tokenizer takes every character of theirs for a part of a word.
_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, text TEXT, length REAL);
CREATE TABLE chunk(id INTEGER PRIMARY KEY, data TEXT);
CREATE TABLE word(word TEXT PRIMARY KEY, chunks INTEGER, notes INTEGER) WITHOUT ROWID;
CREATE VIRTUAL TABLE fts USING fts5(words, content='', tokenize="ascii tokenchars '_+#.-/:'");
"""


def build(path: Path, digest: str, chunks: Sequence[Chunk]) -> None:
    """Write the index of `chunks` to `path`, an empty file. Raises sqlite3.Error or OSError."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        # Nobody reads the file before it is whole, so that it needs no journal.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for statement in _TABLES.strip().split("\n"):
            connection.execute(statement)
        _fill(connection, digest, chunks)
        connection.execute("COMMIT")
        connection.execute("INSERT INTO fts(fts) VALUES('optimize')")
    finally:
        connection.close()


def _fill(connection: sqlite3.Connection, digest: str, chunks: Sequence[Chunk]) -> None:
    in_chunks: Counter[str] = Counter()
    in_notes: Counter[str] = Counter()
    totals: Counter[str] = Counter(notes=0, chunks=0, title_words=0, text_words=0)
    for number, (_, group) in enumerate(groupby(_in_order(chunks), key=lambda chunk: chunk.note)):
        of_note = list(group)
        title = Counter(word for word in parts(title_of(of_note[0])) if word not in FUNCTION_WORDS)
        text: Counter[str] = Counter()
        held: set[str] = set()
        for ordinal, chunk in enumerate(of_note):
            row = (number << NOTE_BITS) + ordinal
            found = words(indexed(chunk))
            connection.execute("INSERT INTO chunk VALUES(?, ?)", (row, _data(chunk)))
            connection.execute("INSERT INTO fts(rowid, words) VALUES(?, ?)", (row, " ".join(found)))
            in_chunks.update(set(found))
            held.update(found)
            text.update(word for word in found if word not in FUNCTION_WORDS)
            if ordinal:
                text.subtract(title)  # every chunk repeats it in its heading
        in_notes.update(held)
        connection.execute("INSERT INTO note VALUES(?, ?, ?, 0)", (number, _counts(title), _counts(+text)))
        totals.update(notes=1, chunks=len(of_note), title_words=title.total(), text_words=text.total())
    connection.executemany(
        "INSERT INTO word VALUES(?, ?, ?)", ((word, count, in_notes[word]) for word, count in sorted(in_chunks.items()))
    )
    _measure(connection, totals["notes"], in_notes)
    connection.executemany("INSERT INTO meta VALUES(?, ?)", [("digest", digest), *totals.items()])


def _measure(connection: sqlite3.Connection, notes: int, in_notes: Mapping[str, int]) -> None:
    # A second pass, because rarity is known only at the end and the counts of all notes may not fit into memory.
    for number in range(notes):
        (text,) = connection.execute("SELECT text FROM note WHERE id = ?", (number,)).fetchone()
        squares = (
            ((1 + math.log(count)) * rarity(notes, in_notes[word])) ** 2 for word, count in json.loads(text).items()
        )
        connection.execute("UPDATE note SET length = ? WHERE id = ?", (math.sqrt(sum(squares)), number))


def title_of(chunk: Chunk) -> str:
    """The title of a chunk's note, with its tags."""
    title, _, rest = chunk.heading.partition(" > ")
    return title + (" " + rest[rest.rindex(" [") :] if rest.endswith("]") and " [" in rest else "")


def indexed(chunk: Chunk) -> str:
    """The text whose words find a chunk: its heading and its text, without the first line that repeats the title."""
    first, _, rest = chunk.text.partition("\n")
    repeated = first.startswith("#") and first.strip("# ") == chunk.heading.partition(" > ")[0].partition(" [")[0]
    return f"{chunk.heading}\n{rest if repeated else chunk.text}"


def _in_order(chunks: Sequence[Chunk]) -> list[Chunk]:
    return sorted(chunks, key=lambda chunk: (chunk.note, chunk.ordinal))


def _counts(found: Mapping[str, int]) -> str:
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def profile_of(note: int, title: str, text: str, length: float) -> Profile:
    """A row of notes as a value."""
    return Profile(note=note, title=json.loads(title), text=json.loads(text), length=length)


def _data(chunk: Chunk) -> str:
    return json.dumps(
        [chunk.note, chunk.anchor, chunk.ordinal, chunk.heading, chunk.text, chunk.changed, dict(chunk.scope)]
    )


def chunk_of(data: str) -> Chunk:
    """A row of chunks as a value."""
    note, anchor, ordinal, heading, text, changed, scope = json.loads(data)
    return Chunk(note=note, anchor=anchor, ordinal=ordinal, heading=heading, text=text, changed=changed, scope=scope)
