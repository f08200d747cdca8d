"""An event as it came, and what every decision about it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

from bot.forge.types import GHOST, Account, AccountKind, RepositoryRef
from bot.intake.payloads import AccountPart, InstallationPart, RepositoryPart
from bot.job import Arrival, Decision, JobData, JobKind, NewJob
from memory.errors import Told

Read = TypeVar("Read", bound=BaseModel)

_ACTION: Final = re.compile(r"[a-z_]{1,64}")
_BRANCH: Final = re.compile(r"ticketsmith/issue-([1-9][0-9]{0,17})(?:-[0-9a-z]{1,20})?")


class Unreadable(Told):
    """The payload cannot be read: {reason}"""


@dataclass(frozen=True, kw_only=True)
class Own:
    """Who we are: what starts a run here, and whose events are our own.

    `bot` is the account that our comments show; `installation` stands in where a payload names none.
    """

    label: str = "ticketsmith"
    app: int | None = None
    bot: int | None = None
    allowed_bots: frozenset[int] = frozenset()
    installation: int | None = None


@dataclass(frozen=True, kw_only=True)
class Event:
    """`payload` is what the JSON held, unchecked. `app` is the App that the delivery was meant for."""

    name: str
    payload: Mapping[str, object]
    received: datetime
    app: int | None = None
    _parts: dict[str, BaseModel] = field(default_factory=dict, init=False, repr=False, compare=False)  # read before

    @property
    def action(self) -> str:
        action = self.payload.get("action")
        return action if isinstance(action, str) and action.isidentifier() and len(action) <= 64 else ""

    def read(self, kind: type[Read], key: str) -> Read:
        """A part of the payload. Raises Unreadable."""
        part = self.maybe(kind, key)
        if part is None:
            raise Unreadable(reason=f"{key} is missing")
        return part

    def maybe(self, kind: type[Read], key: str) -> Read | None:
        """A part that may be missing or null. Raises Unreadable."""
        value = self.payload.get(key)
        if value is None:
            return None
        if isinstance(known := self._parts.get(key), kind):
            return known
        try:
            part = kind.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join([key, *(str(one) for one in first["loc"])])
            raise Unreadable(reason=f"{place[:100]}: {first['type']}") from error
        self._parts[key] = part
        return part

    def ref(self, own: Own) -> RepositoryRef:
        """The repository that it is about. Raises Unreadable."""
        return self.read(RepositoryPart, "repository").ref(self.installation(own))

    def installation(self, own: Own) -> int:
        """Raises Unreadable when it names none, and nothing stands in."""
        part = self.maybe(InstallationPart, "installation")
        if part is not None:
            return part.id
        if own.installation is None:
            raise Unreadable(reason="installation is missing")
        return own.installation

    @property
    def sender(self) -> Account | None:
        part = self.maybe(AccountPart, "sender")
        return part.account() if part else None


def arrival_of(event: Event, guid: str, digest: str) -> Arrival:
    """What is kept of a delivery, whatever can be read of it."""
    return Arrival(
        id=guid,
        event=event.name,
        action=event.action,
        digest=digest,
        received=event.received,
        installation=_id(event, "installation"),
        repository=_id(event, "repository"),
        sender=_id(event, "sender"),
    )


def _id(event: Event, key: str) -> int | None:
    part = event.payload.get(key)
    number = part.get("id") if isinstance(part, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63 else None


def ignored(reason: str) -> Decision:
    return Decision(reason=f"ignored: {reason}")


def asked(
    event: Event,
    own: Own,
    kind: JobKind,
    data: JobData,
    *,
    subject: str,
    number: int = 0,
    actor: Account | None = None,
    at: datetime | None = None,
) -> Decision:
    """A job of the event's repository; by its sender and when it arrived, where nothing else is known."""
    job = NewJob(
        kind=kind,
        ref=event.ref(own),
        number=number,
        subject=subject,
        actor=actor or event.sender,
        at=at.astimezone(UTC) if at else event.received,
        data=data,
    )
    return Decision(reason=f"{kind.value}: {event.name} {event.action}".strip(), job=job)


def is_no_person(account: Account | None, own: Own) -> str:
    """Why what this account wants is not looked at; empty for people, and for bots that were allowed by number.

    A name proves nothing: a person may be called like a bot, and a bot like a person.
    """
    if account is None or account.id == GHOST.id:
        return "nobody sent it"
    if own.bot is not None and account.id == own.bot:
        return "we did it ourselves"
    if account.kind is AccountKind.USER or account.id in own.allowed_bots:
        return ""
    return "a bot sent it that is not allowed" if account.kind is AccountKind.BOT else "no person sent it"


def issue_of_branch(branch: str | None) -> int | None:
    """The issue of a branch that has a name of ours."""
    found = _BRANCH.fullmatch(branch or "")
    return int(found[1]) if found else None
