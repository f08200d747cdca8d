"""Keys of lessons, made anew when failures are compared in another way.

Memory keeps no word of a failure, so what its runs saw is asked of whoever keeps runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

from sqlmodel import Session, col, select

from memory.authorship import Authorship
from memory.lesson_table import lesson_of, live
from memory.slots import slotted_signatures
from memory.tables import EvidenceRow, KeyRow, LessonRow, SignaturePassRow
from memory.teaching import put
from memory.text import count
from memory.types import ErrorSignature, LessonId, MemoryVersion, RunId, Scope
from memory.versions import current, of, publish

Seen: TypeAlias = Callable[[RunId], Iterable[ErrorSignature]]
"""The signatures of what a run saw, as they are computed now; none when its texts are not kept any more."""
RUNS_ASKED: Final = 3
"""Runs of one lesson whose texts are read, the last ones: they saw the same failure."""


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """Lessons that have keys of the new algorithm since, those of which nothing is left to read, and the version."""

    lessons: int
    without: int
    version: MemoryVersion

    def told(self) -> str:
        """What was done, for people."""
        kept = count(self.without, "keeps those it has, for its", "keep those they have, for their")
        left = f"; {kept} runs are gone" if self.without else ""
        lessons = count(self.lessons, "lesson has", "lessons have")
        return f"failures are compared in another way since; {lessons} new keys{left}"


def stale(session: Session, scope: Scope, algorithm: str, author: Authorship) -> Mapping[LessonId, tuple[RunId, ...]]:
    """Live lessons of ours whose keys are all of other algorithms, each with its last runs; none after the pass."""
    if session.get(SignaturePassRow, (scope.installation, scope.repository, algorithm)):
        return {}
    keyed = select(KeyRow.lesson).where(*of(KeyRow, scope), col(KeyRow.algo) == algorithm)
    other = select(KeyRow.lesson).where(*of(KeyRow, scope), col(KeyRow.algo) != algorithm)
    rows = select(LessonRow.id).where(
        *live(scope), col(LessonRow.lesson).in_(other), col(LessonRow.lesson).not_in(keyed)
    )
    lessons = author.rows(session, rows.order_by("lesson")).values()
    return {LessonId(row.lesson): _runs(session, scope, row.lesson) for row in lessons if row}


def read(lessons: Mapping[LessonId, tuple[RunId, ...]], seen: Seen) -> Mapping[LessonId, tuple[ErrorSignature, ...]]:
    """What the runs of each lesson saw, without a word of it."""
    return {
        lesson: slotted_signatures(signature for run in runs for signature in seen(run))
        for lesson, runs in lessons.items()
    }


def recompute(
    session: Session,
    scope: Scope,
    algorithm: str,
    found: Mapping[LessonId, tuple[ErrorSignature, ...]],
    at: datetime,
    author: Authorship,
) -> Recomputed:
    """Give each lesson the signatures that were found for it, in a new version, and write down that this was done.

    Keys that were there stay: who pinned a version before finds them.
    """
    newest = current(session, scope)
    waiting = stale(session, scope, algorithm, author)
    given = {lesson: signatures for lesson, signatures in found.items() if signatures and lesson in waiting}
    version = replace(newest, number=newest.number + 1) if given else newest
    if given:
        publish(session, version, at)
    rows = select(LessonRow.id).where(*live(scope), col(LessonRow.lesson).in_(given))
    for row in filter(None, author.rows(session, rows).values()):
        put(session, replace(lesson_of(row), signatures=given[LessonId(row.lesson)]), version, author)
    if waiting:
        session.add(
            SignaturePassRow(
                installation=scope.installation,
                repository=scope.repository,
                algo=algorithm,
                version=version.number,
                lessons=len(given),
                without=len(waiting) - len(given),
                at=at,
            )
        )
    return Recomputed(lessons=len(given), without=len(waiting) - len(given), version=version)


def _runs(session: Session, scope: Scope, lesson: str) -> tuple[RunId, ...]:
    rows = select(EvidenceRow.run).where(*of(EvidenceRow, scope), col(EvidenceRow.lesson) == lesson)
    runs = dict.fromkeys(session.exec(rows.order_by(col(EvidenceRow.at).desc())))
    return tuple(RunId(run) for run in list(runs)[:RUNS_ASKED])
