"""What goes out, and what came of it, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NewType

from memory.types import CommitId

CommentId = NewType("CommentId", int)
CheckRunId = NewType("CheckRunId", int)

ANNOTATIONS_AT_MOST: Final = 50  # of one request (GitHub's REST reference, "Create a check run")


class OwnLabel(StrEnum):
    """The labels that only the bot sets; an issue has at most one of them."""

    WORKING = "ticketsmith:working"
    HELD = "ticketsmith:held"
    PR = "ticketsmith:pr"
    DROPPED = "ticketsmith:dropped"


@dataclass(frozen=True, kw_only=True)
class Pushed:
    """The branch holds the commit: read back. `adopted` when it was there already.

    `signed`: a rule wants signatures, so GitHub made the commit of the same changes; it has another id than ours.
    """

    branch: str
    commit: CommitId
    adopted: bool = False
    signed: bool = False


@dataclass(frozen=True, kw_only=True)
class ForeignCommits:
    """Somebody else has pushed: the branch is at `found` where we expected `expected` (None: no branch)."""

    branch: str
    expected: CommitId | None
    found: CommitId | None


@dataclass(frozen=True, kw_only=True)
class RuleRefused:
    """A rule of the repository refuses the push; `said` is GitHub's own text, cleaned. Never tried again."""

    branch: str
    said: str


PushResult = Pushed | ForeignCommits | RuleRefused


class CheckStatus(StrEnum):
    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Conclusion(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    ACTION_REQUIRED = "action_required"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a pull request is to be. `issue` is the one that its text may close; `draft` counts when it is made.

    What is `there` already is brought up to date, and never made.
    """

    branch: str
    base: str
    title: str
    body: str
    issue: int
    draft: bool
    there: bool = False


class AnnotationLevel(StrEnum):
    NOTICE = "notice"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A remark at a line of a file, in a check run."""

    path: str
    line: int
    level: AnnotationLevel
    message: str


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """What a check run shows. Of many annotations the first fifty are shown."""

    status: CheckStatus
    conclusion: Conclusion | None
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()
    issue: int = 0
