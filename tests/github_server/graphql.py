"""The few GraphQL queries that have no REST twin."""

from __future__ import annotations

import base64
from typing import Any

from tests.github_server import acts
from tests.github_server.hooks import Hooks
from tests.github_server.routing import Refuse, Reply
from tests.github_server.shapes import moment
from tests.github_server.state import Repository, State, Token


def answer(state: State, token: Token | None, body: dict[str, Any], emit: Hooks) -> Reply:
    query, variables = body["query"], body.get("variables", {})
    if token is None:
        raise Refuse(401, "Bad credentials")
    given = variables.get("input", {}).get("branch", {})
    repository = state.repository(
        given.get("repositoryNameWithOwner") or f"{variables.get('owner')}/{variables.get('name')}"
    )
    if repository is None or (token.repositories is not None and repository.id not in token.repositories):
        return _none(["repository"], "Could not resolve to a Repository.")
    if "lastEditedAt" in query:
        return _edited(repository, int(variables["number"]), token)
    if "createCommitOnBranch" in query:
        return _commit(state, emit, repository, variables["input"], token)
    raise Refuse(400, f"no such query here: {query}")


def _commit(state: State, emit: Hooks, repository: Repository, wanted: dict[str, Any], token: Token) -> Reply:
    """A commit that GitHub signs, on a branch that is there and where it is expected."""
    branch, path = wanted["branch"]["branchName"], ["createCommitOnBranch"]
    if token.permissions.get("contents") != "write":
        return _none(path, "Resource not accessible by integration", "FORBIDDEN")
    if repository.refuses_commits:
        return _none(path, repository.refuses_commits, "UNPROCESSABLE")
    if repository.git.head(branch) != wanted["expectedHeadOid"]:
        return _none(path, f'Expected branch to point to "{wanted["expectedHeadOid"]}"', "STALE_DATA")
    changes = wanted["fileChanges"]
    files: dict[str, str | None] = {one["path"]: None for one in changes.get("deletions", [])}
    files |= {one["path"]: base64.b64decode(one["contents"]).decode() for one in changes.get("additions", [])}
    message = f"{wanted['message']['headline']}\n\n{wanted['message'].get('body', '')}"
    author = f"{token.actor.login} <{token.actor.id}+{token.actor.login}@users.noreply.github.example>"
    with acts.refs(state, emit, repository, token.actor):
        sha = repository.git.commit(branch, files, message, author=author)
    return Reply(200, {"data": {"createCommitOnBranch": {"commit": {"oid": sha}}}})


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
