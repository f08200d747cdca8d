"""One request, one answer, and which handler makes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.github_server.hooks import Hooks
from tests.github_server.openapi import path_pattern
from tests.github_server.shapes import Shapes
from tests.github_server.state import Repository, State, Token

READ: Final = "read"
WRITE: Final = "write"


@dataclass
class Request:
    """`token` is None for requests in the name of the App itself."""

    verb: str
    path: str
    query: dict[str, str]
    body: Any
    values: dict[str, str]
    state: State
    shapes: Shapes
    token: Token | None
    emit: Hooks
    repository: Repository = field(init=False)

    @property
    def actor(self) -> Any:
        return self.token.actor if self.token else self.state.bot

    def number(self, name: str) -> int:
        return int(self.values[name]) if self.values[name].isdigit() else -1


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Refuse(Exception):
    """An error answer, as GitHub gives it."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None, **more: object) -> None:
        super().__init__(message)
        body = {"message": message, "documentation_url": "https://docs.example.org/rest", "status": str(status), **more}
        self.reply = Reply(status, body, headers or {})


Handler = Callable[[Request], Reply]


@dataclass(frozen=True)
class Route:
    """`needs` names the permissions of which one is enough, each with its level; empty for the App's own."""

    verb: str
    pattern: re.Pattern[str]
    handler: Handler
    needs: tuple[tuple[str, str], ...]
    app: bool


class Routes:
    def __init__(self) -> None:
        self.all: list[Route] = []

    def __call__(self, line: str, *needs: tuple[str, str], app: bool = False) -> Callable[[Handler], Handler]:
        """Register a handler for `VERB /path/{with}/{values}`."""
        verb, template = line.split(" ")

        def register(handler: Handler) -> Handler:
            self.all.append(Route(verb, path_pattern(template), handler, needs, app))
            return handler

        return register

    def find(self, verb: str, path: str) -> tuple[Route, dict[str, str]] | None:
        for route in self.all:
            if route.verb == verb and (found := route.pattern.fullmatch(path)):
                return route, found.groupdict()
        return None


def page(request: Request, items: list[Any]) -> Reply:
    """One page of a list, with GitHub's `Link` header."""
    size = min(int(request.query.get("per_page", "30")), 100)
    number = int(request.query.get("page", "1"))
    last = max(1, -(-len(items) // size))
    links = []
    for name, to in (("next", number + 1), ("last", last)):
        if number < last:
            query = "&".join(f"{key}={value}" for key, value in {**request.query, "page": str(to)}.items())
            links.append(f'<{request.shapes.api}{request.path}?{query}>; rel="{name}"')
    return Reply(200, items[(number - 1) * size : number * size], {"link": ", ".join(links)} if links else {})
