"""A server on loopback that stands for a registry, a model, or any host of the outside."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

Asked = tuple[str, str, dict[str, str], bytes]
BODY = b"a package " * 100


class Registry(http.server.BaseHTTPRequestHandler):
    """Answers with what lies at a path, else with the same body, and keeps what it was asked."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[Asked]]
    files: ClassVar[Mapping[str, bytes]]

    def do_GET(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, dict(self.headers.items()), sent))
        self.send_response(200)
        body = self.files.get(self.path, BODY)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - as the library calls it

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving(content: Mapping[str, bytes] | None = None) -> Iterator[tuple[str, list[Asked]]]:
    """A server on loopback: its `host:port`, and what it was asked."""

    class Handler(Registry):
        asked: ClassVar[list[Asked]] = []
        files: ClassVar[Mapping[str, bytes]] = content or {}

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", Handler.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
