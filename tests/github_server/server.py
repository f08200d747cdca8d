"""The HTTP side: sockets, faults, credentials, and a record of every request."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.github_server import acts, git_http, graphql
from tests.github_server.access import authenticate, repository_of
from tests.github_server.faults import Fault, Faults
from tests.github_server.hooks import Hooks
from tests.github_server.routing import Refuse, Reply, Request, Routes
from tests.github_server.shapes import Shapes
from tests.github_server.state import State

PREFIX: Final = "/api/v3"


@dataclass
class Exchange:
    """One request and what was answered; `status` is 0 where the connection was cut. `token` is the credential."""

    verb: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]
    at: float
    token: str = ""
    status: int = 0
    reply: Any = None
    fault: Fault | None = None
    git: bool = False
    known: bool = True

    @property
    def line(self) -> str:
        return f"{self.verb} {self.path}"


@dataclass
class Site:
    """What the handlers of all connections share."""

    state: State
    routes: Routes
    shapes: Shapes
    hooks: Hooks
    faults: Faults
    exchanges: list[Exchange] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    closing: threading.Event = field(default_factory=threading.Event)
    quota: int = 5_000


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    allow_reuse_port = True  # by one who keeps it for another server of ours

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.site: Site
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """End the connections that clients keep too: each has a thread, and with it all that a test has made."""
        super().server_close()
        for request in tuple(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that end early are no news."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One write for each answer: behind a second one the client would wait 40 ms for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The `Date` header, by GitHub's clock."""
        return super().date_time_string(self.server.site.state.now().timestamp())

    def _serve(self) -> None:
        site = self.server.site
        where = urlsplit(self.path)
        body = self._body()
        path = where.path.removeprefix(PREFIX) or "/"
        query = dict(parse_qsl(where.query, keep_blank_values=True))
        is_git = git_http.PATH.fullmatch(path) is not None
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(
            self.command, path, query, None if is_git else _json(body), headers, time.time(), git=is_git
        )
        exchange.token = _credential(headers.get("authorization", ""))
        site.exchanges.append(exchange)
        exchange.fault = site.faults.of(exchange.line)
        if exchange.fault and exchange.fault.delay and not exchange.fault.stored:
            site.closing.wait(exchange.fault.delay)
        if exchange.fault and exchange.fault.hang:
            site.closing.wait()
        if exchange.fault and (exchange.fault.status or exchange.fault.reset) and not exchange.fault.stored:
            self._fail(exchange)
            return
        with site.lock:
            sent = self._git(exchange, where.query, body) if is_git else self._rest(exchange)
        if exchange.fault and exchange.fault.delay and exchange.fault.stored:
            site.closing.wait(exchange.fault.delay)
        if exchange.fault and (exchange.fault.status or exchange.fault.reset):
            self._fail(exchange)
        else:
            self._send(*sent, trickle=exchange.fault.trickle if exchange.fault else 0.0)
        site.hooks.flush()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815

    # --- answers -----------------------------------------------------------------------------------------------------

    def _rest(self, exchange: Exchange) -> tuple[int, list[tuple[str, str]], bytes]:
        site = self.server.site
        try:
            reply = self._handled(exchange)
        except Refuse as refusal:
            reply = refusal.reply
        exchange.status, exchange.reply = reply.status, reply.body
        site.quota -= 1
        headers = {
            "content-type": "application/json; charset=utf-8",
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": str(max(site.quota, 0)),
            "x-ratelimit-used": str(5_000 - site.quota),
            "x-ratelimit-reset": str(int(site.state.now().timestamp()) + 3_600),
            "x-ratelimit-resource": "core",
            "x-github-request-id": f"{len(site.exchanges):X}",
            **reply.headers,
        }
        content = b"" if reply.status == 204 else json.dumps(reply.body).encode()
        return reply.status, list(headers.items()), content

    def _handled(self, exchange: Exchange) -> Reply:
        site, state = self.server.site, self.server.site.state
        if exchange.path in ("/graphql", "/api/graphql"):
            return graphql.answer(state, authenticate(state, exchange.token), exchange.body, site.hooks)
        if exchange.path.startswith("/repositories/"):
            exchange.path = _by_name(state, exchange.path)
        found = site.routes.find(exchange.verb, exchange.path)
        if found is None:
            exchange.known = False
            raise Refuse(404, "Not Found")
        route, values = found
        open_to_all = "app-manifests" in exchange.path or (exchange.path.startswith("/users/") and not exchange.token)
        token = None if open_to_all else authenticate(state, exchange.token, app=route.app)
        request = Request(exchange.verb, exchange.path, exchange.query, exchange.body, values, state, site.shapes,
                          token, site.hooks)  # fmt: skip
        if "owner" in values:
            request.repository = repository_of(request, route)
        return route.handler(request)

    def _git(self, exchange: Exchange, query: str, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        site = self.server.site
        found = git_http.PATH.fullmatch(exchange.path)
        assert found
        repository = site.state.repository(f"{found['owner']}/{found['name']}")
        token = site.state.tokens.get(exchange.token)
        pushing = git_http.writes(exchange.path, query)
        unknown = bool(exchange.token) and token is None
        exchange.status = 401 if unknown else _git_access(site, repository, token, pushing=pushing)
        if exchange.status != 200 or repository is None:
            ask = [("www-authenticate", 'Basic realm="GitHub"')] if exchange.status == 401 else []
            text = {401: b"Bad credentials", 404: b"Repository not found."}.get(exchange.status, b"Permission denied.")
            return exchange.status, [("content-type", "text/plain"), *ask], text
        user = token.actor if token else site.state.bot
        with acts.refs(site.state, site.hooks, repository, user):
            sent = git_http.serve(repository, exchange.verb, found["rest"], query, exchange.headers, body, user.login)
        exchange.status = sent[0]
        return sent

    # --- the wire ----------------------------------------------------------------------------------------------------

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            body = b"".join(parts)
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip" and "git" not in self.path:
            body = zlib.decompress(body, 31)
        return body

    def _fail(self, exchange: Exchange) -> None:
        fault = exchange.fault
        assert fault
        if fault.reset:
            exchange.status = 0
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        exchange.status, exchange.reply = fault.status, fault.body if fault.body is not None else {"message": "fault"}
        headers = {"content-type": "application/json", "x-ratelimit-remaining": "4999", **fault.headers}
        content = exchange.reply.encode() if isinstance(exchange.reply, str) else json.dumps(exchange.reply).encode()
        self._send(fault.status, list(headers.items()), content)

    def _send(self, status: int, headers: list[tuple[str, str]], content: bytes, *, trickle: float = 0.0) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() != "content-length":
                self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command == "HEAD" or status == 204:
            content = b""
        if not trickle:
            self.wfile.write(content)
            self.wfile.flush()
            return
        for at in range(len(content)):
            self.wfile.write(content[at : at + 1])
            self.wfile.flush()
            if self.server.site.closing.wait(1 / trickle):
                return


def _git_access(site: Site, repository: Any, token: Any, *, pushing: bool) -> int:
    if token is None:
        return 200 if repository and not repository.private and not pushing else 401
    if token.expires <= site.state.now():
        return 401
    if repository is None or (token.repositories is not None and repository.id not in token.repositories):
        return 404
    level = token.permissions.get("contents", "none")
    granted = site.state.installations.get(token.installation)
    if granted and (granted.removed or granted.suspended):
        return 401 if granted.removed else 403
    if granted and pushing:
        level = level if granted.permissions.get("contents") == "write" else "read"
    if pushing and (level != "write" or repository.archived):
        return 403
    return 200 if level in ("read", "write") else 403


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")


def _credential(header: str) -> str:
    kind, _, value = header.partition(" ")
    if kind.lower() == "basic":
        return base64.b64decode(value).decode("utf-8", "replace").partition(":")[2]
    return value.strip()


def _by_name(state: State, path: str) -> str:
    _, _, number, *rest = path.split("/")
    repository = state.repositories.get(int(number)) if number.isdigit() else None
    if repository is None or repository.deleted:
        raise Refuse(404, "Not Found")
    return "/".join(("/repos", unquote(repository.full_name), *rest))
