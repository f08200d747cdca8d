"""The App itself: installations, tokens, deliveries, and accounts."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import unquote

from tests.github_server.openapi import filled
from tests.github_server.routing import READ, Refuse, Reply, Request, Routes, page
from tests.github_server.shapes import moment
from tests.github_server.state import APP_ID, TOKEN_LIFE, Installation, Token

LEVELS = ("none", "read", "write", "admin")


def register(routes: Routes) -> None:
    routes("GET /app", app=True)(lambda request: Reply(200, request.shapes.app()))
    routes("GET /app/installations", app=True)(_installations)
    routes("GET /app/installations/{installation_id}", app=True)(_installation)
    routes("POST /app/installations/{installation_id}/access_tokens", app=True)(_mint)
    routes("GET /app/hook/deliveries", app=True)(_deliveries)
    routes("GET /app/hook/deliveries/{delivery_id}", app=True)(_delivery)
    routes("POST /app/hook/deliveries/{delivery_id}/attempts", app=True)(_redeliver)
    routes("POST /app-manifests/{code}/conversions")(_convert)
    routes("GET /installation/repositories", ("metadata", READ))(_repositories)
    routes("GET /users/{username}")(_user)


def _installations(request: Request) -> Reply:
    kept = [one for one in request.state.installations.values() if not one.removed]
    return page(request, [request.shapes.installation(one) for one in kept])


def _found(request: Request) -> Installation:
    found = request.state.installations.get(request.number("installation_id"))
    if found is None or found.removed:
        raise Refuse(404, "Not Found")
    return found


def _installation(request: Request) -> Reply:
    return Reply(200, request.shapes.installation(_found(request)))


def _mint(request: Request) -> Reply:
    installation, wanted = _found(request), request.body or {}
    if installation.suspended:
        raise Refuse(403, "This installation has been suspended")
    permissions = wanted.get("permissions", installation.permissions)
    for name, level in permissions.items():
        if LEVELS.index(level) > LEVELS.index(installation.permissions.get(name, "none")):
            raise Refuse(422, "The permissions requested are not granted to this installation.")
    numbers = set(wanted["repository_ids"]) if "repository_ids" in wanted else installation.repositories
    allowed = set(request.state.repositories) if installation.repositories is None else installation.repositories
    gone = {one.id for one in request.state.repositories.values() if one.deleted}
    if numbers is not None and not numbers <= allowed - gone:
        raise Refuse(
            422, "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    expires = request.state.now() + TOKEN_LIFE
    value = "ghs_" + secrets.token_urlsafe(27).replace("-", "a").replace("_", "b")
    full = {"metadata": "read"} | permissions
    request.state.tokens[value] = Token(value, request.state.bot, APP_ID, installation.id, numbers, full, expires)
    body = filled("installation-token", token=value, expires_at=moment(expires), permissions=full,
                  repository_selection="all" if numbers is None else "selected")  # fmt: skip
    return Reply(201, body)


def _deliveries(request: Request) -> Reply:
    newest = sorted(request.state.deliveries, key=lambda one: -one.id)
    if "cursor" in request.query:
        newest = [one for one in newest if one.id < int(request.query["cursor"])]
    size = min(int(request.query.get("per_page", "30")), 100)
    shown = newest[:size]
    if len(newest) <= size:
        return Reply(200, [request.shapes.delivery(one) for one in shown])
    link = f'<{request.shapes.api}{request.path}?per_page={size}&cursor={shown[-1].id}>; rel="next"'
    return Reply(200, [request.shapes.delivery(one) for one in shown], {"link": link})


def _delivery(request: Request) -> Reply:
    one = next((one for one in request.state.deliveries if one.id == request.number("delivery_id")), None)
    if one is None:
        raise Refuse(404, "Not Found")
    more = {"request": {"headers": {}, "payload": one.payload}, "response": {"headers": {}, "payload": None}}
    return Reply(200, request.shapes.delivery(one) | more)


def _redeliver(request: Request) -> Reply:
    one = next((one for one in request.state.deliveries if one.id == request.number("delivery_id")), None)
    if one is None:
        raise Refuse(404, "Not Found")
    request.emit.redeliver(one)
    return Reply(202, {})


def _convert(request: Request) -> Reply:
    made = request.state.manifests.pop(request.values["code"], None)
    if made is None:
        raise Refuse(404, "Not Found")
    return Reply(201, request.shapes.app() | made)


def _repositories(request: Request) -> Reply:
    assert request.token
    kept: list[Any] = [
        request.shapes.repository(one, "repository")
        for one in request.state.repositories.values()
        if not one.deleted and (request.token.repositories is None or one.id in request.token.repositories)
    ]
    reply = page(request, kept)
    return Reply(200, {"total_count": len(kept), "repositories": reply.body}, reply.headers)


def _user(request: Request) -> Reply:
    person = request.state.person(unquote(request.values["username"]))
    if person is None:
        raise Refuse(404, "Not Found")
    known = {"public_repos": 0, "public_gists": 0, "followers": 0, "following": 0, "created_at": "2020-01-01T00:00:00Z"}
    unknown = {"name": None, "company": None, "blog": None, "location": None, "email": None, "hireable": None,
               "bio": None, "updated_at": "2020-01-01T00:00:00Z"}  # fmt: skip
    return Reply(200, request.shapes.person(person) | known | unknown)
