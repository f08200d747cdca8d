"""What GitHub asks for, as values: the border between the webhooks and the engine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Final, TypeAlias

from bot.forge.types import Account, RepositoryRef


class JobKind(StrEnum):
    """What is to be done. The data that each kind carries stand beside it."""

    START = "start"  # Start: work on an issue
    STOP = "stop"  # Unlabelled or Command: end its run; of Unlabelled only when the label is still away
    REQUEUE = "requeue"  # Command: send it back with a note
    RETRY = "retry"  # Command: go on, whatever came between
    WHY = "why"  # Command: say what memory gave
    FORGET = "forget"  # Command: forget a lesson
    HELP = "help"  # Command: also where a command is not known
    REMARK = "remark"  # Remark: a person wrote on a labelled issue; an open run reads it, else nothing
    FOLLOW_UP = "follow-up"  # FollowUp: a review, a check or a deployment speaks against our patch
    VERIFY = "verify"  # Deployed: evidence dated after the merge may be there
    CHECKS = "checks"  # Unchecked: whether checks began on what we pushed
    CLOSED = "closed"  # Closed: an issue, or a pull request of ours, merged or not
    GONE = "gone"  # Gone: nothing can be done there any more


class StartCause(StrEnum):
    LABELLED = "labelled"
    OPENED = "opened"  # with the label already on it
    REOPENED = "reopened"
    SWEPT = "swept"  # found by the reconciler


class FollowUpReason(StrEnum):
    REVIEW = "review"
    CHECK = "check"
    DEPLOYMENT = "deployment"


class GoneCause(StrEnum):
    UNINSTALLED = "uninstalled"
    SUSPENDED = "suspended"
    REMOVED = "removed"  # the repository was taken out of the installation
    ARCHIVED = "archived"
    PRIVATISED = "privatised"
    REPOSITORY_DELETED = "repository deleted"
    REPOSITORY_TRANSFERRED = "repository transferred"
    TRANSFERRED = "transferred"  # the issue
    DELETED = "deleted"  # the issue


@dataclass(frozen=True, kw_only=True)
class Start:
    """The issue as the event showed it: what was edited later is not in it. All its text is foreign."""

    title: str
    body: str
    author: Account | None
    labels: tuple[str, ...]
    updated: datetime | None
    cause: StartCause


@dataclass(frozen=True, kw_only=True)
class Unlabelled:
    """Somebody took the label away."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A line `/ticketsmith NAME ARGUMENT` in a comment. On a pull request, `pull` is its number and the job's is 0.

    With `operator`, somebody gave it at the command line of this program, and `comment` is 0.
    """

    name: str
    argument: str
    comment: int
    pull: int | None = None
    operator: str = ""


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A comment without a command, on an issue that carries the label."""

    comment: int


@dataclass(frozen=True, kw_only=True)
class FollowUp:
    """`ref` is the id of the review, of the check run or suite, or of the deployment. `pull` may be unknown."""

    pull: int | None
    head: str
    reason: FollowUpReason
    ref: int
    environment: str = ""


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A deployment went well: `commit` runs in `environment`."""

    deployment: int
    commit: str
    environment: str


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """`head` is what was pushed last to the branch of the pull request."""

    pull: int
    head: str


@dataclass(frozen=True, kw_only=True)
class Closed:
    """An issue (`pull` is None) or a pull request of ours."""

    pull: int | None
    merged: bool
    merge_commit: str | None
    by: Account | None


@dataclass(frozen=True, kw_only=True)
class Gone:
    """Of an issue, when the job has a number; else of `repositories`; else of the whole installation."""

    cause: GoneCause
    repositories: tuple[int, ...] = ()


JobData: TypeAlias = Start | Unlabelled | Command | Remark | FollowUp | Deployed | Unchecked | Closed | Gone
DATA: Final[tuple[type[JobData], ...]] = (
    Start,
    Unlabelled,
    Command,
    Remark,
    FollowUp,
    Deployed,
    Unchecked,
    Closed,
    Gone,
)
INSTALLATION_WIDE: Final = 0  # a repository's number where a job is about all of them


class JobState(Enum):
    WAITING = "waiting"
    TAKEN = "taken"  # the engine has it
    DONE = "done"
    DEAD = "dead"  # given up, with the reason


@dataclass(frozen=True, kw_only=True)
class NewJob:
    """What an event asks for. Two events with one `subject` are one job.

    `number` is the issue's; 0 where only a pull request or a commit is known. `at` is when it was asked: the time that
    GitHub names, or that of its arrival.
    """

    kind: JobKind
    ref: RepositoryRef
    number: int
    subject: str
    actor: Account | None
    at: datetime
    data: JobData


@dataclass(frozen=True, kw_only=True)
class Job(NewJob):
    """A job as it is kept."""

    id: int
    delivery: str
    state: JobState = JobState.WAITING
    outcome: str = ""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What becomes of an event: a job, or nothing; and why. The reason holds no text of strangers.

    `renamed` is a repository that has another name now.
    """

    reason: str
    job: NewJob | None = None
    renamed: RepositoryRef | None = None


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One delivery as it arrived. `id` stays through redeliveries; `digest` is the SHA-256 of its bytes, which are not
    kept.
    """

    id: str
    event: str
    action: str
    digest: str
    received: datetime
    installation: int | None = None
    repository: int | None = None
    sender: int | None = None


class Added(Enum):
    """What became of a delivery."""

    STORED = "stored"  # and its job, when it has one
    JOINED = "joined"  # its job was there already, from another delivery
    REPEATED = "repeated"  # the delivery itself was there already
