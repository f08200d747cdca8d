"""What is read of GitHub's payloads, checked field by field; everything else in them is left alone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from bot.forge.types import Account, AccountKind, RepositoryRef

# A number that every table holds; a name as GitHub makes them; text that no table or log can be hurt by is cut later.
Number = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Login = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9_.\[\]-]{1,100}$")]
FullName = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$")]
Sha = Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")]
Word = Annotated[str, Field(strict=True, max_length=100)]
Text = Annotated[str, Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]

_KINDS: Final = {kind.value: kind for kind in AccountKind}
TITLE_AT_MOST: Final = 1_024  # characters; GitHub itself allows 256
BODY_AT_MOST: Final = 65_536  # characters: GitHub's own limit


class Part(BaseModel):
    """A part of a payload."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class AccountPart(Part):
    id: Number
    login: Login
    type: Word = "User"

    def account(self) -> Account:
        return Account(id=self.id, login=self.login, kind=_KINDS.get(self.type, AccountKind.OTHER))


class Numbered(Part):
    id: Number


class RepositoryPart(Part):
    id: Number
    full_name: FullName

    def ref(self, installation: int) -> RepositoryRef:
        return RepositoryRef(installation=installation, id=self.id, full_name=self.full_name)


class LabelPart(Part):
    name: Word


class IssuePart(Part):
    number: Annotated[Number, Field(gt=0)]
    title: Text
    body: Text | None = None
    user: AccountPart | None = None
    labels: tuple[LabelPart, ...] = ()
    state: Word = "open"
    updated_at: datetime | None = None
    closed_at: datetime | None = None
    pull_request: dict[str, object] | None = None

    def has(self, label: str) -> bool:
        return any(same_label(one.name, label) for one in self.labels)


class CommentPart(Part):
    id: Number
    body: Text | None = None
    user: AccountPart | None = None
    created_at: datetime
    performed_via_github_app: Numbered | None = None


class HeadRepository(Part):
    id: Number


class Head(Part):
    ref: Annotated[str, Field(strict=True, max_length=300)]
    sha: Sha
    repo: HeadRepository | None = None


class PullPart(Part):
    number: Annotated[Number, Field(gt=0)]
    head: Head
    merged: Flag | None = None
    merge_commit_sha: Sha | None = None
    closed_at: datetime | None = None


class ReviewPart(Part):
    id: Number
    state: Word
    user: AccountPart | None = None
    submitted_at: datetime | None = None


class PullNumber(Part):
    number: Annotated[Number, Field(gt=0)]


class SuitePart(Part):
    id: Number
    head_branch: Annotated[str, Field(strict=True, max_length=300)] | None = None
    head_sha: Sha
    conclusion: Word | None = None
    app: Numbered | None = None
    pull_requests: tuple[PullNumber, ...] = ()
    updated_at: datetime | None = None


class CheckPart(Part):
    id: Number
    head_sha: Sha
    conclusion: Word | None = None
    app: Numbered | None = None
    check_suite: SuitePart | None = None
    pull_requests: tuple[PullNumber, ...] = ()
    completed_at: datetime | None = None


class DeploymentPart(Part):
    id: Number
    sha: Sha
    ref: Annotated[str, Field(strict=True, max_length=300)] = ""
    environment: Annotated[str, Field(strict=True, max_length=255)] = ""


class DeploymentStatusPart(Part):
    state: Word
    created_at: datetime | None = None


class InstallationPart(Part):
    id: Number
    app_id: Number | None = None


def same_label(one: str, other: str) -> bool:
    """GitHub knows a label whatever its capital letters are."""
    return one.casefold() == other.casefold()
