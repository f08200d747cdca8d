"""HTTP/1.1 as the server reads it: one request at a time, small in its head, and of one meaning; else the line is cut.

httptools parses it. It knows no limits, and takes some things that others read in another way: both are added here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp

CONNECTIONS_AT_MOST: Final = 1_000
HEAD_AT_MOST: Final = 32 * 1024  # bytes of the request line and the headers together
HEADERS_AT_MOST: Final = 128  # lines; GitHub sends about a dozen, and proxies add some
HEAD_SECONDS: Final = 8.0  # for a head to arrive whole
LEAVE_SECONDS: Final = 10  # for answers that are on their way
_LINE_SIGNS: Final = 4  # colon, space and line end of a header


class NotTaken(Exception):
    """What arrives is no request that this server takes. The parser gives up on it."""


class Wire(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._in_head = True  # before the body of a request
        self._around = 0  # bytes that came since the last ones of a body: the parser keeps them, and has no limit
        self._deaf = False  # nothing more is read
        self._waits: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn itself
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        self._around += len(data)
        super().data_received(data)
        if self._around and not self._deaf:
            self._goes_on()

    def _goes_on(self) -> None:
        if self._around > HEAD_AT_MOST:
            self.send_400_response("What stands around the body is too large.")
        elif self._in_head and self._waits is None:
            self._wait()

    # --- What the parser tells -------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._at_work:
            raise NotTaken  # a second request before the answer to the first: it is asked again when this line is cut
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes below the body is no header: it could say what the head did not.
        if not self._in_head or len(self.headers) >= HEADERS_AT_MOST:
            raise NotTaken
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._around = False, 0
        self._wait_no_more()
        if self.parser.should_upgrade() or not is_plain(self.parser.get_http_version(), self.url, self.headers):
            raise NotTaken
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._around = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head, self._around = True, 0

    # --- How it ends -----------------------------------------------------------------------------------------------

    def on_response_complete(self) -> None:
        # Nobody reads what is still to come of the body, and no clock runs for it: it could come for ever.
        if not self._in_head:
            self.transport.close()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """The end of the connection: at once, or after the answer to a request that came whole."""
        self._deaf = True
        if self._at_work and not self.cycle.more_body:
            self.cycle.keep_alive = False
        else:
            super().send_400_response(msg)

    @property
    def _at_work(self) -> bool:
        cycle: Any = self.cycle  # None at first, whatever its type says
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._waits = self.loop.call_later(HEAD_SECONDS, self._waited)

    def _wait_no_more(self) -> None:
        if self._waits is not None:
            self._waits.cancel()
            self._waits = None

    def _waited(self) -> None:
        self._waits = None
        if not self._at_work:
            self.transport.close()


def is_plain(version: str, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether a head is small, names its host once, and says in one way only how long the body is."""
    size, hosts, chunked = len(target), 0, False
    for name, value in headers:
        size += len(name) + len(value) + _LINE_SIGNS
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            if chunked or version == "1.0" or value.lower() != b"chunked":
                return False
            chunked = True
    return size <= HEAD_AT_MOST and (hosts == 1 if version == "1.1" else version == "1.0" and hosts <= 1)


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server of HTTP/1.1 that closes what does not speak, and leaves after its last answer."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=Wire,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # nobody here asks who sent a request: its signature says it
            server_header=False,
            limit_concurrency=CONNECTIONS_AT_MOST,
            timeout_graceful_shutdown=LEAVE_SECONDS,
        )
    )
