"""Where GitHub's deliveries arrive: nothing is looked at before its signature, nothing answered before it is kept."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from typing import Final, TypeAlias
from uuid import UUID

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from bot.inbox import Inbox, NotKept
from bot.intake import EVENTS, Event, Own, arrival_of, decide
from bot.job import Added, Arrival, Decision
from bot.log import Log
from bot.metrics import CONTENT_TYPE, Metrics
from bot.payload_json import NoPayload, payload_of

PATH: Final = "/webhook"
JSON: Final = "application/json"
BODY_AT_MOST: Final = 26 * 1024 * 1024  # bytes; GitHub itself sends 25 MB at most
BODIES_AT_MOST: Final = 64 * 1024 * 1024  # bytes of all bodies that are being read
READ_SECONDS: Final = 8.0  # GitHub gives up after 10 s
KEEP_SECONDS: Final = 7.0  # from the last byte to the disk, or 503
_LARGE: Final = 256 * 1024  # bytes from which a body is parsed beside the loop, one at a time

_SIGNATURE = re.compile(r"sha256=([0-9a-f]{64})")
_GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EVENT = re.compile(r"[a-z_]{1,64}")
_NUMBER = re.compile(r"[0-9]{1,18}")

_Head: TypeAlias = Mapping[str, Sequence[str]]
"""Headers by their names in small letters; one that is sent twice has two values."""


class Refused(Exception):
    """A delivery gets no further. `why` is of ours, and is all that the sender is told."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True)
class _Answer:
    status: int
    event: str
    decision: str


@dataclass(frozen=True, kw_only=True)
class Door:
    """What stands behind the routes."""

    secrets: tuple[bytes, ...]
    own: Own
    inbox: Inbox
    metrics: Metrics
    log: Log
    now: Callable[[], datetime]
    ready: Callable[[], bool]  # whether the database answers
    read_seconds: float = READ_SECONDS
    keep_seconds: float = KEEP_SECONDS
    body_at_most: int = BODY_AT_MOST
    bodies_at_most: int = BODIES_AT_MOST


def webhook_app(door: Door) -> Router:
    """The routes of the server: one takes deliveries, two tell how it does."""
    webhooks = Webhooks(door)
    # A bare router: the layers of a whole application cost a delivery as much as its signature does.
    return Router(
        routes=[
            Route(PATH, webhooks, methods=["POST"]),
            Route("/healthz", webhooks.health, methods=["GET"]),
            Route("/metrics", webhooks.figures, methods=["GET"]),
        ]
    )


