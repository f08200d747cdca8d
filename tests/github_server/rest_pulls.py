"""Pull requests and their reviews."""

from __future__ import annotations

from typing import Final

from tests.github_server import acts
from tests.github_server.rest_issues import BODY_AT_MOST, issue_of
from tests.github_server.routing import READ, WRITE, Refuse, Reply, Request, Routes, page
from tests.github_server.state import Issue, Pull

_READ: Final = (("pull_requests", READ),)
_WRITE: Final = (("pull_requests", WRITE),)
_PULLS: Final = "/repos/{owner}/{repo}/pulls"
_PULL: Final = _PULLS + "/{pull_number}"


def register(routes: Routes) -> None:
    routes(f"GET {_PULLS}", *_READ)(_list)
    routes(f"POST {_PULLS}", *_WRITE)(_create)
    routes(f"GET {_PULL}", *_READ)(_get)
    routes(f"PATCH {_PULL}", *_WRITE)(_edit)
    routes(f"GET {_PULL}/reviews", *_READ)(_reviews)
    routes(f"GET {_PULL}/comments", *_READ)(_remarks)


def _found(request: Request) -> tuple[Issue, Pull]:
    issue = issue_of(request, "pull_number")
    if issue.pull is None:
        raise Refuse(404, "Not Found")
    return issue, issue.pull


def _list(request: Request) -> Reply:
    state, head, base = (request.query.get(name, "") for name in ("state", "head", "base"))
    kept = []
    for issue in sorted(request.repository.issues.values(), key=lambda one: -one.number):
        pull = issue.pull
        if pull is None or issue.deleted or (state or "open") not in ("all", issue.state):
            continue
        of = request.state.repositories.get(pull.head_repository or 0, request.repository)
        # As GitHub does: a `head` without its owner filters nothing.
        if ":" in head and head != f"{of.owner.login}:{pull.head}":
            continue
        if not base or base == pull.base:
            kept.append(request.shapes.pull(request.repository, issue, short=True))
    return page(request, kept)


def _create(request: Request) -> Reply:
    body, repository = request.body, request.repository
    head = body["head"].rpartition(":")[2]
    errors = []
    if repository.git.head(head) is None:
        errors.append({"resource": "PullRequest", "field": "head", "code": "invalid"})
    if repository.git.head(body["base"]) is None:
        errors.append({"resource": "PullRequest", "field": "base", "code": "invalid"})
    if not errors:
        same = [i for i in repository.issues.values() if i.pull and i.state == "open" and i.pull.head == head]
        if any(issue.pull and issue.pull.base == body["base"] for issue in same):
            there = f"A pull request already exists for {repository.owner.login}:{head}."
            errors.append({"resource": "PullRequest", "code": "custom", "message": there})
        elif repository.git.count(body["base"], head)[0] == 0:
            none = f"No commits between {body['base']} and {head}"
            errors.append({"resource": "PullRequest", "code": "custom", "message": none})
    if len(body.get("body") or "") > BODY_AT_MOST:
        long = "body is too long (maximum is 65536 characters)"
        errors.append({"resource": "PullRequest", "code": "custom", "field": "body", "message": long})
    if errors:
        raise Refuse(422, "Validation Failed", errors=errors)
    issue = acts.open_pull(
        request.state,
        request.emit,
        repository,
        request.actor,
        head=head,
        base=body["base"],
        title=body["title"],
        body=body.get("body") or "",
        draft=body.get("draft", False),
    )
    return Reply(201, request.shapes.pull(repository, issue))


def _get(request: Request) -> Reply:
    return Reply(200, request.shapes.pull(request.repository, _found(request)[0]))


def _edit(request: Request) -> Reply:
    issue, pull = _found(request)
    body = request.body
    if len(body.get("body") or "") > BODY_AT_MOST:
        raise Refuse(422, "Validation Failed", errors=[{"field": "body", "code": "custom"}])
    if body.get("state") == "closed" and issue.state == "open":
        acts.close(request.state, request.emit, request.repository, issue, request.actor)
    if body.get("state") == "open" and issue.state == "closed":
        if pull.merged or request.repository.git.head(pull.head) is None:
            raise Refuse(422, "Validation Failed", errors=[{"field": "state", "code": "invalid"}])
        acts.reopen(request.state, request.emit, request.repository, issue, request.actor)
    issue.title, issue.body = body.get("title", issue.title), body.get("body", issue.body)
    pull.base = body.get("base", pull.base)
    issue.updated = request.state.now()
    return Reply(200, request.shapes.pull(request.repository, issue))


def _reviews(request: Request) -> Reply:
    issue, pull = _found(request)
    return page(request, [request.shapes.review(request.repository, issue, one) for one in pull.reviews])


def _remarks(request: Request) -> Reply:
    _, pull = _found(request)
    return page(request, [request.shapes.remark(one, remark) for one in pull.reviews for remark in one.remarks])
