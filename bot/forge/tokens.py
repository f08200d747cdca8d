"""Credentials: made for one repository and for what is needed there, kept in memory alone, never told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from bot.forge.errors import AppSuspended, Forbidden, NotThere, Rejected, Unauthorised, Unreachable
from bot.forge.wire import Answer, Question, Wire

if TYPE_CHECKING:
    from bot.forge.pygithub import AppKey, Credential

KEPT_AT_MOST: Final = timedelta(minutes=45)  # GitHub's tokens live an hour
LEFT_AT_LEAST: Final = timedelta(minutes=10)
SKEW_AT_LEAST: Final = timedelta(seconds=5)

Permissions = Mapping[str, str]


class Tokens(Protocol):
    """Where credentials come from."""

    def token(self, installation: int, repository: int | None, permissions: Permissions, /) -> str:
        """A token for this repository alone (None: for all of the installation), with these permissions."""
        ...

    def refused(self, token: str, /) -> bool:
        """GitHub refused it. True when another one can be had."""
        ...


class GivenToken:
    """One token that was given to us, such as GITHUB_TOKEN in a CI job."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self, _installation: int, _repository: int | None, _permissions: Permissions, /) -> str:
        return self._token

    def refused(self, _token: str, /) -> bool:
        return False

    def __repr__(self) -> str:
        return "GivenToken()"


@dataclass(frozen=True, kw_only=True)
class _Kept:
    value: str = field(repr=False)
    installation: int
    repository: int | None
    permissions: Permissions
    until: datetime

    def covers(self, installation: int, repository: int | None, wanted: Permissions) -> bool:
        """True when it may do what is wanted, and writes nothing but what is wanted."""
        if (self.installation, self.repository) != (installation, repository):
            return False
        if any(level == "write" and wanted.get(name) != "write" for name, level in self.permissions.items()):
            return False
        return all(self.permissions.get(name) in (level, "write") for name, level in wanted.items())


class Minter:
    """Makes tokens in the name of the App; `key` is its private key as PEM.

    `skew` is how far GitHub's clock is ahead of ours, as far as it mattered; `clock_is_wrong` is told of it.
    `learn` is told of each token before anything is done with it.
    """

    def __init__(
        self,
        wire: Wire,
        app_id: int,
        key: str,
        *,
        clock: Callable[[], datetime],
        clock_is_wrong: Callable[[timedelta], None] = lambda _: None,
        learn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._learn = learn
        self._wire, self._app_id, self._key, self._clock = wire, app_id, key, clock
        self._clock_is_wrong = clock_is_wrong
        self.skew = timedelta()
        self._kept: list[_Kept] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Minter(app_id={self._app_id})"

    def token(self, installation: int, repository: int | None, permissions: Permissions) -> str:
        """A token of at most 45 minutes of age, for one repository, with these permissions and no more.

        Raises Unauthorised, Forbidden, AppSuspended, NotThere, RateLimited and Unreachable.
        """
        wanted = dict(permissions) if permissions != {"metadata": "read"} else {}
        with self._lock:
            self._kept = [one for one in self._kept if one.until > self._clock()]
            found = next((one for one in self._kept if one.covers(installation, repository, wanted)), None)
        if found:
            return found.value
        made = self._made(installation, repository, permissions)
        self._learn(made.value)
        with self._lock:
            self._kept.append(made)
        return made.value

    def refused(self, token: str) -> bool:
        with self._lock:
            self._kept = [one for one in self._kept if one.value != token]
        return True

    def as_app(self, question: Question) -> Answer:
        """An answer to the App itself. Where GitHub's clock and ours differ, asked once more with GitHub's time."""
        answer = self._wire.ask(question, self._signed())
        if answer.status == 401 and self._clock_differs(answer):
            answer = self._wire.ask(question, self._signed())
        return answer

    def _clock_differs(self, answer: Answer) -> bool:
        if answer.date is None:
            return False
        skew = answer.date - self._clock()
        if abs(skew - self.skew) < SKEW_AT_LEAST:
            return False
        self.skew = skew
        self._clock_is_wrong(skew)
        return True

    def _signed(self) -> Credential:
        return self._app_key.proof(self._app_id, int((self._clock() + self.skew).timestamp()))

    @cached_property
    def _app_key(self) -> AppKey:
        from bot.forge.pygithub import AppKey

        return AppKey(self._key)

    def _made(self, installation: int, repository: int | None, permissions: Permissions) -> _Kept:
        body: dict[str, Any] = {"permissions": dict(permissions)}
        if repository is not None:
            body["repository_ids"] = [repository]
        question = Question(
            verb="POST",
            path=f"/app/installations/{installation}/access_tokens",
            what=f"installation {installation}",
            permission=_named(permissions),
            installation=installation,
            body=body,
        )
        answer = self._asked_again(question)
        if answer.status >= 400:
            raise self._fault(question, answer, permissions)
        ends = datetime.fromisoformat(str(answer.data["expires_at"])).astimezone(UTC) - self.skew
        return _Kept(
            value=str(answer.data["token"]),
            installation=installation,
            repository=repository,
            permissions=dict(permissions),
            until=min(self._clock() + KEPT_AT_MOST, ends - LEFT_AT_LEAST),
        )

    def _asked_again(self, question: Question) -> Answer:
        """A token that was made and got lost on the way does no harm: it is simply made again, once."""
        try:
            answer = self.as_app(question)
        except Unreachable:
            return self.as_app(question)
        return answer if answer.status < 500 else self.as_app(question)

    def _fault(self, question: Question, answer: Answer, permissions: Permissions) -> Exception:
        if answer.status == 404 and "integration" in answer.message.lower():
            return Unauthorised(said=answer.message)
        if answer.status == 404:
            return AppSuspended(installation=question.installation, said=answer.message)
        fault = self._wire.fault(question, answer)
        if isinstance(fault, Rejected) and "permission" in answer.message.lower():
            return Forbidden(permission=self._missing(question.installation, permissions), said=answer.message)
        if isinstance(fault, Rejected):
            return NotThere(what="the repository in this installation")
        return fault

    def _missing(self, installation: int, permissions: Permissions) -> str:
        """Those of the permissions that the installation has not granted."""
        question = Question(
            verb="GET",
            path=f"/app/installations/{installation}",
            what=f"installation {installation}",
            permission="",
            installation=installation,
        )
        answer = self.as_app(question)
        granted = answer.data.get("permissions", {}) if answer.status == 200 else {}
        missing = {
            name: level for name, level in permissions.items() if granted.get(name) not in (level, "write", "admin")
        }
        return _named(missing or permissions)


def _named(permissions: Permissions) -> str:
    return ", ".join(f"{name}: {level}" for name, level in sorted(permissions.items())) or "metadata: read"
