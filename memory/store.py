"""All that is kept of memory, behind one door: values in, values out, no row ever."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine

from memory import (
    audit,
    calibration_table,
    freshness,
    lesson_table,
    publishing,
    recomputing,
    recording,
    retracting,
    unread,
    versions,
)
from memory.authorship import Authorship
from memory.calibration import Calibration
from memory.database import reading, writing
from memory.prepared import prepare
from memory.recomputing import Recomputed, Seen
from memory.recording import Recorded, RecordedEnding
from memory.scrub import Scrubber
from memory.signature import ALGO
from memory.slots import slotted, slotted_run
from memory.types import (
    Chunk,
    Eligible,
    Injection,
    Lesson,
    LessonId,
    MemoryQuery,
    MemoryVersion,
    NoteFile,
    RunEnding,
    RunId,
    Scope,
    Sources,
)


class MemoryStore:
    """Memory in a database whose tables are up to date (`memory.database.upgrade_memory`).

    Each method is one transaction, and raises the errors of `memory.database.open_database`: then nothing was written.
    A read names the version it reads; what is published meanwhile changes nothing for it.
    """

    def __init__(self, engine: Engine, scrubber: Scrubber, author: Authorship) -> None:
        """`author` signs every lesson that is written; one that it did not sign as it stands is never given."""
        self._author = author
        self._engine, self._scrubber, self._scrub = engine, scrubber, scrubber.scrub

    # --- Versions --------------------------------------------------------------------------------------------------

    def current(self, scope: Scope) -> MemoryVersion:
        """The newest version of a repository's memory: what a run pins."""
        with reading(self._engine) as session:
            return versions.current(session, scope)

    def publish_sources(self, scope: Scope, sources: Sources, at: datetime) -> MemoryVersion:
        """A version with these notes and this tuning: the newest one when nothing changed, else a new one.

        A note in which something stands that became a secret since is a changed one. The write lock is taken only to
        write what is ready.
        """
        version: MemoryVersion | None = None
        while version is None:  # once more when somebody else published meanwhile
            version = self._publish(scope, sources, at)
        if sources.state and not self.unchanged(scope, sources.state):
            with writing(self._engine) as session:
                freshness.remember(session, version, sources.state, self._scrubber)
        return version

    def unchanged(self, scope: Scope, state: str) -> MemoryVersion | None:
        """The newest version, when its notes and tuning were made from sources in just this state; they stay unread.

        None when that is not known: then `publish_sources` finds out.
        """
        with reading(self._engine) as session:
            return freshness.unchanged(session, scope, state, self._scrubber)

    def _publish(self, scope: Scope, sources: Sources, at: datetime) -> MemoryVersion | None:
        with reading(self._engine) as session:
            kept = publishing.kept_notes(session, scope)
        prepared = prepare(sources, kept, self._scrubber)
        with reading(self._engine) as session:
            if newest := publishing.published(session, scope, prepared):
                return newest
        with writing(self._engine) as session:
            return publishing.publish_prepared(session, scope, prepared, at)

    def notes(self, version: MemoryVersion) -> tuple[NoteFile, ...]:
        """The notes of a version, by path; scrubbed."""
        with reading(self._engine) as session:
            return versions.notes(session, version)

    def unread(self, version: MemoryVersion) -> tuple[NoteFile, ...]:
        """Those of them of which nothing is searched, by path."""
        with reading(self._engine) as session:
            return unread.unread(session, version)

    def chunks(self, version: MemoryVersion) -> tuple[Chunk, ...]:
        """What full-text search searches."""
        with reading(self._engine) as session:
            return versions.version_chunks(session, version)

    def tuning(self, version: MemoryVersion) -> tuple[str, ...]:
        """The maintainers' rules, one for each line."""
        with reading(self._engine) as session:
            return versions.tuning(session, version)

    # --- Calibration -----------------------------------------------------------------------------------------------

    def calibration(self, version: MemoryVersion) -> Calibration | None:
        """The last calibration that was made until `version`."""
        with reading(self._engine) as session:
            return calibration_table.calibration(session, version)

    def changed_since_calibration(self, version: MemoryVersion) -> float | None:
        """The share of notes that changed since then; None when none was made."""
        with reading(self._engine) as session:
            return calibration_table.changed(session, version)

    def keep_calibration(self, version: MemoryVersion, made: Calibration) -> MemoryVersion:
        """A new version of the repository that carries `made`; a run that pinned an older one goes on as it was."""
        with writing(self._engine) as session:
            return calibration_table.keep(session, version, made)

    # --- Endings and lessons ---------------------------------------------------------------------------------------

    def record(self, ending: RunEnding) -> Recorded:
        """Write an ending with its lesson and a new version that shows it: all three or nothing.

        Writing the same ending again (same run, kind, attempt and judge or final, and slots) gives what was written
        first, as it was then. Raises SecondFinalEnding when the run ended otherwise before, RunHasEnded for an attempt
        after that, EndingRefused when the ending contradicts itself.
        """
        clean = slotted(ending, self._scrub)
        with writing(self._engine) as session:
            return recording.record(session, clean, self._author)

    def retract(self, scope: Scope, lesson: LessonId, at: datetime) -> MemoryVersion | None:
        """A new version without a lesson, for a person who takes it back; None where the newest one has no such lesson.

        A run that pinned an older version goes on as it was.
        """
        with writing(self._engine) as session:
            return retracting.retract(session, scope, lesson, at, self._author)

    def endings(self, scope: Scope, run: RunId) -> tuple[RecordedEnding, ...]:
        """The endings of a run in the order in which they were written."""
        with reading(self._engine) as session:
            return recording.endings(session, scope, slotted_run(run, self._scrub))

    def all_endings(self, scope: Scope) -> tuple[RecordedEnding, ...]:
        """Every ending of a repository, in the order in which they were written."""
        with reading(self._engine) as session:
            return recording.all_endings(session, scope)

    def lesson(self, scope: Scope, lesson: LessonId) -> Lesson | None:
        """A lesson as it is now; None when the repository has none of that id."""
        with reading(self._engine) as session:
            return lesson_table.live_lesson(session, scope, lesson, self._author)

    def lessons(self, scope: Scope, version: MemoryVersion | None = None) -> tuple[Lesson, ...]:
        """All lessons of a version (the newest one), newest first: expired and invalidated ones too."""
        with reading(self._engine) as session:
            return lesson_table.lessons(session, version or versions.current(session, scope), self._author)

    def foreign(self, scope: Scope) -> tuple[LessonId, ...]:
        """Lessons of the newest version that are not as this program wrote them, or that it wrote with another key."""
        with reading(self._engine) as session:
            return tuple(lesson_table.foreign_rows(session, versions.current(session, scope), self._author).values())

    def take_over(self, scope: Scope) -> int:
        """Sign lessons of the newest version that are not ours, as they stand; how many. A person looked at them."""
        with writing(self._engine) as session:
            rows = lesson_table.foreign_rows(session, versions.current(session, scope), self._author)
            self._author.sign(session, rows)
            return len(rows)

    def eligible_lessons(self, query: MemoryQuery, version: MemoryVersion) -> Eligible:
        """The first lessons that may go into a prompt, each with why: `same ticket` or `same signature KEY`.

        Raises ForeignVersion when query and version are of two repositories.
        """
        with reading(self._engine) as session:
            return lesson_table.eligible_lessons(session, query, version, self._scrub, self._author)

    def recompute(self, scope: Scope, at: datetime, seen: Seen, algorithm: str = ALGO) -> Recomputed | None:
        """Give lessons whose keys are of another algorithm those of this one, in a new version; None: nothing to do.

        `seen` is asked for what their runs saw, before any lock is taken.
        """
        with reading(self._engine) as session:
            stale = recomputing.stale(session, scope, algorithm, self._author)
        if not stale:
            return None
        found = recomputing.read(stale, seen)
        with writing(self._engine) as session:
            return recomputing.recompute(session, scope, algorithm, found, at, self._author)

    # --- Audit -----------------------------------------------------------------------------------------------------

    def audit(self, *injections: Injection) -> None:
        """Keep what prompts were given, each of them."""
        if not injections:
            return
        with writing(self._engine) as session:
            for injection in injections:
                audit.audit(session, injection, self._scrub)

    def injections(self, scope: Scope, run: RunId) -> tuple[Injection, ...]:
        """What a run's prompts were given, in order; ids, scores and reasons, without the lines."""
        with reading(self._engine) as session:
            return audit.injections(session, scope, slotted_run(run, self._scrub))
