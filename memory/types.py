"""The frozen values of memory: what it is told, what it keeps, and what it has to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from memory.ending import (
    Drop,
    DropCause,
    Edit,
    Ending,
    EndingKind,
    Evidence,
    Hold,
    HoldCause,
    NotOurs,
    NotOursCause,
    PassAfterHold,
    PathAt,
    Refix,
    RunEnding,
    Verify,
    VerifyOutcome,
    Where,
)
from memory.errors import MissingContext
from memory.scope import (
    CheckId,
    CommitId,
    EndingId,
    ErrorSignature,
    LessonId,
    RepositoryId,
    RunId,
    Scope,
    TicketId,
)

__all__ = [
    "Block",
    "CheckId",
    "Chunk",
    "CommitId",
    "Drop",
    "DropCause",
    "Edit",
    "Eligible",
    "Ending",
    "EndingId",
    "EndingKind",
    "ErrorSignature",
    "Evidence",
    "Hold",
    "HoldCause",
    "Injection",
    "LeftOut",
    "Lesson",
    "LessonId",
    "LessonStatus",
    "MemoryContext",
    "MemoryQuery",
    "MemoryVersion",
    "NotOurs",
    "NotOursCause",
    "NoteFile",
    "PassAfterHold",
    "PathAt",
    "Record",
    "Refix",
    "RepositoryId",
    "RunEnding",
    "RunId",
    "Scope",
    "Sources",
    "TicketId",
    "Verify",
    "VerifyOutcome",
    "Where",
    "take_seal",
]

# --- Lessons -------------------------------------------------------------------------------------------------------


class LessonStatus(StrEnum):
    VALIDATED = "validated"
    PENDING = "pending"
    INVALIDATED = "invalidated"


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One row that code wrote from an ending; everything in it is a typed slot.

    `maintainer` is the one exception, and empty until people can attach their line.
    """

    id: LessonId
    scope: Scope
    ending: Ending
    status: LessonStatus
    run: RunId
    ticket: TicketId
    commit: CommitId
    signatures: tuple[ErrorSignature, ...]
    environment: str = ""
    paths: tuple[PathAt, ...] = ()
    maintainer: str = ""  # one line that a person with write permission attached
    supersedes: LessonId | None = None
    count: int = 1
    first_seen: datetime
    last_seen: datetime
    expires: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Eligible:
    """The first lessons that a query may see, in their order, each with why; and how many there are.

    `foreign` are those among them that this program did not write as they stand; they do not count.
    """

    lessons: tuple[tuple[Lesson, str], ...] = ()
    count: int = 0
    foreign: tuple[LessonId, ...] = ()


# --- Notes and versions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NoteFile:
    """A markdown file that people wrote, as it stands at a commit. `path` is relative to its notes folder."""

    path: str
    text: str
    changed: str = ""  # ISO date of its last change, "" when unknown
    shared: bool = False  # from a folder of the installation, not from the repository


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A part of a note that can be shown on its own: at most 900 characters, already folded."""

    note: str  # path of the note
    anchor: str  # slug of the heading, "" for the head of the file
    ordinal: int
    heading: str  # heading path, title first
    text: str
    changed: str = ""
    scope: Mapping[str, str] = field(default_factory=dict)  # environment: from the front matter


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What people wrote for memory, as it stands on the default branch."""

    commit: CommitId
    notes: tuple[NoteFile, ...] = ()
    tuning: str = ""
    state: str = ""  # what changes whenever notes or tuning do: they need not be read to know; "" when unknown


@dataclass(frozen=True, kw_only=True)
class MemoryVersion:
    """An immutable published state of a repository's memory. Number 0 is the empty one."""

    scope: Scope
    number: int
    digest: str  # of its live notes; names the index
    commit: CommitId | None = None  # where notes and tuning were read


# --- Recall --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MemoryQuery:
    """What a stage is about to ask a model for: what recall looks for."""

    scope: Scope
    ticket: TicketId
    entry_point: str
    title: str
    headline: str = ""  # of the alert; stands in for the title where there is one
    body: str = ""  # of the ticket, as it came: only the calibrated rule looks at its words
    signatures: tuple[ErrorSignature, ...] = ()
    environment: str = ""
    rule: str = "auto"  # by which notes are judged, as the repository wants it
    at: datetime  # when the run began: what has expired by then is not shown


@dataclass(frozen=True, kw_only=True)
class Record:
    """One thing shown in a block: its lines, without prefixes."""

    id: str
    lines: tuple[str, ...]
    score: float | None = None
    why: str = ""

    @property
    def size(self) -> int:
        """Characters, one for each line break included."""
        return sum(len(line) + 1 for line in self.lines)


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A candidate that was not shown."""

    id: str
    why: str
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class Block:
    """One block of the context section: what is shown, and how many were eligible before the budget."""

    shown: tuple[Record, ...] = ()
    eligible: int = 0
    left_out: tuple[LeftOut, ...] = ()


class _Seal:
    """Proof that a context came from recall."""


_THE_SEAL: Final = _Seal()
_taken = False


def take_seal() -> object:
    """Give the one seal to the first caller, which is `memory.recall`; everybody else is refused."""
    global _taken
    if _taken:
        raise MissingContext(what="a second holder of the seal")
    _taken = True
    return _THE_SEAL


@dataclass(frozen=True, kw_only=True)
class MemoryContext:
    """What memory has to say for one call of one entry point. Only recall can make one."""

    seal: InitVar[object]
    version: MemoryVersion
    entry_point: str
    tuning: Block
    lessons: Block
    notes: Block
    rule: str  # per_word | coverage | calibrated
    searched: int  # notes in the index
    looked_for: tuple[str, ...] = ()  # the words that notes were searched with

    def __post_init__(self, seal: object) -> None:
        if seal is not _THE_SEAL:
            raise MissingContext(what="a memory context")
        object.__setattr__(self, "_sealed", True)

    @property
    def sealed(self) -> bool:
        """True for every context that recall made, and for nothing else."""
        return getattr(self, "_sealed", False)


@dataclass(frozen=True, kw_only=True)
class Injection:
    """One row of the injection audit: what went into one prompt, and what was left out and why."""

    scope: Scope
    run: RunId
    entry_point: str
    prompt_hash: str
    version: int
    rule: str
    shown: tuple[Record, ...]
    left_out: tuple[LeftOut, ...]
    looked_for: tuple[str, ...] = ()  # the words that notes were searched with
    at: datetime
