"""GitHub, read: one object for all of it."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.forge.addresses import web_of
from bot.forge.api import READING, Api
from bot.forge.apps import AppReads
from bot.forge.issues import IssueReads
from bot.forge.limits import Quota
from bot.forge.pulls import PullReads
from bot.forge.repositories import RepositoryReads
from bot.forge.tokens import GivenToken, Minter, Permissions, Tokens
from bot.forge.types import RepositoryRef
from bot.forge.wire import TIMEOUT_SECONDS, Wire
from stages.remote import Remote

PUSHING: Final[Permissions] = {"contents": "write"}


def utc_now() -> datetime:
    return datetime.now(UTC)


class Forge(IssueReads, PullReads, RepositoryReads, AppReads):
    """Reads of GitHub, each with a credential for one repository and for what it needs, tried again when it is away.

    `web` is where GitHub has its pages and its git.
    """

    def __init__(self, api: Api, *, web: str) -> None:
        self._api, self.web = api, web

    @classmethod
    def for_app(
        cls,
        *,
        app_id: int,
        key: str,
        base_url: str,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], None] = time.sleep,
        timeout: float = TIMEOUT_SECONDS,
        clock_is_wrong: Callable[[timedelta], None] = lambda _: None,
        learn: Callable[[str], None] = lambda _: None,
    ) -> Forge:
        """GitHub in the name of an App; `key` is its private key as PEM. `learn` is told of each token."""
        wire = Wire(base_url, clock=clock, timeout=timeout)
        minter = Minter(wire, app_id, key, clock=clock, clock_is_wrong=clock_is_wrong, learn=learn)
        return cls._with(wire, minter, sleep)

    @classmethod
    def for_token(
        cls,
        token: str,
        *,
        base_url: str,
        clock: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], None] = time.sleep,
        timeout: float = TIMEOUT_SECONDS,
    ) -> Forge:
        """GitHub with a token that was given to us, as in a CI job."""
        return cls._with(Wire(base_url, clock=clock, timeout=timeout), GivenToken(token), sleep)

    @classmethod
    def _with(cls, wire: Wire, tokens: Tokens, sleep: Callable[[float], None]) -> Forge:
        return cls(Api(wire, tokens, sleep=sleep), web=web_of(wire.base_url))

    @property
    def api(self) -> Api:
        """For the one writer, `bot.outbox`."""
        return self._api

    @property
    def requests(self) -> int:
        """How many requests were sent, those for tokens too."""
        return self._api.wire.requests

    def quota(self, installation: int) -> Quota | None:
        """What an installation has left of this hour's requests; None before its first answer."""
        return self._api.wire.limits.quota(installation)

    def remote(self, ref: RepositoryRef, *, writes: bool = False) -> Remote:
        """Where git reaches the repository, with a credential for it. Raises as the reads do."""
        token = self._api.tokens.token(ref.installation, ref.id, PUSHING if writes else READING)
        proof = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        proxy, authorities = self._way()
        return Remote(
            url=f"{self.web}/{ref.full_name}.git",
            header=f"Authorization: Basic {proof}",
            proxy=proxy,
            authorities=authorities,
        )

    def _way(self) -> tuple[str, str]:
        """git goes the way that all other requests go."""
        from bot.forge.pygithub import way_to

        return way_to(self.web)

    def renew(self, remote: Remote) -> bool:
        """GitHub refused the credential of a remote. True when `remote` will give another one."""
        proof = remote.header.rpartition(" ")[2]
        return self._api.tokens.refused(base64.b64decode(proof).decode().removeprefix("x-access-token:"))
