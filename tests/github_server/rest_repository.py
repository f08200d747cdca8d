"""Repositories: branches, rules, and who may do what."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from tests.github_server import acts
from tests.github_server.openapi import filled
from tests.github_server.routing import READ, WRITE, Refuse, Reply, Request, Routes, page

_HERE: Final = "/repos/{owner}/{repo}"
_OF_ROLE: Final = {"maintain": "write", "triage": "read"}  # what `permission` says of roles that it does not know


def register(routes: Routes) -> None:
    routes(f"GET {_HERE}", ("metadata", READ))(lambda one: Reply(200, one.shapes.repository(one.repository)))
    routes(f"GET {_HERE}/branches/{{branch}}", ("contents", READ))(_branch)
    routes(f"GET {_HERE}/rules/branches/{{branch}}", ("metadata", READ))(_rules)
    routes(f"GET {_HERE}/collaborators/{{username}}/permission", ("metadata", READ))(_permission)
    routes(f"GET {_HERE}/git/commits/{{commit_sha}}", ("contents", READ))(_git_commit)
    routes(f"GET {_HERE}/git/ref/{{ref}}", ("contents", READ))(_ref)
    routes(f"POST {_HERE}/git/refs", ("contents", WRITE))(_make_ref)
    routes(f"DELETE {_HERE}/git/refs/{{ref}}", ("contents", WRITE))(_delete_ref)
    routes(f"GET {_HERE}/compare/{{basehead}}", ("contents", READ))(_compare)


def _branch(request: Request) -> Reply:
    name = unquote(request.values["rest"])
    sha = request.repository.git.head(name)
    if sha is None:
        raise Refuse(404, "Branch not found")
    rule = request.repository.protection.get(name)
    shown = filled(
        "branch-with-protection",
        name=name,
        commit=_commit(request, sha, ""),
        protected=rule is not None,
        protection=rule or {"enabled": False},
    )
    return Reply(200, shown)


def _rules(request: Request) -> Reply:
    name = unquote(request.values["rest"])
    # `branch` is ours: a rule without it counts for every branch.
    kept = [one for one in request.repository.rules if name.startswith(one.get("branch", ""))]
    return page(request, [{key: value for key, value in one.items() if key != "branch"} for one in kept])


def _permission(request: Request) -> Reply:
    person = request.state.person(unquote(request.values["username"]))
    if person is None:
        raise Refuse(404, "Not Found")
    role = request.repository.roles.get(person.id, "none" if request.repository.private else "read")
    user = request.shapes.person(person) | {"role_name": role}
    shown = filled("repository-collaborator-permission", permission=_OF_ROLE.get(role, role), role_name=role, user=user)
    return Reply(200, shown)


def _ref(request: Request) -> Reply:
    name = f"refs/{unquote(request.values['rest'])}"
    sha = request.repository.git.refs().get(name)
    if sha is None:
        raise Refuse(404, "Not Found")
    there = {"type": "commit", "sha": sha, "url": f"{request.shapes.api}/commits/{sha}"}
    return Reply(200, filled("git-ref", ref=name, object=there))


def _make_ref(request: Request) -> Reply:
    name, sha = request.body["ref"], request.body["sha"]
    if name in request.repository.git.refs():
        raise Refuse(422, "Reference already exists")
    if not request.repository.git.has(sha):
        raise Refuse(422, "Object does not exist")
    with acts.refs(request.state, request.emit, request.repository, request.actor):
        request.repository.git.git("update-ref", name, sha)
    there = {"type": "commit", "sha": sha, "url": f"{request.shapes.api}/commits/{sha}"}
    return Reply(201, filled("git-ref", ref=name, object=there))


def _git_commit(request: Request) -> Reply:
    sha, git = request.values["commit_sha"], request.repository.git
    if not git.has(sha):
        raise Refuse(404, "Not Found")
    tree, _, parents = git.git("show", "-s", "--format=%T %P", sha).partition(" ")
    by = {"name": "x", "email": git.git("show", "-s", "--format=%ae", sha), "date": "2026-01-01T00:00:00Z"}
    url = "https://example.org/"
    shown = filled(
        "git-commit",
        sha=sha,
        author=by,
        committer=by,
        message=git.git("show", "-s", "--format=%B", sha),
        tree={"sha": tree, "url": url},
        parents=[{"sha": one, "url": url, "html_url": url} for one in parents.split()],
    )
    return Reply(200, shown)


def _delete_ref(request: Request) -> Reply:
    name = unquote(request.values["rest"]).removeprefix("heads/")
    if request.repository.git.head(name) is None:
        raise Refuse(422, "Reference does not exist")
    if any(one["type"] == "deletion" for one in request.repository.rules):
        raise Refuse(422, "Repository rule violations found\n\nCannot delete this branch")
    with acts.refs(request.state, request.emit, request.repository, request.actor):
        request.repository.git.delete(name)
    return Reply(204)


def _commit(request: Request, sha: str, mail: str) -> dict[str, Any]:
    by_mail = {f"{one.login.lower()}@example.org": one for one in request.state.people.values()}
    person = by_mail.get(mail.lower()) or _by_number(request, mail)
    account = request.shapes.person(person) if person else None
    parent = {"sha": sha, "url": "https://example.org/", "html_url": "https://example.org/"}
    return filled("commit", sha=sha, parents=[parent], author=account, committer=account)


def _by_number(request: Request, mail: str) -> Any:
    # `ID+login@users.noreply.HOST` names an account, as GitHub writes it.
    number = mail.partition("+")[0]
    return request.state.people.get(int(number)) if "noreply" in mail and number.isdigit() else None


def _compare(request: Request) -> Reply:
    base, dots, head = unquote(request.values["rest"]).partition("...")
    git = request.repository.git
    base, head = git.head(base) or base, git.head(head) or head
    if not dots or not git.has(base) or not git.has(head):
        raise Refuse(404, "Not Found")
    ahead, behind = git.count(base, head)
    status = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}.get(
        (ahead > 0, behind > 0), "identical"
    )
    commits = [_commit(request, sha, mail) for sha, mail in git.commits(base, head)]
    reply = page(request, commits)
    shown = filled(
        "commit-comparison",
        status=status,
        ahead_by=ahead,
        behind_by=behind,
        total_commits=len(commits),
        commits=reply.body,
        base_commit=_commit(request, base, ""),
        merge_base_commit=_commit(request, base, ""),
    )
    return Reply(200, shown, reply.headers)
