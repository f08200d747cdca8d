"""What memory has to say for one call of one entry point: the one place where relevance is decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from memory.budget import Allowance
from memory.lessons import render
from memory.notes import RECORD_AT_MOST, name
from memory.rules import FEW_NOTES, Coverage, Judgement, PerWord, Rule, Scored
from memory.search import Index, IndexUnusable, Search
from memory.text import fold, one_line
from memory.types import (
    Block,
    Chunk,
    Lesson,
    LessonStatus,
    MemoryContext,
    MemoryQuery,
    MemoryVersion,
    Record,
    take_seal,
)

_SEAL: Final = take_seal()

TUNING_AT_MOST: Final = 900  # characters of the section, as the next ones
LESSONS_AT_MOST: Final = 3_000
LESSON_AT_MOST: Final = 600
NOTES_AT_MOST: Final = 1_800
LESSONS_SHOWN: Final = 5
NOTES_SHOWN: Final = 2
_NEARLY: Final = 3  # notes below the threshold that are written down


class Shelf(Protocol):
    """What recall reads of the store. Scope and version are in every read."""

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Sequence[tuple[Lesson, str]]:
        """Live lessons of the ticket or of an equal signature, each with why it is here."""

    def tuning(self, version: MemoryVersion) -> Sequence[str]:
        """The maintainers' rules, one a line."""

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        """The live notes."""


class Recall:
    """Chooses by code what goes into a prompt. Holds the seal: nothing else makes a memory context.

    `rule` judges notes from 20 on; with fewer it is always `coverage`.
    """

    def __init__(self, shelf: Shelf, search: Search, rule: Rule | None = None) -> None:
        self._shelf, self._search = shelf, search
        self._rule = rule or PerWord()

    def __call__(self, query: MemoryQuery, version: MemoryVersion) -> MemoryContext:
        """The context of one call. Raises IndexUnusable when the notes cannot be searched."""
        index, judgement = self._judged(query, version)
        return MemoryContext(
            seal=_SEAL,
            version=version,
            entry_point=query.entry_point,
            tuning=_tuning(self._shelf.tuning(version)),
            lessons=_lessons(self._shelf.eligible_lessons(query, version)),
            notes=_notes(judgement, index, query.environment),
            rule=judgement.rule.value,
            searched=index.totals.notes,
            looked_for=judgement.looked_for,
        )

    def judge(self, query: MemoryQuery, version: MemoryVersion) -> Judgement:
        """How the notes score, for people who ask why."""
        return self._judged(query, version)[1]

    def _judged(self, query: MemoryQuery, version: MemoryVersion) -> tuple[Index, Judgement]:
        try:
            return self._search_once(query, version)
        except IndexUnusable:
            # A damaged file is made anew once; what fails then does not come from the file.
            self._search.discard(version.digest)
            return self._search_once(query, version)

    def _search_once(self, query: MemoryQuery, version: MemoryVersion) -> tuple[Index, Judgement]:
        index = self._search.open(version.digest, lambda: self._shelf.chunks(version))
        if index.digest != version.digest:
            raise IndexUnusable(folder="the search engine", reason="its index is of another version")
        rule = Coverage() if index.totals.notes < FEW_NOTES else self._rule
        return index, rule.judge(index, query)


def _tuning(rules: Sequence[str]) -> Block:
    lines = [line for rule in rules for text in fold(rule) if (line := text.strip())]
    allowance = Allowance(TUNING_AT_MOST)
    for number, line in enumerate(lines, 1):
        bare = line[1:].strip() if f"{line} "[:2] in ("- ", "* ", "+ ") else line
        if bare:
            allowance.offer(Record(id=f"tuning:{number}", lines=(bare,)))
    return allowance.block()


def _lessons(eligible: Sequence[tuple[Lesson, str]]) -> Block:
    allowance = Allowance(LESSONS_AT_MOST, each=LESSON_AT_MOST, count=LESSONS_SHOWN)
    for lesson, why in _in_order(eligible):
        allowance.offer(Record(id=lesson.id, lines=_folded(render(lesson, why)), why=why))
    return allowance.block()


def _in_order(eligible: Sequence[tuple[Lesson, str]]) -> list[tuple[Lesson, str]]:
    """The newest of each kind first, then the others, each by date; validated before pending on ties."""
    by_id = {lesson.id: (lesson, why) for lesson, why in reversed(eligible)}
    newest_first = sorted(by_id.values(), key=lambda pair: _age(pair[0]))
    first_of_kind: dict[type, tuple[Lesson, str]] = {}
    for pair in newest_first:
        first_of_kind.setdefault(type(pair[0].ending), pair)
    leading = list(first_of_kind.values())
    return leading + [pair for pair in newest_first if pair not in leading]


def _age(lesson: Lesson) -> tuple[float, bool, str]:
    return -lesson.last_seen.timestamp(), lesson.status is not LessonStatus.VALIDATED, lesson.id


def _notes(judgement: Judgement, index: Index, environment: str) -> Block:
    allowance = Allowance(NOTES_AT_MOST, each=RECORD_AT_MOST, count=NOTES_SHOWN)
    shown_texts: dict[str, str] = {}
    below = 0
    for scored in judgement.scored:
        if scored.score < judgement.threshold:
            below += 1
            if below > _NEARLY:
                break
        chunk = index.chunk(scored.row)
        called = f"{chunk.note}#{chunk.anchor}" if chunk.anchor else chunk.note
        if scored.score < judgement.threshold:
            allowance.refuse(called, f"below the threshold {judgement.threshold:.2f}", scored.score)
        elif (other := _other_environment(chunk, environment)) is not None:
            allowance.refuse(called, f"for {other}, not for {one_line(environment)}", scored.score)
        elif chunk.text in shown_texts:
            allowance.refuse(called, f"says the same as {shown_texts[chunk.text]}", scored.score)
        else:
            shown_texts[chunk.text] = called
            allowance.offer(_note(called, chunk, scored, judgement.threshold))
    return allowance.block()


def _note(called: str, chunk: Chunk, scored: Scored, threshold: float) -> Record:
    dated = f" · {one_line(chunk.changed)[:10]}" if chunk.changed else ""
    head = f"{name(chunk.note, chunk.anchor)} · human{dated} · score {scored.score:.2f}, threshold {threshold:.2f}"
    return Record(
        id=called,
        lines=_folded((head, chunk.text)),
        score=scored.score,
        why=scored.why,
    )


def _folded(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for text in texts for line in fold(text))


def _other_environment(chunk: Chunk, environment: str) -> str | None:
    """The environments that a note is for, when the query's is another one."""
    wanted = one_line(environment).casefold()
    own = chunk.scope.get("environment", "")
    if not wanted or not own or wanted in (part.strip().casefold() for part in own.split(",")):
        return None
    return own
