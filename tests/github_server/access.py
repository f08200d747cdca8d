"""Who asks, and whether that is allowed."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import jwt

from tests.github_server.routing import Refuse, Request, Route
from tests.github_server.state import APP_ID, Repository, State, Token

_LEVELS: Final = ("none", "read", "write", "admin")
_LIFE_AT_MOST: Final = timedelta(minutes=10)
_ISSUED: Final = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
_FAR: Final = "'Expiration time' claim ('exp') is too far in the future"
_OVER: Final = (
    "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the "
    "assertion expires"
)


def authenticate(state: State, credential: str, *, app: bool = False) -> Token | None:
    """The token of a request; None for one in the name of the App. Refuses as GitHub does."""
    if credential.count(".") == 2:
        _check_app(state, credential)
        if not app:
            raise Refuse(403, "Resource not accessible by integration")
        return None
    if app:
        raise Refuse(401, "A JSON web token could not be decoded")
    token = state.tokens.get(credential)
    if token is None or token.expires <= state.now():
        raise Refuse(401, "Bad credentials")
    installation = state.installations.get(token.installation)
    if installation and installation.removed:
        raise Refuse(401, "Bad credentials")
    if installation and installation.suspended:
        raise Refuse(403, "This installation has been suspended")
    return token


def _check_app(state: State, credential: str) -> None:
    try:
        claims = jwt.decode(
            credential,
            state.app_public_key,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
    except jwt.PyJWTError:
        raise Refuse(401, "A JSON web token could not be decoded") from None
    now = state.now().timestamp()
    if str(claims.get("iss")) != str(APP_ID):
        raise Refuse(404, "Integration not found")
    if not isinstance(claims.get("iat"), int) or claims["iat"] > now + 1:
        raise Refuse(401, _ISSUED)
    if not isinstance(claims.get("exp"), int) or claims["exp"] <= now:
        raise Refuse(401, _OVER)
    if claims["exp"] - now > _LIFE_AT_MOST.total_seconds() + 1:
        raise Refuse(401, _FAR)


def repository_of(request: Request, route: Route) -> Repository:
    """The repository that a request names, if its token may do this there."""
    state, token = request.state, request.token
    name = f"{request.values['owner']}/{request.values['repo']}"
    repository = state.repository(name)
    if repository is None and name.lower() in state.former_names:
        rest = request.path.split("/", 4)[4:]
        number = state.former_names[name.lower()]
        where = "/".join((request.shapes.api, "repositories", str(number), *rest))
        raise Refuse(301, "Moved Permanently", {"location": where}, url=where)
    if repository is None or token is None:
        raise Refuse(404, "Not Found")
    if token.repositories is not None and repository.id not in token.repositories:
        raise Refuse(404, "Not Found")
    if not any(_has(state, token, name, level) for name, level in route.needs):
        raise Refuse(403, "Resource not accessible by integration")
    if repository.archived and request.verb != "GET":
        raise Refuse(403, "Repository was archived so is read-only.")
    return repository


def _has(state: State, token: Token, permission: str, level: str) -> bool:
    installation = state.installations.get(token.installation)
    granted = installation.permissions if installation else token.permissions
    held = min(
        _LEVELS.index(token.permissions.get(permission, "none")),
        _LEVELS.index("read" if permission == "metadata" else granted.get(permission, "none")),
    )
    return held >= _LEVELS.index(level)
