"""`serve`: the web server of the App, and beside it the process that works. They end together; nothing is cut off."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Self

from bot.app_settings import AppSettings
from bot.book import Book, open_book, utc_now
from bot.config import Settings
from bot.credentials import app_id, bot_id, read_app_file, webhook_secrets
from bot.errors import WrongInput
from bot.inbox import Inbox
from bot.intake import Own
from bot.jobs import Jobs
from bot.log import Log, open_log
from bot.metrics import Metrics
from bot.webhooks import Door, webhook_app
from bot.wire import make_server
from memory.database import DatabaseFault

if TYPE_CHECKING:
    from starlette.routing import Router
    from uvicorn import Server

WORKER_SECONDS: Final = 35.0  # a worker finishes or puts down its work in 30
_AGAIN_SECONDS: Final = 5.0
_BACKLOG: Final = 2_048  # connections that wait to be accepted


class AddressTaken(WrongInput):
    """The server cannot listen at {address}:{port} ({reason}): end what listens there, or set `address` and `port` in
    the table [app] of the operator's ticketsmith.toml.
    """


def own_of(settings: AppSettings) -> Own:
    """Who we are, as far as this machine knows. Raises SecretReadable and SecretUnusable."""
    known = settings.id is not None or read_app_file(settings) is not None
    return Own(
        label=settings.label,
        app=app_id(settings) if known else None,
        bot=bot_id(settings),
        allowed_bots=frozenset(settings.allowed_bots),
    )


class Serving:
    """The server of these settings. Before it listens it raises what `own_of`, `webhook_secrets`, `open_book` raise."""

    def __init__(self, settings: Settings, *, log: Log | None = None) -> None:
        secrets = webhook_secrets(settings.app)
        self._settings = settings
        hidden = [one.decode("utf-8", "replace") for one in secrets]
        open_book(settings).engine.dispose()  # its tables are up to date from now on, whoever was at work on them
        book = open_book(settings, hidden=hidden, busy_seconds=0.0)
        self.log = log or open_log(book.clean)
        self.inbox = Inbox(Jobs(book, web=settings.app.web), self.log)
        self.metrics = Metrics()
        self._door = Door(
            secrets=secrets,
            own=own_of(settings.app),
            inbox=self.inbox,
            metrics=self.metrics,
            log=self.log,
            now=utc_now,
            ready=lambda: _answers(book),
        )

    def app(self) -> Router:
        return webhook_app(self._door)

    def run(self, worker: Sequence[str] | None) -> None:
        """Serve until told to leave; `worker` is the command of the process that works. Raises AddressTaken."""
        listening = _listen(self._settings.app)
        address, port = listening.getsockname()[:2]
        beside = Beside(worker, self.log) if worker else nullcontext()
        server = make_server(self.app())
        with listening, _signals_end(server), beside, _uvicorn_told(self.log), _little_to_search():
            self.log.info("server began", address=address, port=port)
            asyncio.run(serve(self.inbox, server, listening))
        self.log.info("server left")


class Beside:
    """A process beside this one that is begun again when it dies. Used as a context: it ends with it.

    `seconds` is how long it may take to leave.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Log,
        *,
        again_seconds: float = _AGAIN_SECONDS,
        seconds: float = WORKER_SECONDS,
    ) -> None:
        self._command, self._log, self._again, self._seconds = list(command), log, again_seconds, seconds
        self._leaving = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="worker", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ask it to end, and wait; then end it."""
        self._leaving.set()
        if (process := self._process) and process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._thread.join()

    def _watch(self) -> None:
        while not self._leaving.is_set():
            # No group of its own: a signal from a terminal reaches both.
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL)
            self._log.info("worker process began", pid=self._process.pid)
            if self._leaving.is_set():
                self._process.terminate()
            status = self._process.wait()
            if not self._leaving.is_set():
                self._log.error("worker process died", status=status)
                self._leaving.wait(self._again)


def worker_command(config: str | None) -> list[str]:
    """How the process that works is called: this program, with the same configuration."""
    code = "from bot.cli import main; main()"
    return [sys.executable, "-P", "-c", code, *(["--config", config] if config else []), "work"]


async def serve(inbox: Inbox, server: Server, listening: socket.socket) -> None:
    """Until the server is told to leave; then what arrived is kept."""
    async with inbox:
        await server.serve([listening])


def _listen(settings: AppSettings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.address else socket.AF_INET
        return socket.create_server((settings.address, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise AddressTaken(address=settings.address, port=settings.port, reason=reason) from error


@contextmanager
def _signals_end(server: Server) -> Iterator[None]:
    """A signal ends the server, also before uvicorn listens to it, and when uvicorn sends it again at its own end."""

    def leave(*_: object) -> None:
        server.should_exit = True

    before = {one: signal.signal(one, leave) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@contextmanager
def _little_to_search() -> Iterator[None]:
    """What is here before the first delivery stays: to search all of it for garbage stops every answer for 70 ms."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _uvicorn_told(log: Log) -> Iterator[None]:
    """What goes wrong inside the server goes to our log, and to nothing else."""

    class Forward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.exc_info[0] if record.exc_info else None
            log.error("server", said=record.getMessage()[:200], error=error.__name__ if error else None)

    logger, handler = logging.getLogger("uvicorn.error"), Forward(logging.ERROR)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _answers(book: Book) -> bool:
    try:
        with book.reading():
            return True
    except DatabaseFault:
        return False
