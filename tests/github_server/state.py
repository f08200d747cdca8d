"""What our GitHub knows: plain values that its handlers read and change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.github_server.bare import Bare

APP_ID: Final = 4242
BOT_ID: Final = 99_000_001
ACTIONS_APP_ID: Final = 15_368
ACTIONS_BOT_ID: Final = 41_898_282
FIRST_ID: Final = 1_000
TOKEN_LIFE: Final = timedelta(hours=1)
READS: Final = {"metadata": "read", "issues": "read", "pull_requests": "read", "contents": "read", "checks": "read"}
PERMISSIONS: Final = {
    "metadata": "read",
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "write",
    "deployments": "read",
}


@dataclass(eq=False)
class Person:
    id: int
    login: str
    type: str = "User"


@dataclass
class Comment:
    id: int
    author: Person
    body: str
    created: datetime
    updated: datetime
    app: bool = False


@dataclass
class LabelChange:
    id: int
    label: str
    actor: Person
    at: datetime
    added: bool


@dataclass
class Review:
    id: int
    author: Person
    state: str
    body: str
    at: datetime
    commit: str
    remarks: list[tuple[int, str, int | None, str]] = field(default_factory=list)  # id, path, line, body


@dataclass
class Pull:
    """`head_sha` is what the branch had when it was last looked at; it stays when the branch is deleted."""

    head: str
    base: str
    head_repository: int | None
    head_sha: str
    draft: bool = False
    merged: bool = False
    merge_commit: str | None = None
    merged_by: Person | None = None
    merged_at: datetime | None = None
    reviews: list[Review] = field(default_factory=list)


@dataclass
class Issue:
    number: int
    id: int
    title: str
    body: str
    author: Person
    created: datetime
    updated: datetime
    state: str = "open"
    locked: bool = False
    deleted: bool = False
    edited: datetime | None = None
    closed_by: Person | None = None
    closed_at: datetime | None = None
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    changes: list[LabelChange] = field(default_factory=list)
    pull: Pull | None = None
    moved_to: tuple[int, int] | None = None  # repository and number, when it was transferred


@dataclass
class Check:
    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    app: int
    external_id: str
    started: datetime
    completed: datetime | None
    output: dict[str, Any] = field(default_factory=dict)


@dataclass
class Deployment:
    id: int
    sha: str
    environment: str
    at: datetime
    states: list[tuple[int, str, datetime]] = field(default_factory=list)


@dataclass
class Repository:
    id: int
    owner: Person
    name: str
    git: Bare
    private: bool = False
    archived: bool = False
    has_issues: bool = True
    deleted: bool = False
    default_branch: str = "main"
    issues: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)  # name -> colour
    checks: dict[int, Check] = field(default_factory=dict)
    deployments: dict[int, Deployment] = field(default_factory=dict)
    roles: dict[int, str] = field(default_factory=dict)  # account -> role
    rules: list[dict[str, Any]] = field(default_factory=list)  # as `GET rules/branches/B` answers
    refuses_commits: str = ""  # what GitHub says to commits by its API
    protection: dict[str, dict[str, Any]] = field(default_factory=dict)  # branch -> protection of that branch

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def next_number(self) -> int:
        return max(self.issues, default=0) + 1


@dataclass
class Installation:
    """`repositories` is None for all of them."""

    id: int
    account: Person
    permissions: dict[str, str]
    repositories: set[int] | None = None
    suspended: bool = False
    removed: bool = False


@dataclass
class Token:
    """What a credential may do, and in whose name."""

    value: str
    actor: Person
    app: int | None
    installation: int
    repositories: set[int] | None
    permissions: dict[str, str]
    expires: datetime


@dataclass
class Delivery:
    id: int
    guid: str
    event: str
    action: str | None
    payload: dict[str, Any]
    at: datetime
    status_code: int
    redelivery: bool
    installation: int | None
    repository: int | None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class State:
    """Everything; it can be pickled. `now` may be set to any clock; it is GitHub's own, apart from the program's."""

    folder: Path
    slug: str = "ticketsmith-test"
    now: Callable[[], datetime] = _utc_now
    app_public_key: str = ""
    app_permissions: dict[str, str] = field(default_factory=lambda: dict(PERMISSIONS))
    app_events: list[str] = field(default_factory=lambda: ["issues", "issue_comment", "pull_request"])
    people: dict[int, Person] = field(default_factory=dict)
    repositories: dict[int, Repository] = field(default_factory=dict)
    former_names: dict[str, int] = field(default_factory=dict)  # full name -> repository
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    manifests: dict[str, dict[str, Any]] = field(default_factory=dict)  # code -> what the conversion answers
    ids: int = FIRST_ID  # the next one

    def __post_init__(self) -> None:
        self.bot = self.add_person(f"{self.slug}[bot]", "Bot", BOT_ID)
        self.actions_bot = self.add_person("github-actions[bot]", "Bot", ACTIONS_BOT_ID)

    def new_id(self) -> int:
        self.ids += 1
        return self.ids - 1

    def add_person(self, login: str, kind: str = "User", number: int | None = None) -> Person:
        person = Person(number or self.new_id(), login, kind)
        self.people[person.id] = person
        return person

    def person(self, login: str) -> Person | None:
        return next((one for one in self.people.values() if one.login.lower() == login.lower()), None)

    def repository(self, full_name: str) -> Repository | None:
        found = (one for one in self.repositories.values() if one.full_name.lower() == full_name.lower())
        return next((one for one in found if not one.deleted), None)

    def installation_of(self, repository: Repository) -> Installation | None:
        for one in self.installations.values():
            if not one.removed and (one.repositories is None or repository.id in one.repositories):
                return one
        return None
