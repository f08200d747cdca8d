"""The few GraphQL queries that have no REST twin."""

from __future__ import annotations

from typing import Any

from tests.github_server.routing import Refuse, Reply
from tests.github_server.shapes import moment
from tests.github_server.state import Repository, State, Token


def answer(state: State, token: Token | None, body: dict[str, Any]) -> Reply:
    query, variables = body["query"], body.get("variables", {})
    if token is None:
        raise Refuse(401, "Bad credentials")
    repository = state.repository(f"{variables.get('owner')}/{variables.get('name')}")
    if repository is None or (token.repositories is not None and repository.id not in token.repositories):
        return _none(["repository"], "Could not resolve to a Repository.")
    if "lastEditedAt" in query:
        return _edited(repository, int(variables["number"]), token)
    raise Refuse(400, f"no such query here: {query}")


def _edited(repository: Repository, number: int, token: Token) -> Reply:
    issue = repository.issues.get(number)
    if issue is None or issue.deleted or issue.moved_to:
        return _none(["repository", "issue"], f"Could not resolve to an Issue with the number of {number}.")
    if token.permissions.get("issues") not in ("read", "write"):
        return _none(["repository", "issue"], "Resource not accessible by integration", "FORBIDDEN")
    shown = {"lastEditedAt": moment(issue.edited)}
    return Reply(200, {"data": {"repository": {"issue": shown}}})


def _none(path: list[str], message: str, kind: str = "NOT_FOUND") -> Reply:
    data: Any = {path[-1]: None} if len(path) == 1 else {path[0]: {path[1]: None}}
    return Reply(200, {"data": data, "errors": [{"type": kind, "path": path, "message": message}]})
