"""What a run waits for when GitHub does not let it go on, and when it is taken up again by itself; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.course.errors import NoLongerAllowed, RuleRefusesPush
from bot.forge.errors import Archived, Forbidden, ForgeFault, RateLimited, Rejected, Unauthorised, Unreachable
from bot.outbox.errors import Leaks, NotArrived
from memory.errors import Told
from stages.errors import ParkCause
from stages.remote import RemoteFault, RemoteRefused, RemoteUnreachable

_WAKES: Final[Mapping[ParkCause, timedelta]] = {
    ParkCause.RATE_LIMIT: timedelta(minutes=5),
    ParkCause.TOKEN: timedelta(minutes=10),
    ParkCause.MODEL: timedelta(minutes=10),
    ParkCause.MEMORY: timedelta(minutes=10),
    ParkCause.DISK: timedelta(minutes=30),
    ParkCause.SANDBOX: timedelta(hours=1),
}
"""What passes by itself, or is mended without a word to us. Everything else waits for a person to say so."""


@dataclass(frozen=True, kw_only=True)
class Parking:
    """`until` is None where a person has to act first. What is `personal` hangs on who asked, and keeps nobody else
    back.
    """

    cause: ParkCause
    reason: str
    until: datetime | None = None
    personal: bool = False


def wake_of(cause: ParkCause | None, now: datetime) -> datetime | None:
    """When a run that waits for this is taken up again."""
    wait = _WAKES.get(cause) if cause else None
    return now + wait if wait else None


def parking_of(fault: Told, now: datetime) -> Parking | None:
    """What this fault makes a run wait for; None where it is no reason to wait."""
    reason = " ".join(str(fault).split())
    match fault:
        case RateLimited():
            return Parking(cause=ParkCause.RATE_LIMIT, reason=reason, until=fault.until)
        case Unreachable() | RemoteUnreachable():
            return Parking(cause=ParkCause.RATE_LIMIT, reason=reason, until=now + timedelta(minutes=2))
        case Unauthorised() | RemoteRefused():
            return Parking(cause=ParkCause.TOKEN, reason=reason, until=wake_of(ParkCause.TOKEN, now))
        case RuleRefusesPush():
            return Parking(cause=ParkCause.RULESET, reason=reason)
        case NoLongerAllowed():
            return Parking(cause=ParkCause.PERMISSION, reason=reason, personal=True)
        case Forbidden() | Archived():
            return Parking(cause=ParkCause.PERMISSION, reason=reason)
        case Rejected() | NotArrived() | Leaks():
            return Parking(cause=ParkCause.PROGRAM, reason=reason)
        case ForgeFault() | RemoteFault():
            return Parking(cause=ParkCause.PERMISSION, reason=reason)
        case _:
            return None
