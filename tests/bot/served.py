"""A server of our own on a loopback socket, and deliveries as GitHub signs them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import json
import socket
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import httpx

from bot.book import Book
from bot.inbox import Inbox
from bot.jobs import Jobs
from bot.log import Log
from bot.metrics import Metrics
from bot.webhooks import PATH, Door, webhook_app
from bot.wire import make_server
from memory.database import open_database
from memory.scrub import Scrubber
from tests.bot.books import make_book
from tests.bot.payloads import NOW, OWN

HOOK_SECRET: Final = b"0123456789abcdef0123456789abcdef"
NEW_SECRET: Final = b"fedcba9876543210fedcba9876543210"


def signed(body: bytes, secret: bytes = HOOK_SECRET) -> str:
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


def headers(body: bytes, name: str = "issues", guid: str = "", secret: bytes = HOOK_SECRET) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "x-github-event": name,
        "x-github-delivery": guid or str(uuid.uuid4()),
        "x-hub-signature-256": signed(body, secret),
    }


@dataclass
class Served:
    """The server as tests see it."""

    url: str
    port: int
    jobs: Jobs
    door: Door
    lines: io.StringIO
    client: httpx.Client = field(repr=False)

    def post(self, payload: Mapping[str, Any] | bytes, name: str = "issues", **more: str) -> httpx.Response:
        """Send a delivery that is signed; `more` are header lines that differ."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.client.post(PATH, content=body, headers=headers(body, name) | more)

    def kept(self) -> tuple[int, int]:
        """Deliveries and waiting jobs."""
        return self.jobs.deliveries(), len(self.jobs.waiting())

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]


def impatient(folder: Path) -> Jobs:
    """The jobs of the books in the folder, as a server has them: a lock is not waited for."""
    make_book(folder).engine.dispose()
    return Jobs(Book(open_database(folder / "runs.sqlite", busy_seconds=0.0), Scrubber()))


@contextmanager
def served(folder: Path, jobs: Jobs | None = None, **door: Any) -> Iterator[Served]:
    """A server on a free port, ended with the context. `door` are values that differ."""
    jobs = jobs or impatient(folder)
    lines = io.StringIO()
    log = Log(stream=lines)
    inbox = Inbox(jobs, log)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        standing = Door(
            secrets=(HOOK_SECRET,),
            own=OWN,
            inbox=inbox,
            metrics=Metrics(),
            log=log,
            now=lambda: NOW,
            ready=lambda: True,
        )
        standing = replace(standing, **door)
        server = make_server(webhook_app(standing))

        async def serve() -> None:
            async with inbox:
                await server.serve([listening])

        thread = threading.Thread(target=lambda: asyncio.run(serve()))
        thread.start()
        port = listening.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        try:
            with httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
                yield Served(url, port, jobs, standing, lines, client)
        finally:
            server.should_exit = True
            thread.join()


def talk(server: Served, *parts: bytes, pause: float = 0.0, read: bool = True) -> bytes:
    """Say this on a connection of its own, and give all that comes back until it is closed."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=15) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:
                break  # the server has heard enough
            time.sleep(pause)
        said = b""
        while read:
            try:
                some = connection.recv(65_536)
            except OSError:
                break
            if not some:
                break
            said += some
        return said
