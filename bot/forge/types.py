"""What GitHub tells us, as frozen values. All text in them is foreign, and all times are UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, kw_only=True)
class RepositoryRef:
    """What each call to GitHub takes. `id` is GitHub's number, which survives renames; `full_name` is `owner/name`."""

    installation: int
    id: int
    full_name: str


@dataclass(frozen=True, kw_only=True)
class RepositoryInfo:
    """`clone_url` is made by code from the base address and the name, and holds no credential."""

    ref: RepositoryRef
    default_branch: str
    private: bool
    archived: bool
    has_issues: bool
    clone_url: str


class AccountKind(StrEnum):
    USER = "User"
    BOT = "Bot"
    ORGANIZATION = "Organization"
    OTHER = "Other"  # GitHub has more of them, such as mannequins


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who did something. Accounts are told apart by `id`, never by name; a deleted one is `GHOST`."""

    id: int
    login: str
    kind: AccountKind


GHOST: Final = Account(id=10137, login="ghost", kind=AccountKind.USER)
"""What GitHub shows in place of a deleted account."""


class Permission(StrEnum):
    """What an account may do in a repository, by the name of its role; a role of an organisation's own is NONE."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    @property
    def writes(self) -> bool:
        """True for those who may push."""
        return self in (Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN)

    @property
    def triages(self) -> bool:
        """True for those who may set labels: they are told why when their wish is refused."""
        return self.writes or self is Permission.TRIAGE


class OpenOrClosed(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, kw_only=True)
class IssueInfo:
    """`updated` does not change when a label is set. GitHub's pull requests are issues too: `is_pull`."""

    number: int
    id: int
    title: str
    body: str
    author: Account
    state: OpenOrClosed
    locked: bool
    labels: tuple[str, ...]
    updated: datetime
    is_pull: bool


@dataclass(frozen=True, kw_only=True)
class CommentInfo:
    id: int
    author: Account
    body: str
    created: datetime
    updated: datetime
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Comments:
    """The newest comments of an issue, oldest first, and how many older ones were left out."""

    comments: tuple[CommentInfo, ...]
    cut: int = 0


@dataclass(frozen=True, kw_only=True)
class LabelEvent:
    """A label was added, or taken away."""

    label: str
    actor: Account
    at: datetime
    added: bool


@dataclass(frozen=True, kw_only=True)
class PullInfo:
    """`head_repository_id` is None when the fork that it came from is gone; `closed_by` None while it is open.

    `merge_commit` is what the base branch got, None unless `merged`.
    """

    number: int
    id: int
    state: OpenOrClosed
    merged: bool
    merge_commit: str | None
    head_ref: str
    head_sha: str
    head_repository_id: int | None
    base_ref: str
    draft: bool
    title: str
    body: str
    author: Account
    closed_by: Account | None
    url: str = ""


class ReviewState(StrEnum):
    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    COMMENTED = "COMMENTED"
    DISMISSED = "DISMISSED"
    PENDING = "PENDING"


@dataclass(frozen=True, kw_only=True)
class ReviewComment:
    """`line` is None where the line is no longer in the diff, or the remark is about the whole file."""

    path: str
    line: int | None
    body: str


@dataclass(frozen=True, kw_only=True)
class ReviewInfo:
    id: int
    author: Account
    state: ReviewState
    body: str
    submitted: datetime | None
    commit: str
    comments: tuple[ReviewComment, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckInfo:
    """A check run. `status` is `completed` when it is over, and only then has it a `conclusion`."""

    id: int
    name: str
    app_id: int | None
    status: str
    conclusion: str | None
    head_sha: str
    completed: datetime | None
    url: str = ""

    @property
    def failed(self) -> bool:
        """True for a conclusion that makes a required check red."""
        return self.conclusion in ("failure", "timed_out", "action_required", "startup_failure")


@dataclass(frozen=True, kw_only=True)
class DeploymentInfo:
    """A deployment with its newest state (`success`, `failure`, `error`, `pending`, …) and when it reached it."""

    id: int
    sha: str
    environment: str
    state: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What rulesets or branch protection demand of a branch: the kind of the rule, and what it asks for."""

    kind: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Installation:
    """Where the App is installed. `repositories` is `all` or `selected`."""

    id: int
    account: Account
    suspended: bool
    permissions: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    repositories: str = "all"


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A webhook that GitHub sent. `id` names one sending, `guid` stays through redeliveries."""

    id: int
    guid: str
    at: datetime
    status_code: int
    event: str
    action: str
    redelivery: bool
    installation: int | None
    repository_id: int | None

    @property
    def failed(self) -> bool:
        return not 200 <= self.status_code < 300


@dataclass(frozen=True, kw_only=True)
class AppInfo:
    """The App as GitHub knows it. `bot` is the account that its comments and commits show."""

    id: int
    slug: str
    name: str
    bot: Account
    permissions: Mapping[str, str]
    events: tuple[str, ...]
