"""How an attempt or a run ended: values that are written once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from memory.scope import CheckId, CommitId, EndingId, ErrorSignature, LessonId, RunId, Scope, TicketId


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
