"""What memory has to say for one call of one entry point: the one place where relevance is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from memory.authorship import NOT_OURS
from memory.budget import Allowance
from memory.calibration import Calibration, rule_for
from memory.lessons import RECORD_AT_MOST as LESSON_AT_MOST
from memory.lessons import render
from memory.notes import RECORD_AT_MOST as NOTE_AT_MOST
from memory.notes import name
from memory.rules import FEW_NOTES, Coverage, Judgement, Rule, Scored, text_of
from memory.search import Index, IndexUnusable, Search
from memory.slots import Scrub
from memory.text import fold, one_line
from memory.types import (
    Block,
    Chunk,
    Eligible,
    MemoryContext,
    MemoryQuery,
    MemoryVersion,
    Record,
    take_seal,
)
from memory.words import written

_SEAL: Final = take_seal()

TUNING_AT_MOST: Final = 900  # characters of the section, as the next ones
LESSONS_AT_MOST: Final = 3_000
NOTES_AT_MOST: Final = 1_800
LESSONS_SHOWN: Final = 5
NOTES_SHOWN: Final = 2
_LOOKED_AT: Final = 64  # candidates that are read; of more that pass only how many there are is known
_NEARLY: Final = 3  # notes below the threshold that are written down


class Shelf(Protocol):
    """What recall reads of the store. Scope and version are in every read."""

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Eligible:
        """Live lessons of the ticket or of an equal signature, in the order in which they are shown."""

    def tuning(self, version: MemoryVersion) -> Sequence[str]:
        """The maintainers' rules, one a line, without bullets."""

    def chunks(self, version: MemoryVersion) -> Sequence[Chunk]:
        """The live notes."""

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        """What was measured on the notes until this version."""


class Recall:
    """Chooses by code what goes into a prompt. Holds the seal: nothing else makes a memory context.

    With fewer than 20 notes the rule is always `coverage`; from there on it is `rule`, or without one what the query
    wants: `auto` is `calibrated` once that was measured, else `per_word`. `scrub` sees what people wrote once more: a
    run that pinned its version long ago may know a secret that was none then.
    """

    def __init__(
        self, shelf: Shelf, search: Search, rule: Rule | None = None, *, scrub: Scrub = lambda text: text
    ) -> None:
        self._shelf, self._search, self._scrub = shelf, search, scrub
        self._rule = rule

    def __call__(self, query: MemoryQuery, version: MemoryVersion) -> MemoryContext:
        """The context of one call. Raises IndexUnusable when the notes cannot be searched."""
        index, judgement = self._judged(query, version)
        return MemoryContext(
            seal=_SEAL,
            version=version,
            entry_point=query.entry_point,
            tuning=_tuning(self._shelf.tuning(version), self._scrub),
            lessons=_lessons(self._shelf.eligible_lessons(query, version)),
            notes=_notes(judgement, index, query.environment, self._scrub),
            rule=judgement.rule.value,
            searched=index.totals.notes,
            looked_for=tuple(written(judgement.looked_for, text_of(query)).values()),
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
        return index, self._rule_of(index.totals.notes, query, version).judge(index, query)

    def _rule_of(self, notes: int, query: MemoryQuery, version: MemoryVersion) -> Rule:
        if notes < FEW_NOTES:
            return Coverage()
        return self._rule or rule_for(notes, query.rule, self._shelf.calibration(version))


def _tuning(rules: Sequence[str], scrub: Scrub) -> Block:
    lines = [line for rule in rules for text in fold(scrub(rule)) if (line := text.strip())]
    allowance = Allowance(TUNING_AT_MOST)
    for number, line in enumerate(lines, 1):
        allowance.offer(Record(id=f"tuning:{number}", lines=(line,)))
    return allowance.block()


def _lessons(eligible: Eligible) -> Block:
    allowance = Allowance(LESSONS_AT_MOST, each=LESSON_AT_MOST, count=LESSONS_SHOWN)
    for lesson, why in eligible.lessons:
        allowance.offer(Record(id=lesson.id, lines=_folded(render(lesson, why)), why=why))
    for foreign in eligible.foreign:
        allowance.refuse(foreign, NOT_OURS)
    allowance.offer_unseen(eligible.count - len(eligible.lessons))
    return allowance.block()


def _notes(judgement: Judgement, index: Index, environment: str, scrub: Scrub) -> Block:
    allowance = Allowance(NOTES_AT_MOST, each=NOTE_AT_MOST, count=NOTES_SHOWN)
    shown_texts: dict[str, str] = {}
    below = 0
    for seen, scored in enumerate(judgement.scored):
        if scored.score < judgement.threshold:
            below += 1
            if below > _NEARLY:
                break
        elif seen >= _LOOKED_AT:
            allowance.offer_unseen(sum(other.score >= judgement.threshold for other in judgement.scored[seen:]))
            break
        chunk = _scrubbed(index.chunk(scored.row), scrub)
        called = f"{chunk.note}#{chunk.anchor}" if chunk.anchor else chunk.note
        if scored.score < judgement.threshold:
            allowance.refuse(called, _beside(judgement.threshold, scored), scored.score)
        elif (other := _other_environment(chunk, environment)) is not None:
            allowance.refuse(called, f"for {other}, not for {one_line(environment)}", scored.score)
        elif chunk.text in shown_texts:
            allowance.refuse(called, f"says the same as {shown_texts[chunk.text]}", scored.score)
        else:
            shown_texts[chunk.text] = called
            allowance.offer(_note(called, chunk, scored, judgement.threshold))
    return allowance.block()


def _beside(threshold: float, scored: Scored) -> str:
    """By how much a note got in or stayed out, and what its score is made of."""
    side = "above" if scored.score >= threshold else "below"
    short = f"{abs(scored.score - threshold):.2f} {side} the threshold {threshold:.2f}"
    return f"{short}: {scored.why}" if scored.why else short


def _note(called: str, chunk: Chunk, scored: Scored, threshold: float) -> Record:
    dated = f" · {one_line(chunk.changed)[:10]}" if chunk.changed else ""
    head = f"{name(chunk.note, chunk.anchor)} · human{dated} · score {scored.score:.2f}, threshold {threshold:.2f}"
    return Record(
        id=called,
        lines=_folded((head, chunk.text)),
        score=scored.score,
        why=_beside(threshold, scored),
    )


def _scrubbed(chunk: Chunk, scrub: Scrub) -> Chunk:
    note, anchor, text = scrub(chunk.note), scrub(chunk.anchor), scrub(chunk.text)
    if (note, anchor, text) == (chunk.note, chunk.anchor, chunk.text):
        return chunk
    return replace(chunk, note=note, anchor=anchor, text=text)


def _folded(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for text in texts for line in fold(text))


def _other_environment(chunk: Chunk, environment: str) -> str | None:
    """The environments that a note is for, when the query's is another one."""
    wanted = one_line(environment).casefold()
    own = chunk.scope.get("environment", "")
    if not wanted or not own or wanted in (part.strip().casefold() for part in own.split(",")):
        return None
    return own