class Webhooks:
    """The endpoints."""

    def __init__(self, door: Door) -> None:
        self._door, self._reading = door, 0
        self._large = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a delivery: 202 for one that is kept, 200 for one that was; else why not."""
        began = time.monotonic()
        try:
            answer = await self._receive(_head(scope), receive)
            response = Response(status_code=answer.status)
        except Refused as refused:
            answer = _Answer(refused.status, "", "refused")
            # What is left of the body is not read: the connection cannot be used again.
            response = PlainTextResponse(refused.why + "\n", refused.status, {"connection": "close"})
            self._door.log.warning("delivery refused", status=refused.status, why=refused.why)
        self._door.metrics.answered(answer.event, answer.status, answer.decision, time.monotonic() - began)
        await response(scope, receive, send)

    async def health(self, _: Request) -> Response:
        alive = self._door.inbox.alive and await run_in_threadpool(self._door.ready)
        return PlainTextResponse("ok\n" if alive else "the database does not answer\n", 200 if alive else 503)

    async def figures(self, _: Request) -> Response:
        gauges = {"deliveries_waiting": self._door.inbox.waiting, "body_bytes": self._reading}
        return Response(self._door.metrics.text(gauges), media_type=CONTENT_TYPE)

    async def _receive(self, head: _Head, receive: Receive) -> _Answer:
        signature = _signature(head)
        body = await self._read(head, receive)
        try:
            digest = self._verified(signature, body)
            arrival, decision = await self._decided(head, body, digest)
        finally:
            self._reading -= len(body)
        event = arrival.event if arrival.event in EVENTS else "other"
        added = await self._kept(arrival, decision)
        self._door.log.info(
            "delivery",
            id=UUID(arrival.id),
            of=event,
            action=arrival.action,
            decision=decision.reason,
            became=added.value,
        )
        return _Answer(200 if added is Added.REPEATED else 202, event, decision.reason.partition(":")[0])

    async def _read(self, head: _Head, receive: Receive) -> bytearray:
        """The body, as long as it is small enough and comes fast enough. What it takes is counted in `_reading`."""
        length = _first(head, "content-length")
        if length.isdecimal() and int(length[:12]) > self._door.body_at_most:
            raise Refused(413, "too large")
        body = bytearray()
        try:
            async with asyncio.timeout(self._door.read_seconds):
                while await self._read_on(body, receive):
                    pass
        except TimeoutError as error:
            self._reading -= len(body)
            raise Refused(408, "too slow") from error
        except Refused:
            self._reading -= len(body)
            raise
        return body

    async def _read_on(self, body: bytearray, receive: Receive) -> bool:
        """The next part of the body; whether more is to come."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the connection was closed")
        part = message.get("body", b"")
        body += part
        self._reading += len(part)
        if len(body) > self._door.body_at_most:
            raise Refused(413, "too large")
        if self._reading > self._door.bodies_at_most:
            raise Refused(503, "too much at once")
        return bool(message.get("more_body"))

    def _verified(self, signature: bytes, body: bytearray) -> str:
        """The digest of a body that one of our secrets has signed. Every secret is tried, in the same time."""
        matching = [
            hmac.compare_digest(hmac.digest(secret, body, "sha256"), signature) for secret in self._door.secrets
        ]
        if not any(matching):
            raise Refused(401, "the signature is wrong")
        return hashlib.sha256(body).hexdigest()

    async def _decided(self, head: _Head, body: bytearray, digest: str) -> tuple[Arrival, Decision]:
        guid = _only(head, "x-github-delivery", _GUID)
        name = _only(head, "x-github-event", _EVENT)
        _check_type(head)
        app = _NUMBER.fullmatch(_first(head, "x-github-hook-installation-target-id"))
        is_app = _first(head, "x-github-hook-installation-target-type") == "integration"
        event = Event(
            name=name,
            payload=await self._payload(body),
            received=self._door.now(),
            app=int(app[0]) if app and is_app else None,
        )
        return arrival_of(event, guid.lower(), digest), decide(event, self._door.own)

    async def _payload(self, body: bytearray) -> dict[str, object]:
        try:
            if len(body) <= _LARGE:
                return payload_of(body)
            async with self._large:
                return await run_in_threadpool(payload_of, body)
        except NoPayload as error:
            raise Refused(400, str(error)) from error

    async def _kept(self, arrival: Arrival, decision: Decision) -> Added:
        try:
            kept = self._door.inbox.put(arrival, decision)
            async with asyncio.timeout(self._door.keep_seconds):
                return await kept
        except (TimeoutError, NotKept) as error:
            # GitHub shows it as failed, and it is sent again: by a person, or by our own look at failed deliveries.
            raise Refused(503, "it cannot be kept now") from error


def _head(scope: Scope) -> _Head:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return found


def _first(head: _Head, name: str) -> str:
    """The value of a header, the first of several; empty where there is none."""
    return head[name][0] if name in head else ""


def _only(head: _Head, name: str, form: re.Pattern[str]) -> str:
    given = head.get(name, ())
    if len(given) != 1 or not form.fullmatch(given[0]):
        raise Refused(400, f"{name} is not as it should be")
    return given[0]


def _signature(head: _Head) -> bytes:
    """The one signature that a delivery must carry, by SHA-256. Anything else, SHA-1 too, is none."""
    given = head.get("x-hub-signature-256", ())
    found = _SIGNATURE.fullmatch(given[0]) if len(given) == 1 else None
    if found is None:
        raise Refused(401, "there is no signature by SHA-256")
    return bytes.fromhex(found[1])


def _check_type(head: _Head) -> None:
    given = _first(head, "content-type")
    if "content-encoding" in head or (given != JSON and not _is_json(given)):
        raise Refused(415, "only JSON in UTF-8 is taken")


def _is_json(content_type: str) -> bool:
    message = Message()
    message["content-type"] = content_type
    charset = message.get_param("charset", "utf-8")
    return message.get_content_type() == JSON and isinstance(charset, str) and charset.lower() in ("utf-8", "utf8")
