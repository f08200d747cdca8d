"""The rule `calibrated`: five named scores with weights, and a threshold that was measured."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from memory.rules import WORDS_AT_MOST, Judgement, RuleName, Scored, text_of
from memory.scores import Scores
from memory.search import Index, Profile, rarity
from memory.types import MemoryQuery
from memory.words import FUNCTION_WORDS, distinct, words, written

CALIBRATED_FORMAT: Final = "c2"
"""Changes when the same ticket and note get another score: thresholds measured before are void."""
_TEXT_READ: Final = 20_000  # characters of a ticket
_BODY_WORDS: Final = 30
_CANDIDATES: Final = 24
_RARE, _RARE_ENOUGH = 2.0, 6  # candidates are looked for without words that an eighth of the notes hold: they take long
_TWINS: Final = 0.9  # likeness of two notes from which on they count as one
_TWINS_LOOKED_FOR: Final = 5  # among so many of the best
# Words of the rarest kind: a subject or a title that has less to tell is never found whole.
_SUBJECT_AT_LEAST, _TITLE_AT_LEAST = 3, 2
_SHARED_AT_LEAST: Final = 2  # words of ticket and note: one word in common is no matter in common
_TITLE_GAIN: Final = 2.5  # what a word in a title counts beside one in a text
_SATURATION, _BY_LENGTH = 1.2, 0.75  # k1 and b of BM25


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

    subject: float
    title: float
    words: float
    likeness: float
    rarest: float
    found: tuple[str, ...]
    shared: tuple[str, ...]  # words that both hold, the rarest first


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Judges by the five scores against `threshold`; unknown words of the ticket change nothing."""

    threshold: float
    name: RuleName = RuleName.CALIBRATED

    def judge(self, index: Index, query: MemoryQuery) -> Judgement:
        asked = _asked(index, query)
        looked_for = distinct((*asked.subject, *asked.body), WORDS_AT_MOST)
        rare = [word for word in looked_for if asked.rarity[word] >= _RARE]
        rows: dict[int, int] = {}
        for hit in index.best(rare if len(rare) >= _RARE_ENOUGH else looked_for, 3 * _CANDIDATES):
            if len(rows) < _CANDIDATES:
                rows.setdefault(hit.note, hit.row)
        profiles = index.profiles(sorted(rows))
        found = _scores(index, asked, profiles)
        told = [word for _, plain in found.values() for word in (*plain.found, *plain.shared[:1])]
        forms = written(told, text_of(query))
        scored = [_scored(note, rows[note], scores, plain, forms) for note, (scores, plain) in found.items()]
        return Judgement(
            rule=self.name,
            threshold=self.threshold,
            looked_for=looked_for,
            scored=tuple(sorted(scored, key=lambda one: (-one.score, one.row))),
        )


def _scored(note: int, row: int, scores: Scores, plain: _Plain, forms: Mapping[str, str]) -> Scored:
    if len(plain.shared) < _SHARED_AT_LEAST:
        why = f"only one word in common: {forms[plain.shared[0]]}" if plain.shared else "no telling word in common"
        return Scored(note=note, row=row, score=min(0.0, scores.total), why=why)
    return Scored(
        note=note,
        row=row,
        score=scores.total,
        why=scores.told([forms[word] for word in plain.found], forms[plain.shared[0]]),
    )


def _asked(index: Index, query: MemoryQuery) -> _Asked:
    subject = query.headline.strip() or query.title
    in_subject = dict.fromkeys(_telling(subject))
    rest = query.body if subject is query.title else f"{query.title}\n{query.body}"
    counts = Counter([*_telling(subject), *_telling(rest)])
    held = index.notes_with(list(counts))
    rare = {word: rarity(index.totals.notes, held[word]) for word in counts if word in held}
    gain = {word: (1 + math.log(counts[word])) * rare[word] for word in rare}
    top = sorted((word for word in in_subject if word in rare), key=lambda word: -rare[word])[:WORDS_AT_MOST]
    others = sorted((word for word in rare if word not in in_subject), key=lambda word: -gain[word])
    return _Asked(
        subject=tuple(top),
        body=tuple(others[:_BODY_WORDS]),
        counts=counts,
        rarity=rare,
        length=math.sqrt(sum(value * value for value in gain.values())),
    )


