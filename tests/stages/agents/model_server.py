"""A provider in OpenAI's form on loopback: answers by script, records what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int = 200
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


def calling(tool: str, **arguments: object) -> Reply:
    """An answer that calls one tool."""
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return _completion({"role": "assistant", "content": None, "tool_calls": [call]})


def refusing(status: int, message: str, code: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body={"error": {"message": message, "type": "error", "code": code}}, headers=named)


def _completion(message: object) -> Reply:
    return Reply(
        body={
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 1_000, "completion_tokens": 100, "total_tokens": 1_100},
        }
    )


class ModelServer(ThreadingHTTPServer):
    """`replies` are given in order, the last one again and again."""

    daemon_threads = True

    def __init__(self, *replies: Reply | Callable[[], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def reply(self) -> Reply:
        given = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return given if isinstance(given, Reply) else given()


_LENGTH: Final = "content-length"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one write for each reply: more of them wait for acknowledgements
    server: ModelServer

    def do_POST(self) -> None:
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers.get(_LENGTH, 0)))))
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = self.server.reply()
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header(_LENGTH, str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the class above
        pass


@contextmanager
def serving(*replies: Reply | Callable[[], Reply]) -> Iterator[ModelServer]:
    """A server for as long as the block runs."""
    server = ModelServer(*replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
