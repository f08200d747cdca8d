"""Issues, their comments and labels."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from tests.github_server import acts
from tests.github_server.openapi import filled
from tests.github_server.routing import READ, WRITE, Refuse, Reply, Request, Routes, page
from tests.github_server.state import Comment, Issue

BODY_AT_MOST: Final = 65_536  # characters
_READ: Final = (("issues", READ), ("pull_requests", READ))
_WRITE: Final = (("issues", WRITE), ("pull_requests", WRITE))
_HERE: Final = "/repos/{owner}/{repo}"
_ISSUE: Final = _HERE + "/issues/{issue_number}"


def register(routes: Routes) -> None:
    routes(f"GET {_HERE}/issues", *_READ)(_list)
    routes(f"GET {_HERE}/issues/comments/{{comment_id}}", *_READ)(_comment)
    routes(f"PATCH {_HERE}/issues/comments/{{comment_id}}", *_WRITE)(_edit_comment)
    routes(f"POST {_HERE}/issues/comments/{{comment_id}}/reactions", *_WRITE)(_react)
    routes(f"GET {_ISSUE}", *_READ)(lambda request: Reply(200, _issue_json(request)))
    routes(f"GET {_ISSUE}/comments", *_READ)(_comments)
    routes(f"POST {_ISSUE}/comments", *_WRITE)(_add_comment)
    routes(f"GET {_ISSUE}/events", *_READ)(_events)
    routes(f"GET {_ISSUE}/labels", *_READ)(_labels)
    routes(f"POST {_ISSUE}/labels", *_WRITE)(_add_labels)
    routes(f"DELETE {_ISSUE}/labels/{{name}}", *_WRITE)(_remove_label)
    routes(f"POST {_HERE}/labels", *_WRITE)(_make_label)
    routes(f"GET {_HERE}/labels/{{name}}", *_READ)(_label)


def issue_of(request: Request, name: str = "issue_number") -> Issue:
    """The issue of a request; what was deleted, moved or never there is told as GitHub does."""
    repository = request.repository
    issue = repository.issues.get(request.number(name))
    if issue is None:
        raise Refuse(404, "Not Found")
    if issue.moved_to:
        where = f"{request.shapes.api}/repositories/{issue.moved_to[0]}/issues/{issue.moved_to[1]}"
        raise Refuse(301, "Moved Permanently", {"location": where}, url=where)
    if issue.deleted:
        raise Refuse(410, "This issue was deleted")
    if not repository.has_issues and issue.pull is None:
        raise Refuse(410, "Issues has been disabled in this repository.")
    return issue


def _issue_json(request: Request) -> dict[str, Any]:
    return request.shapes.issue(request.repository, issue_of(request))


def _list(request: Request) -> Reply:
    query = request.query
    wanted = {unquote(name) for name in query.get("labels", "").split(",") if name}
    state = query.get("state", "open")
    kept = [
        issue
        for issue in sorted(request.repository.issues.values(), key=lambda one: -one.number)
        if not issue.deleted and not issue.moved_to and state in ("all", issue.state) and wanted <= set(issue.labels)
    ]
    return page(request, [request.shapes.issue(request.repository, issue) for issue in kept])


def _find_comment(request: Request) -> tuple[Issue, Comment]:
    for issue in request.repository.issues.values():
        for comment in issue.comments:
            if comment.id == request.number("comment_id") and not issue.deleted:
                return issue, comment
    raise Refuse(404, "Not Found")


def _comment(request: Request) -> Reply:
    return Reply(200, request.shapes.comment(request.repository, *_find_comment(request)))


def _edit_comment(request: Request) -> Reply:
    issue, comment = _find_comment(request)
    _check_length(request.body["body"])
    if request.token and comment.author.id != request.token.actor.id and request.token.app:
        raise Refuse(403, "Resource not accessible by integration")
    acts.edit_comment(
        request.state, request.emit, request.repository, issue, comment, request.body["body"], request.actor
    )
    return Reply(200, request.shapes.comment(request.repository, issue, comment))


def _react(request: Request) -> Reply:
    _find_comment(request)
    shown = filled("reaction", id=request.state.new_id(), content=request.body["content"],
                   user=request.shapes.person(request.actor), created_at="2026-01-01T00:00:00Z")  # fmt: skip
    return Reply(201, shown)


def _comments(request: Request) -> Reply:
    issue = issue_of(request)
    return page(request, [request.shapes.comment(request.repository, issue, one) for one in issue.comments])


def _add_comment(request: Request) -> Reply:
    issue = issue_of(request)
    if issue.locked and request.token and request.token.app:
        raise Refuse(403, "Unable to create comment because issue is locked.")
    _check_length(request.body["body"])
    comment = acts.comment(request.state, request.emit, request.repository, issue, request.body["body"], request.actor)
    comment.app = bool(request.token and request.token.app)
    return Reply(201, request.shapes.comment(request.repository, issue, comment))


def _check_length(body: str) -> None:
    if len(body) > BODY_AT_MOST:
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data",
                 "message": "Body is too long (maximum is 65536 characters)"}  # fmt: skip
        raise Refuse(422, "Validation Failed", errors=[error])


def _events(request: Request) -> Reply:
    issue = issue_of(request)
    return page(request, [request.shapes.label_change(request.repository, one) for one in issue.changes])


def _label_list(request: Request, issue: Issue) -> list[Any]:
    return [request.shapes.label(request.repository, name) for name in issue.labels]


def _labels(request: Request) -> Reply:
    return page(request, _label_list(request, issue_of(request)))


def _add_labels(request: Request) -> Reply:
    issue = issue_of(request)
    for label in request.body["labels"] if isinstance(request.body, dict) else request.body:
        name = label if isinstance(label, str) else label["name"]
        acts.label(request.state, request.emit, request.repository, issue, name, request.actor)
    return Reply(200, _label_list(request, issue))


def _remove_label(request: Request) -> Reply:
    issue, name = issue_of(request), unquote(request.values["name"])
    if name not in issue.labels:
        raise Refuse(404, "Label does not exist")
    acts.unlabel(request.state, request.emit, request.repository, issue, name, request.actor)
    return Reply(200, _label_list(request, issue))


def _make_label(request: Request) -> Reply:
    name = request.body["name"]
    if name.lower() in (known.lower() for known in request.repository.labels):
        error = {"resource": "Label", "code": "already_exists", "field": "name"}
        raise Refuse(422, "Validation Failed", errors=[error])
    request.repository.labels[name] = request.body.get("color", "ededed")
    return Reply(201, request.shapes.label(request.repository, name))


def _label(request: Request) -> Reply:
    name = unquote(request.values["name"])
    if name not in request.repository.labels:
        raise Refuse(404, "Not Found")
    return Reply(200, request.shapes.label(request.repository, name))
