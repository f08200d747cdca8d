"""`app create`: a page on this machine that hands the manifest to GitHub, and takes what comes back."""

from __future__ import annotations

import html
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from bot.app_manifest import manifest
from bot.app_settings import AppSettings
from bot.credentials import SECRET_AT_LEAST, AppFile
from bot.errors import WrongInput
from bot.forge.errors import ForgeFault
from bot.forge.github import Forge
from bot.forge.manifests import MadeApp, made_app

WAITS_SECONDS: Final = 15 * 60.0
NAME_AT_MOST: Final = 34  # characters: GitHub's own limit

_HEADERS: Final = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
}


class NoCode(WrongInput):
    """GitHub sent no code within {minutes:g} minutes. If its page said that the App was made, but your browser could
    not come back to this machine, take the code out of the browser's address and call
    `ticketsmith app create --code CODE`.
    """


class WrongName(WrongInput):
    """The App cannot be called {name}: GitHub takes {most} characters at most."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the person wants: the App's name, where its events go, and whose it is (empty: the person's own)."""

    name: str
    webhook: str
    organization: str = ""
    port: int = 0

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > NAME_AT_MOST:
            raise WrongName(name=repr(self.name[:60]), most=NAME_AT_MOST)


@dataclass
class _Asked:
    """What came back; `state` proves that it belongs to what this page sent."""

    state: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    code: str = field(default="", repr=False)
    came: threading.Event = field(default_factory=threading.Event)


def ask_for_code(
    settings: AppSettings, wanted: Wanted, tell: Callable[[str], None], *, seconds: float = WAITS_SECONDS
) -> str:
    """The code that GitHub gives for an App that the person made there; `tell` gets the page's address.

    Raises NoCode, and OSError where the port is taken.
    """
    asked = _Asked()
    server = _Server(("127.0.0.1", wanted.port), settings, wanted, asked)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        tell(server.address)
        if not asked.came.wait(seconds):
            raise NoCode(minutes=seconds / 60)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    return asked.code


def kept_of(made: MadeApp, settings: AppSettings) -> AppFile:
    """What is kept of an App. Where GitHub made no good secret, a new one, which must be set there by hand."""
    given = made.webhook_secret if len(made.webhook_secret.encode()) >= SECRET_AT_LEAST else secrets.token_hex(32)
    forge = Forge.for_app(app_id=made.id, key=made.key, base_url=settings.base_url)
    try:
        bot: int | None = forge.app_info().bot.id
    except ForgeFault:
        bot = None  # a new account may not be shown at once: `doctor` finds it later
    return AppFile(id=made.id, slug=made.slug, bot=bot, key=made.key, webhook_secrets=(given,))


def create(settings: AppSettings, code: str) -> tuple[AppFile, MadeApp]:
    """Exchange the code. Raises ForgeFault."""
    made = made_app(settings.base_url, code)
    return kept_of(made, settings), made


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, at: tuple[str, int], settings: AppSettings, wanted: Wanted, asked: _Asked) -> None:
        super().__init__(at, _Page)
        self.address = f"http://127.0.0.1:{self.server_port}/"
        self.asked = asked
        owner = f"/organizations/{quote(wanted.organization, safe='')}" if wanted.organization else ""
        self.target = f"{settings.web}{owner}/settings/apps/new?state={asked.state}"
        self.manifest = manifest(
            name=wanted.name, page=settings.web, webhook=wanted.webhook, created=f"{self.address}created"
        )


class _Page(BaseHTTPRequestHandler):
    """The page with the form, and the page that GitHub leads back to."""

    server: _Server
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        # A name that somebody let point here is another origin to a browser: it gets nothing.
        if self.headers.get("host") != urlsplit(self.server.address).netloc:
            return self._answer(HTTPStatus.BAD_REQUEST, "This page has another address.")
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        match path:
            case "/":
                return self._answer(HTTPStatus.OK, _FORM.format(
                    target=html.escape(self.server.target), manifest=html.escape(self.server.manifest)
                ), form=self.server.target)  # fmt: skip
            case "/created":
                return self._created(query)
            case _:
                return self._answer(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _created(self, query: dict[str, list[str]]) -> None:
        asked, states, codes = self.server.asked, query.get("state", []), query.get("code", [])
        ours = len(states) == 1 and secrets.compare_digest(states[0].encode(), asked.state.encode())
        if not ours or len(codes) != 1 or asked.came.is_set():
            return self._answer(HTTPStatus.BAD_REQUEST, "This does not belong to what was asked here.")
        asked.code = codes[0]
        self._answer(HTTPStatus.OK, "The App is made. Go back to the terminal.")
        return asked.came.set()

    def _answer(self, status: HTTPStatus, text: str, *, form: str = "") -> None:
        content = f"<!doctype html><meta charset=utf-8><title>Ticketsmith</title>{text}\n".encode()
        self.send_response(status)
        for name, value in _HEADERS.items():
            # Chromium holds a form's redirects to this line too: GitHub's own pages, and nothing else.
            origin = "{0.scheme}://{0.netloc}".format(urlsplit(form))
            more = f"; form-action {origin}" if form and name.startswith("Content-Security") else ""
            self.send_header(name, value + more)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing: the address of the second page holds the code."""


_FORM: Final = """
<form action="{target}" method="post">
<input type="hidden" name="manifest" value="{manifest}">
<p>GitHub asks you next whether it shall make this App.</p>
<button>Make the App on GitHub</button>
</form>"""
