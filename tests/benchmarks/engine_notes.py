"""As many notes as are asked for, and questions about them: the public data's own, or made of common words."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from memory.types import MemoryQuery, NoteFile
from tests.memory.recall_kit import asking

_DATA: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "retrieval"
_CORPORA: Final = ("runbooks", "duplicates_bugzilla", "duplicates_jira")
_QUESTIONS: Final = 60
_WORDS: Final = 20_000  # of an invented language
_LONG: Final = 120  # words of an invented note
_BODY_AT_MOST: Final = 4_000  # characters


def notes_of(size: int) -> list[NoteFile]:
    """Real ones first; then the first half of one with the second half of another, so that words stay as frequent."""
    real = _documents()
    chance = random.Random(size)
    found: list[NoteFile] = []
    for number in range(size):
        if number < len(real):
            title, body = real[number]
        else:
            (title, first), (_, second) = chance.choice(real), chance.choice(real)
            body = f"{first[: len(first) // 2]} {second[len(second) // 2 :]}"
        found.append(NoteFile(path=f"n{number:06}.md", text=f"# {title}\n\n{body}\n"))
    return found


def questions_of() -> list[MemoryQuery]:
    """The titles and texts of tickets, of which some have a note and some do not."""
    path = _DATA / "duplicates_bugzilla" / "queries.jsonl"
    if path.exists():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:_QUESTIONS]]
        return [asking(row["title"], body=row.get("body", ""), rule="calibrated") for row in rows]
    return [asking(" ".join(_invented(number)[:9]), rule="calibrated") for number in range(_QUESTIONS)]


@cache
def _documents() -> Sequence[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name in _CORPORA:
        path = _DATA / name / "docs.jsonl"
        if path.exists():
            rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
            found += [(row["title"], row["body"][:_BODY_AT_MOST]) for row in rows]
    if found:
        random.Random(1).shuffle(found)
        return found
    return [(" ".join(words[:7]), " ".join(words)) for words in map(_invented, range(5_000))]


def _invented(seed: int) -> list[str]:
    """Words whose frequencies fall as those of a language do."""
    chance = random.Random(seed)
    return [f"w{int(_WORDS ** chance.random())}" for _ in range(_LONG)]
