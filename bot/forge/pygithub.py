"""The one place that imports PyGithub: its authentication, its requester, and how it knows rate limits.

Its objects are not used: they fetch what is missing by themselves, follow issues into other repositories, and repeat
writes. Here one call is one request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
import requests
from github import Auth
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import PyJWTError
from urllib3.exceptions import HTTPError

from bot.forge.errors import Unauthorised, Unreachable

Credential = Auth.Auth
"""What proves to GitHub who asks."""

USER_AGENT: Final = "ticketsmith"
API_VERSION: Final = "2022-11-28"  # of GitHub's REST API; what an answer looks like depends on it
_ANSWER_AT_MOST: Final = 32 * 1024 * 1024  # bytes
_CHUNK: Final = 64 * 1024
_JWT_LIFE: Final = 480  # seconds; GitHub takes ten minutes at most
_ALGORITHM: Final = "RS256"
_JWT_BEFORE: Final = 60  # seconds that it was issued earlier, for clocks that drift
_REDIRECTS: Final = (301, 302, 307, 308)


class Redirected(Exception):
    """GitHub points elsewhere; nothing was done."""

    def __init__(self, location: str) -> None:
        super().__init__()
        self.location = location


class _Response:
    """An answer that was read whole, in the shape that PyGithub's requester expects."""

    def __init__(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status, self._headers, self._content = status, headers, content

    def getheaders(self) -> Any:
        return self._headers.items()

    def read(self) -> str:
        return self._content.decode("utf-8", "replace")


class _Watched:
    """A connection that reads an answer within a time and a size, and follows nothing."""

    session: Any
    seconds = 60.0

    def getresponse(self) -> Any:
        own: Any = self
        url = f"{own.protocol}://{own.host}:{own.port}{own.url}"
        deadline = time.monotonic() + self.seconds
        with self.session.request(
            own.verb, url, headers=own.headers, data=own.input, timeout=own.timeout, allow_redirects=False, stream=True
        ) as answer:
            if answer.status_code in _REDIRECTS:
                raise Redirected(answer.headers.get("location", ""))
            return _Response(answer.status_code, answer.headers, _content(answer.raw, deadline))


def _content(raw: Any, deadline: float) -> bytes:
    """What comes, as it comes: a byte at a time must not last for ever."""
    content = bytearray()
    try:
        while chunk := raw.read1(_CHUNK, decode_content=True):
            content += chunk
            if time.monotonic() > deadline or len(content) > _ANSWER_AT_MOST:
                raise TimeoutError("the answer does not end")
    except HTTPError as error:
        raise ConnectionError("the answer broke off") from error
    return bytes(content)


class _Plain(_Watched, HTTPRequestsConnectionClass):
    pass


class _Secure(_Watched, HTTPSRequestsConnectionClass):
    pass


class Line:
    """One connection to a base address; for one thread at a time."""

    def __init__(self, base_url: str, *, seconds: float) -> None:
        # It writes to standard error by itself, with headers where they can be logged.
        for name in ("github", "github.Requester", "github.GithubRetry"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        parts = urlsplit(base_url)
        kind = _Secure if parts.scheme == "https" else _Plain
        self._connection = kind(parts.hostname or "", parts.port, timeout=seconds, retry=0, pool_size=1)  # type: ignore[arg-type]
        self._connection.seconds = 2 * seconds
        self._base_url, self._seconds = base_url, seconds

    def ask(
        self, verb: str, path: str, credential: Credential | None, query: Mapping[str, str] | None, body: object
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers in small letters, and text of one answer. Raises Redirected, and Unreachable without one."""
        requester = Requester(
            auth=credential,
            base_url=self._base_url,
            timeout=int(self._seconds) or 1,
            user_agent=USER_AGENT,
            per_page=100,
            verify=True,
            retry=0,
            pool_size=1,
            seconds_between_requests=0,
            seconds_between_writes=0,
            lazy=True,
            api_version=API_VERSION,
        )
        url = requester.graphql_url if path == "/graphql" else path
        connection: Any = self._connection
        try:
            status, headers, text = requester.requestJson(verb, url, dict(query or {}), None, body, connection)
        except OSError as error:  # what requests raises is one of them
            raise Unreachable(said=type(error).__name__) from error
        return status, headers, text


def way_to(url: str) -> tuple[str, str]:
    """The proxy and the file of authorities by which requests reaches an address, from the environment; "" for none."""
    settings = requests.Session().merge_environment_settings(url, {}, None, None, None)
    proxy, verify = requests.utils.select_proxy(url, settings["proxies"]), settings["verify"]
    return proxy or "", verify if isinstance(verify, str) else ""


def bearer(token: str) -> Credential:
    return Auth.Token(token)


class AppKey:
    """The private key of an App, from its PEM. It is read once: to check such a key takes longer than to sign with it.

    Raises Unauthorised.
    """

    def __init__(self, pem: str) -> None:
        try:
            self._key = get_default_algorithms()[_ALGORITHM].prepare_key(pem)
        except (TypeError, ValueError, PyJWTError) as error:  # TypeError: it is encrypted
            raise _unusable() from error
        if not hasattr(self._key, "sign"):  # a public key
            raise _unusable()

    def proof(self, app_id: int, now: int) -> Credential:
        """What proves to be the App, for some minutes. `now` is GitHub's time in seconds. Raises Unauthorised."""
        payload = {"iat": now - _JWT_BEFORE, "exp": now + _JWT_LIFE, "iss": str(app_id)}
        try:
            return Auth.AppAuthToken(jwt.encode(payload, self._key, _ALGORITHM))
        except (TypeError, ValueError, PyJWTError) as error:
            raise _unusable() from error


def _unusable() -> Unauthorised:
    return Unauthorised(said="the private key of the App cannot be used")


def is_primary_limit(message: str) -> bool:
    return Requester.isPrimaryRateLimitError(message)


def is_secondary_limit(message: str) -> bool:
    return Requester.isSecondaryRateLimitError(message)
