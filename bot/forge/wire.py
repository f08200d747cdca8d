"""One request to GitHub, one answer, and what an answer means that is none."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from bot.forge.errors import (
    AppSuspended,
    Archived,
    Forbidden,
    ForgeFault,
    Gone,
    Locked,
    Moved,
    NotThere,
    Rejected,
    Unauthorised,
    Unreachable,
    said_by_github,
)
from bot.forge.limits import Limits, Quota

if TYPE_CHECKING:
    from bot.forge.pygithub import Credential

TIMEOUT_SECONDS: Final = 30.0  # without a byte from GitHub
_ERRORS_AT_MOST: Final = 5  # of one refusal that are told


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: `what` names it for people, `permission` is what it needs."""

    verb: str
    path: str
    what: str
    permission: str
    installation: int
    query: Mapping[str, str] | None = None
    body: object = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """`next_page` and `last_page` are from GitHub's `Link` header."""

    status: int
    data: Any
    headers: Mapping[str, str]

    @property
    def message(self) -> str:
        """GitHub's words for a refusal."""
        if not isinstance(self.data, dict):
            return ""
        told = [str(self.data.get("message", ""))]
        errors = self.data.get("errors")
        for error in errors[:_ERRORS_AT_MOST] if isinstance(errors, list) else []:
            if isinstance(error, dict):
                told.append(str(error.get("message") or " ".join(str(error.get(key, "")) for key in ("field", "code"))))
            else:
                told.append(str(error))
        return said_by_github("; ".join(part for part in told if part.strip()))

    @property
    def date(self) -> datetime | None:
        """GitHub's clock."""
        try:
            return parsedate_to_datetime(self.headers.get("date", "")).astimezone(UTC)
        except ValueError:
            return None


class Wire:
    """A base address: `https://api.github.com` or an Enterprise server's `…/api/v3`.

    `requests` counts what was sent.
    """

    def __init__(self, base_url: str, *, clock: Callable[[], datetime], timeout: float = TIMEOUT_SECONDS) -> None:
        self.base_url, self._clock, self._timeout = base_url.rstrip("/"), clock, timeout
        self.limits = Limits(clock)
        self.requests = 0
        self._lines = threading.local()

    def ask(self, question: Question, credential: Credential | None) -> Answer:
        """One request, whatever its answer says.

        Raises RateLimited without a request while none may be sent, Unreachable where no answer came or one that is no
        JSON, and `pygithub.Redirected`.
        """
        self.limits.check(question.installation)
        self.requests += 1
        status, headers, text = self._line().ask(
            question.verb, question.path, credential, question.query, question.body
        )
        try:
            data = json.loads(text) if text else None
        except ValueError:
            if status < 500:
                raise Unreachable(said=f"status {status}, and no JSON") from None
            data = None
        answer = Answer(status=status, data=data, headers=headers)
        if status < 400:
            wrote = question.verb != "GET" and question.path.startswith("/repo")
            self.limits.went_well(question.installation, _quota(answer, self._clock()), wrote=wrote)
        return answer

    def fault(self, question: Question, answer: Answer) -> ForgeFault:
        """What an answer with an error status means."""
        said = answer.message or f"status {answer.status}"
        match answer.status:
            case 401:
                return Unauthorised(said=said)
            case 403 | 429:
                return self._refused(question, answer, said)
            case 404:
                return NotThere(what=question.what)
            case 410:
                return Gone(what=question.what, said=said)
            case status if status >= 500 or status == 408:
                return Unreachable(said=said)
            case _:
                return Rejected(said=f"{said} ({question.verb} {question.path})")

    def graphql_fault(self, question: Question, answer: Answer) -> ForgeFault | None:
        """GraphQL tells its refusals in an answer with status 200. None where there is none."""
        data = answer.data if isinstance(answer.data, dict) else {}
        errors = data.get("errors") or []
        if not errors:
            return None if data.get("data") else Unreachable(said="an answer without data")
        kinds = {str(error.get("type", "")) for error in errors if isinstance(error, dict)}
        if "RATE_LIMITED" in kinds:
            return self.limits.primary(question.installation, self._until_reset(answer), answer.message)
        if "FORBIDDEN" in kinds or "INSUFFICIENT_SCOPES" in kinds:
            return Forbidden(permission=question.permission, said=answer.message)
        if kinds & {"STALE_DATA", "UNPROCESSABLE"}:
            return Rejected(said=answer.message)
        return NotThere(what=question.what) if "NOT_FOUND" in kinds else Unreachable(said=answer.message)

    def _refused(self, question: Question, answer: Answer, said: str) -> ForgeFault:
        from bot.forge import pygithub

        installation, retry_after = question.installation, answer.headers.get("retry-after", "")
        wait = timedelta(seconds=int(retry_after)) if retry_after.isdecimal() else None
        message = str(answer.data.get("message", "")) if isinstance(answer.data, dict) else ""
        if pygithub.is_primary_limit(message) or (answer.headers.get("x-ratelimit-remaining") == "0" and not wait):
            return self.limits.primary(installation, self._until_reset(answer), said)
        if wait or answer.status == 429 or pygithub.is_secondary_limit(message) or "abuse detection" in message:
            return self.limits.secondary(installation, wait, said)
        lower = message.lower()
        if "suspended" in lower:
            return AppSuspended(installation=installation, said=said)
        if "is locked" in lower:
            return Locked(what=question.what)
        if "archived" in lower:
            return Archived()
        return Forbidden(permission=question.permission, said=said)

    def _until_reset(self, answer: Answer) -> timedelta:
        """By GitHub's own clock: ours may be wrong."""
        reset = answer.headers.get("x-ratelimit-reset", "")
        if not reset.isdecimal():
            return timedelta(minutes=1)
        return datetime.fromtimestamp(int(reset), UTC) - (answer.date or self._clock())

    def _line(self) -> Any:
        """The connection of this thread."""
        # Imported here: it takes a tenth of a second and brings requests with it.
        from bot.forge.pygithub import Line

        if not hasattr(self._lines, "line"):
            self._lines.line = Line(self.base_url, seconds=self._timeout)
        return self._lines.line


def moved(question: Question, location: str) -> Moved:
    return Moved(what=question.what, to=said_by_github(location) or "nowhere")


def _quota(answer: Answer, now: datetime) -> Quota | None:
    left, of, reset = (answer.headers.get(f"x-ratelimit-{name}", "") for name in ("remaining", "limit", "reset"))
    if not (left.isdecimal() and of.isdecimal() and reset.isdecimal()):
        return None
    wait = datetime.fromtimestamp(int(reset), UTC) - (answer.date or now)
    return Quota(left=int(left), of=int(of), until=now + wait)
