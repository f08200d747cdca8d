"""Check runs and deployments."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote

from tests.github_server import acts
from tests.github_server.routing import READ, WRITE, Refuse, Reply, Request, Routes, page
from tests.github_server.state import APP_ID, Check

_HERE: Final = "/repos/{owner}/{repo}"


def register(routes: Routes) -> None:
    routes(f"GET {_HERE}/commits/{{ref}}/check-runs", ("checks", READ))(_list)
    routes(f"POST {_HERE}/check-runs", ("checks", WRITE))(_create)
    routes(f"GET {_HERE}/check-runs/{{check_run_id}}", ("checks", READ))(_get)
    routes(f"PATCH {_HERE}/check-runs/{{check_run_id}}", ("checks", WRITE))(_edit)
    routes(f"GET {_HERE}/deployments", ("deployments", READ))(_deployments)
    routes(f"GET {_HERE}/deployments/{{deployment_id}}/statuses", ("deployments", READ))(_states)


def _list(request: Request) -> Reply:
    ref = unquote(request.values["rest"])
    sha = request.repository.git.head(ref.removeprefix("heads/")) or ref
    kept: list[Any] = [
        request.shapes.check(request.repository, one)
        for one in request.repository.checks.values()
        if one.head_sha == sha
        and request.query.get("check_name", one.name) == one.name
        and int(request.query.get("app_id", one.app)) == one.app
    ]
    reply = page(request, kept)
    return Reply(200, {"total_count": len(kept), "check_runs": reply.body}, reply.headers)


def _create(request: Request) -> Reply:
    body = request.body
    if not request.repository.git.has(body["head_sha"]):
        raise Refuse(422, f"No commit found for SHA: {body['head_sha']}")
    app = request.token.app if request.token and request.token.app else APP_ID
    check = acts.check(request.state, request.emit, request.repository, body["head_sha"], name=body["name"],
                       status=body.get("status", "queued"), conclusion=body.get("conclusion"), app=app,
                       external_id=body.get("external_id", ""), output=dict(body.get("output", {})))  # fmt: skip
    return Reply(201, request.shapes.check(request.repository, check))


def _found(request: Request) -> Check:
    check = request.repository.checks.get(request.number("check_run_id"))
    if check is None:
        raise Refuse(404, "Not Found")
    return check


def _get(request: Request) -> Reply:
    return Reply(200, request.shapes.check(request.repository, _found(request)))


def _edit(request: Request) -> Reply:
    check, body = _found(request), request.body
    if request.token and check.app != request.token.app:
        raise Refuse(403, "Invalid app_id `1` - check run can only be modified by the GitHub App that created it.")
    output = dict(body.get("output", {}))
    marks = [*check.output.get("annotations", []), *output.get("annotations", [])]
    check.output |= output | {"annotations": marks}
    acts.conclude(request.state, request.emit, request.repository, check, body.get("status", check.status),
                  body.get("conclusion", check.conclusion))  # fmt: skip
    return Reply(200, request.shapes.check(request.repository, check))


def _deployments(request: Request) -> Reply:
    kept = [
        one
        for one in sorted(request.repository.deployments.values(), key=lambda one: -one.id)
        if request.query.get("sha", one.sha) == one.sha
        and request.query.get("environment", one.environment) == one.environment
    ]
    return page(request, [request.shapes.deployment(request.repository, one) for one in kept])


def _states(request: Request) -> Reply:
    one = request.repository.deployments.get(request.number("deployment_id"))
    if one is None:
        raise Refuse(404, "Not Found")
    newest = sorted(one.states, key=lambda state: -state[0])
    return page(request, [request.shapes.deployment_state(one, *state) for state in newest])
