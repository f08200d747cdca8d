"""JSON of GitHub → our values. What GitHub leaves out or names anew is no surprise in the middle of a run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from bot.forge.errors import Unreachable
from bot.forge.types import (
    GHOST,
    Account,
    AccountKind,
    CheckInfo,
    CommentInfo,
    Delivery,
    Installation,
    IssueInfo,
    LabelEvent,
    OpenOrClosed,
    Permission,
    PullInfo,
    RepositoryInfo,
    RepositoryRef,
    ReviewComment,
    ReviewInfo,
    ReviewState,
    Rule,
)

Value = TypeVar("Value")
Kind = TypeVar("Kind", bound=StrEnum)


def shaped(read: Callable[[Any], Value], data: Any) -> Value:
    """`read(data)`. Raises Unreachable where the answer has another shape, as one from a proxy."""
    try:
        return read(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreachable(said=f"an answer of another shape: {type(error).__name__}") from error


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def account(data: Any) -> Account:
    if not data:
        return GHOST
    kind = _one_of(AccountKind, data.get("type"), AccountKind.OTHER)
    return Account(id=int(data["id"]), login=str(data["login"]), kind=kind)


def repository(ref: RepositoryRef, data: Any, web: str) -> RepositoryInfo:
    """With the name that GitHub has for it now."""
    name = str(data["full_name"])
    return RepositoryInfo(
        ref=RepositoryRef(installation=ref.installation, id=int(data["id"]), full_name=name),
        default_branch=str(data["default_branch"]),
        private=bool(data["private"]),
        archived=bool(data["archived"]),
        has_issues=bool(data.get("has_issues", True)),
        clone_url=f"{web}/{name}.git",
    )


def issue(data: Any) -> IssueInfo:
    return IssueInfo(
        number=int(data["number"]),
        id=int(data["id"]),
        title=str(data["title"]),
        body=str(data.get("body") or ""),
        author=account(data["user"]),
        state=OpenOrClosed(data["state"]),
        locked=bool(data.get("locked")),
        labels=tuple(one if isinstance(one, str) else str(one["name"]) for one in data["labels"]),
        updated=moment(data["updated_at"]),
        is_pull=bool(data.get("pull_request")),
    )


def comment(data: Any) -> CommentInfo:
    return CommentInfo(
        id=int(data["id"]),
        author=account(data["user"]),
        body=str(data.get("body") or ""),
        created=moment(data["created_at"]),
        updated=moment(data["updated_at"]),
        url=str(data.get("html_url") or ""),
    )


def label_event(data: Any) -> LabelEvent:
    return LabelEvent(
        label=str(data["label"]["name"]),
        actor=account(data["actor"]),
        at=moment(data["created_at"]),
        added=data["event"] == "labeled",
    )


def permission(data: Any) -> Permission:
    """By the name of the role: `permission` itself knows neither maintain nor triage."""
    role = data.get("role_name") or data.get("user", {}).get("role_name") or data["permission"]
    return _one_of(Permission, role, Permission.NONE)


def pull(data: Any, closed_by: Account | None = None) -> PullInfo:
    head, merged = data["head"], bool(data.get("merged_at"))
    return PullInfo(
        number=int(data["number"]),
        id=int(data["id"]),
        state=OpenOrClosed(data["state"]),
        merged=merged,
        merge_commit=data.get("merge_commit_sha") if merged else None,
        head_ref=str(head["ref"]),
        head_sha=str(head["sha"]),
        head_repository_id=int(head["repo"]["id"]) if head.get("repo") else None,
        base_ref=str(data["base"]["ref"]),
        draft=bool(data.get("draft")),
        title=str(data["title"]),
        body=str(data.get("body") or ""),
        author=account(data["user"]),
        closed_by=closed_by,
        url=str(data.get("html_url") or ""),
    )


def review(data: Any, remarks: list[Any]) -> ReviewInfo:
    number = int(data["id"])
    return ReviewInfo(
        id=number,
        author=account(data["user"]),
        state=_one_of(ReviewState, data["state"], ReviewState.COMMENTED),
        body=str(data.get("body") or ""),
        submitted=moment(data["submitted_at"]) if data.get("submitted_at") else None,
        commit=str(data.get("commit_id") or ""),
        comments=tuple(_remark(one) for one in remarks if one.get("pull_request_review_id") == number),
    )


def _remark(data: Any) -> ReviewComment:
    line = data.get("line")
    return ReviewComment(path=str(data["path"]), line=int(line) if line else None, body=str(data["body"]))


def check(data: Any) -> CheckInfo:
    return CheckInfo(
        id=int(data["id"]),
        name=str(data["name"]),
        app_id=int(data["app"]["id"]) if data.get("app") else None,
        status=str(data["status"]),
        conclusion=data.get("conclusion"),
        head_sha=str(data["head_sha"]),
        completed=moment(data["completed_at"]) if data.get("completed_at") else None,
        url=str(data.get("html_url") or ""),
    )


def rule(data: Any) -> Rule:
    parameters = data.get("parameters") or {}
    wanted = ", ".join(f"{name}={value}" for name, value in sorted(parameters.items()) if value not in (None, [], ""))
    return Rule(kind=str(data["type"]), detail=wanted[:300])


def installation(data: Any) -> Installation:
    return Installation(
        id=int(data["id"]),
        account=account(data["account"]),
        suspended=bool(data.get("suspended_at")),
        permissions=dict(data.get("permissions") or {}),
        events=tuple(data.get("events") or ()),
        repositories=str(data.get("repository_selection") or "all"),
    )


def delivery(data: Any) -> Delivery:
    return Delivery(
        id=int(data["id"]),
        guid=str(data["guid"]),
        at=moment(data["delivered_at"]),
        status_code=int(data.get("status_code") or 0),
        event=str(data["event"]),
        action=str(data.get("action") or ""),
        redelivery=bool(data.get("redelivery")),
        installation=data.get("installation_id"),
        repository_id=data.get("repository_id"),
    )


def _one_of(kind: type[Kind], value: object, other: Kind) -> Kind:
    try:
        return kind(str(value))
    except ValueError:
        return other
