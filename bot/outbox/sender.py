"""How one thing is sent: written down, tried once, looked for when nobody knows, and read back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from bot.forge.errors import Unreachable
from bot.forge.github import Forge
from bot.forge.tokens import Permissions
from bot.forge.types import Account, RepositoryRef
from bot.outbox.lane import Lane
from bot.outbox.ledger import Effect, Kind, Ledger
from bot.outbox.marker import Markers
from bot.outbox.words import Words

Found = TypeVar("Found")

SHOWN_AFTER_SECONDS: Final = 1.0  # GitHub's lists are a little behind
ON_ITS_WAY_SECONDS: Final = 5.0  # at most, for a request whose sender is gone
ISSUES: Final[Permissions] = {"issues": "write"}
PULLS: Final[Permissions] = {"pull_requests": "write"}
CHECKS: Final[Permissions] = {"checks": "write"}
CONTENTS: Final[Permissions] = {"contents": "write"}


class Alone:
    """One thread at a time for each key: two that want the same thing sent must not both find that it is not there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, threading.RLock] = {}

    def __call__(self, effect: Effect) -> threading.RLock:
        with self._lock:
            return self._held.setdefault(effect.key, threading.RLock())


@dataclass(frozen=True, kw_only=True)
class Sender:
    """What all kinds of effects share. `me` is the account that we write as; None where it is not known."""

    forge: Forge
    ledger: Ledger
    markers: Markers
    words: Words
    lane: Lane
    me: int | None
    alone: Alone = field(default_factory=Alone)

    def effect(
        self, run: str, step: str, ref: RepositoryRef, subject: object, kind: Kind, *, ordinal: int = 0
    ) -> Effect:
        """An effect with its key."""
        key = self.markers.key(run, step, ref, str(subject), ordinal)
        return Effect(key=key, run=run, step=step, kind=kind, ref=ref, subject=str(subject))

    def is_me(self, account: Account) -> bool:
        return self.me is None or account.id == self.me

    def write(
        self, ref: RepositoryRef, verb: str, path: str, *, what: str, needs: Permissions, body: object = None
    ) -> Any:
        """One request, in its turn. Raises as `Api.write`."""
        with self.lane.turn(ref.installation):
            return self.forge.api.write(ref, verb, path, what=what, needs=needs, body=body)

    def once(self, look: Callable[[], Found | None], make: Callable[[], Found], *, fresh: bool) -> Found:
        """What `make` gives. Where nobody knows whether it is there already, `look` is asked first.

        Raises Unreachable when it is not there after two tries.
        """
        if not fresh:
            # What a process sent in the moment of its death may still be on its way.
            self.lane.rest(ON_ITS_WAY_SECONDS)
            if (found := look()) is not None:
                return found
        try:
            return make()
        except Unreachable:
            self.lane.rest(SHOWN_AFTER_SECONDS)
            if (found := look()) is not None:
                return found
        try:
            return make()
        except Unreachable:
            self.lane.rest(SHOWN_AFTER_SECONDS)
            if (found := look()) is not None:
                return found
            raise
