"""The rule `calibrated`: four named scores with weights, and a threshold that was measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from memory.rules import WORDS_AT_MOST, Judgement, RuleName, Scored
from memory.search import Index, Profile, rarity
from memory.types import MemoryQuery
from memory.words import FUNCTION_WORDS, distinct, words

CALIBRATED_FORMAT: Final = "c1"
"""Changes when the same ticket and note get another score: thresholds measured before are void."""
_TEXT_READ: Final = 20_000  # characters of a ticket
_BODY_WORDS: Final = 30
_CANDIDATES: Final = 24
_TWINS: Final = 0.9  # likeness of two notes from which on they count as one
_TWINS_LOOKED_FOR: Final = 5  # among so many of the best
_IN_BODY: Final = 0.6  # weight of a title word of the note that only the ticket's body holds
_TITLE_GAIN: Final = 1.5  # what a word in a note's title counts beside one in its text
_SATURATION, _BY_LENGTH = 1.2, 0.75  # k1 and b of BM25


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How much a note is about a ticket, in four numbers; the last three are leads over the best other note."""

    both_ways: float  # geometric mean of: the ticket's subject found in the note, the note's title found in the ticket
    subject_lead: float  # by: the note's title in the ticket, times likeness of the whole texts
    body_lead: float  # by: the best words of the ticket's body found in the note
    words_lead: float  # by: how many telling words of the subject the note holds

    @property
    def total(self) -> float:
        # Rounded from a logistic fit on pairs of duplicate reports, 150 to 200 notes an index.
        return 0.35 * self.both_ways + self.subject_lead + 0.3 * self.body_lead + 0.1 * self.words_lead


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A ticket as the index sees it: only words that some note holds."""

    subject: tuple[str, ...]
    body: tuple[str, ...]
    counts: Mapping[str, int]
    rarity: Mapping[str, float]
    length: float

    def weight(self, of: Iterable[str]) -> float:
        return sum(self.rarity[word] for word in of)


@dataclass(frozen=True, kw_only=True)
class _Plain:
    """Scores of one note alone, before leads are taken."""

    both_ways: float
    subject: float
    body: float
    words: float
    found: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Judges by the four scores against `threshold`; unknown words of the ticket change nothing."""

    threshold: float
    name: RuleName = RuleName.CALIBRATED

    def judge(self, index: Index, query: MemoryQuery) -> Judgement:
        asked = _asked(index, query)
        looked_for = distinct((*asked.subject, *asked.body), WORDS_AT_MOST)
        rows: dict[int, int] = {}
        for hit in index.best(looked_for, 3 * _CANDIDATES):
            if len(rows) < _CANDIDATES:
                rows.setdefault(hit.note, hit.row)
        profiles = {note: index.profile(note) for note in rows}
        scored = [
            Scored(note=note, row=rows[note], score=scores.total, why=told(scores, found))
            for note, (scores, found) in _scores(index, asked, profiles).items()
        ]
        return Judgement(
            rule=self.name,
            threshold=self.threshold,
            looked_for=looked_for,
            scored=tuple(sorted(scored, key=lambda one: (-one.score, one.row))),
        )


def told(scores: Scores, found: Sequence[str]) -> str:
    """The scores in words."""
    return (
        f"subject words found: {' '.join(found) or 'none'}; subject and title meet {scores.both_ways:.2f}; "
        f"clear of the next note by {scores.subject_lead:.2f} in subject, {scores.body_lead:.2f} in body, "
        f"{scores.words_lead:.2f} in words"
    )


def _asked(index: Index, query: MemoryQuery) -> _Asked:
    subject = query.headline.strip() or query.title
    in_subject = _telling(subject)
    rest = query.body if subject is query.title else f"{query.title}\n{query.body}"
    counts = Counter([*in_subject, *_telling(rest)])
    held = index.notes_with(list(counts))
    rare = {word: rarity(index.totals.notes, held[word]) for word in counts if word in held}
    gain = {word: (1 + math.log(counts[word])) * rare[word] for word in rare}
    top = sorted(distinct(word for word in in_subject if word in rare), key=lambda word: -rare[word])[:WORDS_AT_MOST]
    others = sorted((word for word in rare if word not in set(in_subject)), key=lambda word: -gain[word])
    return _Asked(
        subject=tuple(top),
        body=tuple(others[:_BODY_WORDS]),
        counts=counts,
        rarity=rare,
        length=math.sqrt(sum(value * value for value in gain.values())),
    )


