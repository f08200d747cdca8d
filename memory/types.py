"""The frozen values of memory: endings, lessons, notes, signatures, queries and contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NewType, TypeAlias

from memory.errors import MissingContext

RepositoryId = NewType("RepositoryId", str)
"""What identifies a repository: the same for its clones and work trees, never shared by two repositories."""
RunId = NewType("RunId", str)
TicketId = NewType("TicketId", str)
CommitId = NewType("CommitId", str)
CheckId = NewType("CheckId", str)
"""A check, or one test of a check: `pytest` or `tests/test_cart.py::test_empty`."""
LessonId = NewType("LessonId", str)
EndingId = NewType("EndingId", str)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Whose memory this is; a parameter of every read."""

    installation: str
    repository: RepositoryId


@dataclass(frozen=True, kw_only=True)
class ErrorSignature:
    """What makes two failures the same; computed by code from a text."""

    kind: str  # trace | test | compiler | sql | http | k8s | message | log
    language: str
    type: str
    template: str
    discriminators: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    keys: Mapping[str, str]  # level (x, f, c, t) -> "es1:f:<20 hex digits>"
    canon: Mapping[str, str] = field(default_factory=dict)  # level -> the canonical JSON that was hashed
    span: tuple[int, int] = (0, 0)  # where in the cleaned text it was found


# --- Endings -------------------------------------------------------------------------------------------------------


class EndingKind(StrEnum):
    HOLD = "hold"
    REFIX = "refix"
    PASS_AFTER_HOLD = "pass-after-hold"  # noqa: S105 - no password
    DROP = "drop"
    VERIFY = "verify"
    NOT_OURS = "not-ours"


class Where(StrEnum):
    """Which judge held an attempt."""

    GATE = "gate"
    CI = "ci"
    REVIEW = "review"
    STAGING = "staging"


class HoldCause(StrEnum):
    CHECK = "check"
    TESTS_WEAKENED = "tests-weakened"
    TOO_BIG = "too-big"
    PROTECTED = "protected"
    LEAK = "leak"
    FINDING = "finding"


class DropCause(StrEnum):
    NOT_REPRODUCIBLE = "not-reproducible"
    BUDGET = "budget"
    EMPTY_PATCH = "empty-patch"
    MODEL_FORMAT = "model-format"
    STOPPED = "stopped"
    CLOSED_BY_HUMAN = "closed-by-human"
    MOVED = "moved"
    DELETED = "deleted"
    SUPERSEDED = "superseded"


class VerifyOutcome(StrEnum):
    WORKED = "worked"
    RECURRED = "recurred"
    UNVERIFIED = "unverified"


class NotOursCause(StrEnum):
    NO_FRAME_HERE = "no-frame-here"
    ALREADY_FIXED = "already-fixed"
    DUPLICATE = "duplicate"
    NOT_A_BUG = "not-a-bug"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One hunk of a patch: where it stands at the base, and the digest of its removed and added lines.

    The digest is the first 12 hex digits of SHA-256 over those lines, sign kept, trailing blanks cut.
    """

    path: str
    line: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Hold:
    """An attempt was refused."""

    where: Where
    cause: HoldCause
    attempt: int
    failing: tuple[CheckId, ...] = ()
    exit_status: int | None = None
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refix:
    """An attempt that follows a hold is complete."""

    attempt: int
    edits: tuple[Edit, ...]  # those that the held patch did not have
    now_passing: tuple[CheckId, ...] = ()
    still_failing: tuple[CheckId, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PassAfterHold:
    """The gate passed after at least one hold."""

    attempt: int
    answers: tuple[LessonId, ...]  # the holds it answers
    edits: tuple[Edit, ...]


@dataclass(frozen=True, kw_only=True)
class Drop:
    """The run was given up."""

    cause: DropCause


@dataclass(frozen=True, kw_only=True)
class Verify:
    """Evidence dated after the fix arrived is in."""

    outcome: VerifyOutcome
    edits: tuple[Edit, ...] = ()
    checks: tuple[CheckId, ...] = ()
    commit: CommitId | None = None  # where it was verified


@dataclass(frozen=True, kw_only=True)
class NotOurs:
    """The ticket is not for this repository, or needs no change."""

    cause: NotOursCause
    proof: tuple[CheckId, ...] = ()  # the checks that were run and passed; empty for no-frame-here


Ending: TypeAlias = Hold | Refix | PassAfterHold | Drop | Verify | NotOurs


class Evidence(StrEnum):
    """What an ending rests on."""

    EXIT_STATUS = "exit-status"
    CI = "ci"
    MAINTAINER = "maintainer"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class PathAt:
    """A file as it stood at the base commit."""

    path: str
    blob: str


@dataclass(frozen=True, kw_only=True)
class RunEnding:
    """How an attempt or a run ended; a value, written once.

    A final ending closes its run. A final `Hold` names the ending that it refers to and teaches nothing of its own.
    """

    scope: Scope
    run: RunId
    ticket: TicketId
    author: str  # who opened the ticket; "" when unknown
    ending: Ending
    final: bool
    commit: CommitId  # the base commit of the run
    at: datetime
    evidence: Evidence
    environment: str = ""
    signatures: tuple[ErrorSignature, ...] = ()  # of the alert, and of the red reproduction's output
    paths: tuple[PathAt, ...] = ()
    refers_to: EndingId | None = None


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
    """The first lessons that a query may see, in their order, each with why; and how many there are."""

    lessons: tuple[tuple[Lesson, str], ...] = ()
    count: int = 0


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
    at: datetime