def _telling(text: str) -> list[str]:
    return [word for word in words(text[:_TEXT_READ]) if word not in FUNCTION_WORDS]


def _scores(index: Index, asked: _Asked, profiles: Mapping[int, Profile]) -> dict[int, tuple[Scores, _Plain]]:
    titles = list({word for profile in profiles.values() for word in profile.title})
    held = index.notes_with(titles)
    rare = {word: rarity(index.totals.notes, held.get(word, 0)) for word in titles}
    plain = {note: _plain(index, asked, profile, rare) for note, profile in profiles.items()}
    twins = _twins(index, profiles, plain)
    return {
        note: (
            Scores(
                subject=own.subject,
                title=own.title,
                words_lead=own.words - max((plain[n].words for n in plain if n not in twins[note]), default=0.0),
                likeness_lead=own.likeness
                - max((plain[n].likeness for n in plain if n not in twins[note]), default=0.0),
                rarest_lead=own.rarest - max((plain[n].rarest for n in plain if n not in twins[note]), default=0.0),
            ),
            own,
        )
        for note, own in plain.items()
    }


def _plain(index: Index, asked: _Asked, profile: Profile, rare: Mapping[str, float]) -> _Plain:
    found = tuple(word for word in asked.subject if word in profile.text)
    title = sum(rare[word] for word in profile.title if word in asked.rarity)
    both = sorted(asked.rarity.keys() & profile.text.keys(), key=lambda word: (-asked.rarity[word], word))
    rarest = rarity(index.totals.notes, 1)
    return _Plain(
        subject=asked.weight(found) / (max(asked.weight(asked.subject), _SUBJECT_AT_LEAST * rarest) or 1.0),
        title=title / (max(sum(rare[word] for word in profile.title), _TITLE_AT_LEAST * rarest) or 1.0),
        words=_bm25(index, asked, profile),
        likeness=math.sqrt(_cosine(asked, profile, both)),
        rarest=asked.rarity[both[0]] / (rarest or 1.0) if both else 0.0,
        found=found,
        shared=tuple(both),
    )


def _cosine(asked: _Asked, profile: Profile, both: Sequence[str]) -> float:
    shared = sum(
        (1 + math.log(profile.text[word])) * (1 + math.log(asked.counts[word])) * asked.rarity[word] ** 2
        for word in both
    )
    return min(1.0, shared / (asked.length * profile.length)) if shared else 0.0


def _bm25(index: Index, asked: _Asked, profile: Profile) -> float:
    """Share of what the subject and the best words of the ticket's body could score at most."""
    totals = index.totals
    by_text = 1 - _BY_LENGTH + _BY_LENGTH * sum(profile.text.values()) * totals.notes / (totals.text_words or 1)
    by_title = 1 - _BY_LENGTH + _BY_LENGTH * sum(profile.title.values()) * totals.notes / (totals.title_words or 1)
    score = most = 0.0
    for looked_for, gain in ((asked.subject, _TITLE_GAIN), (asked.body, 1.0)):
        for word in looked_for:
            weight = gain * asked.rarity[word]
            most += weight
            count, titled = profile.text.get(word, 0), profile.title.get(word, 0)
            if count:
                gained = max(0, count - titled) / by_text + _TITLE_GAIN * titled / by_title
                score += weight * gained / (gained + _SATURATION)
    return score / (max(most, _TITLE_GAIN * _SUBJECT_AT_LEAST * rarity(totals.notes, 1)) or 1.0)


def _twins(index: Index, profiles: Mapping[int, Profile], plain: Mapping[int, _Plain]) -> dict[int, set[int]]:
    """For each note, itself and the notes that say nearly the same; only the best ones are compared."""
    twins = {note: {note} for note in profiles}
    best = sorted(plain, key=lambda note: -plain[note].likeness)[:_TWINS_LOOKED_FOR]
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