def _telling(text: str) -> list[str]:
    return [word for word in words(text[:_TEXT_READ]) if word not in FUNCTION_WORDS]


def _scores(index: Index, asked: _Asked, profiles: Mapping[int, Profile]) -> dict[int, tuple[Scores, tuple[str, ...]]]:
    titles = list({word for profile in profiles.values() for word in profile.title})
    held = index.notes_with(titles)
    rare = {word: rarity(index.totals.notes, held.get(word, 0)) for word in titles}
    plain = {note: _plain(index, asked, profile, rare) for note, profile in profiles.items()}
    twins = _twins(index, profiles, plain)
    return {
        note: (
            Scores(
                both_ways=own.both_ways,
                subject_lead=own.subject - max((plain[n].subject for n in plain if n not in twins[note]), default=0.0),
                body_lead=own.body - max((plain[n].body for n in plain if n not in twins[note]), default=0.0),
                words_lead=own.words - max((plain[n].words for n in plain if n not in twins[note]), default=0.0),
            ),
            own.found,
        )
        for note, own in plain.items()
    }


def _plain(index: Index, asked: _Asked, profile: Profile, rare: Mapping[str, float]) -> _Plain:
    found = tuple(word for word in asked.subject if word in profile.text)
    matched = asked.weight(found)
    in_subject = set(asked.subject)
    title = sum(rare[word] * (1 if word in in_subject else _IN_BODY) for word in profile.title if word in asked.rarity)
    reverse = title / (sum(rare[word] for word in profile.title) or 1.0)
    return _Plain(
        both_ways=math.sqrt(reverse * matched / (asked.weight(asked.subject) or 1.0)),
        subject=math.sqrt(reverse * _cosine(asked, profile)),
        body=_bm25(index, asked, profile),
        words=math.log1p(matched),
        found=found,
    )


def _cosine(asked: _Asked, profile: Profile) -> float:
    shared = 0.0
    for word, rare in asked.rarity.items():
        count = profile.text.get(word)
        if count:
            shared += (1 + math.log(count)) * (1 + math.log(asked.counts[word])) * rare * rare
    return min(1.0, shared / (asked.length * profile.length)) if shared else 0.0


def _bm25(index: Index, asked: _Asked, profile: Profile) -> float:
    """Share of what the best words of the ticket's body could score at most."""
    totals = index.totals
    by_text = 1 - _BY_LENGTH + _BY_LENGTH * sum(profile.text.values()) * totals.notes / (totals.text_words or 1)
    by_title = 1 - _BY_LENGTH + _BY_LENGTH * sum(profile.title.values()) * totals.notes / (totals.title_words or 1)
    score = 0.0
    for word in asked.body:
        count = profile.text.get(word, 0) / by_text + _TITLE_GAIN * (word in profile.title) / by_title
        score += asked.rarity[word] * count / (count + _SATURATION)
    return score / (asked.weight(asked.body) or 1.0)


def _twins(index: Index, profiles: Mapping[int, Profile], plain: Mapping[int, _Plain]) -> dict[int, set[int]]:
    """For each note, itself and the notes that say nearly the same; only the best ones are compared."""
    twins = {note: {note} for note in profiles}
    best = sorted(plain, key=lambda note: -plain[note].subject)[:_TWINS_LOOKED_FOR]
    for one, other in combinations((profiles[note] for note in best), 2):
        share = len(one.text.keys() & other.text.keys()) / (min(len(one.text), len(other.text)) or 1)
        if share >= _TWINS and _likeness(index, one, other) >= _TWINS:  # the cheap look first
            twins[one.note].add(other.note)
            twins[other.note].add(one.note)
    return twins


def _likeness(index: Index, one: Profile, other: Profile) -> float:
    shared = list(one.text.keys() & other.text.keys())
    held = index.notes_with(shared)
    both = sum(
        (1 + math.log(one.text[word]))
        * (1 + math.log(other.text[word]))
        * rarity(index.totals.notes, held.get(word, 0)) ** 2
        for word in shared
    )
    return both / (one.length * other.length or 1.0)
