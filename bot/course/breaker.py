"""A breaker: where tickets of one repository fail alike in a row, its work is paused, and then tried by one job; pure.

What is counted says something of the surroundings: a token, a model, a sandbox, a permission. A ticket that was given
up for what it is counts as well done: it came through all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from bot.course.parking import Parking
from bot.run import Run, RunState
from memory.types import DropCause, EndingKind
from stages.errors import ParkCause

PAUSE: Final = timedelta(minutes=10)
"""How long the first pause is; each try that fails doubles it."""
PAUSE_AT_MOST: Final = timedelta(hours=4)
_DOUBLINGS_AT_MOST: Final = 16  # far beyond the longest pause
TRIES_WITHIN: Final = timedelta(hours=2)
"""A job that tries and is not heard of for so long is given up for lost, and another one tries."""
LOOK_AGAIN: Final = timedelta(minutes=5)  # a person may end the pause earlier

_OF_ONE_TICKET: Final = frozenset({ParkCause.BRANCH, ParkCause.BUDGET})
"""What keeps others back has other causes; `bot.walls` stops what would cost too much by itself."""
_MODEL_FORMAT: Final = f"{EndingKind.DROP}: {DropCause.MODEL_FORMAT}"
_BY_OTHERS: Final = frozenset(
    f"{EndingKind.DROP}: {cause}"
    for cause in (
        DropCause.STOPPED,
        DropCause.CLOSED_BY_HUMAN,
        DropCause.MOVED,
        DropCause.DELETED,
        DropCause.SUPERSEDED,
    )
)


class Came(Enum):
    """What a run came to, seen from its repository."""

    THROUGH = "through"  # to an end that is its own
    NOWHERE = "nowhere"  # somebody ended it: that says nothing


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """`tickets` are those that failed in a row of one `cause`, each once. `since` is when the pause began, None where
    there is none; at `until` one job tries. `probe` is that job, `by` the ticket whose failure began the pause.
    """

    cause: str = ""
    tickets: tuple[int, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    tries: int = 0
    by: int = 0
    probe: int | None = None
    told: bool = False

    @property
    def paused(self) -> bool:
        return self.since is not None

    def failed(self, cause: str, ticket: int, job: int, now: datetime, at_most: int) -> Breaker:
        """A ticket failed. In a pause only the try counts."""
        if self.paused:
            if self.probe != job:
                return self
            wait = min(PAUSE * 2 ** min(self.tries + 1, _DOUBLINGS_AT_MOST), PAUSE_AT_MOST)
            return replace(self, cause=cause, tries=self.tries + 1, until=now + wait, probe=None)
        tickets = self.tickets if cause == self.cause else ()
        tickets = tickets if ticket in tickets else (*tickets, ticket)
        found = replace(self, cause=cause, tickets=tickets)
        return found if len(tickets) < at_most else replace(found, since=now, until=now + PAUSE, by=ticket)

    def tried_by(self, job: int, now: datetime, *, asked: bool) -> Breaker:
        """The job tries, when its time has come or a person asked for it; else it is as it was."""
        if not self.paused or self.probe == job or not (asked or self._is_time(now)):
            return self
        return replace(self, probe=job, until=now + TRIES_WITHIN)

    def let_go(self, job: int, now: datetime) -> Breaker:
        """The job's try said nothing: the next one may try at once."""
        return replace(self, probe=None, until=now) if self.probe == job else self

    def _is_time(self, now: datetime) -> bool:
        return self.until is None or now >= self.until


def cause_of(parking: Parking) -> str:
    """What would keep other tickets back as well; empty where it is this ticket alone."""
    return "" if parking.personal or parking.cause in _OF_ONE_TICKET else parking.cause.value


def came_of(run: Run) -> Came | str:
    """What a run that goes no further came to; a text names what kept it back, and would keep others back."""
    match run.state:
        case RunState.ENDED if run.outcome == _MODEL_FORMAT:
            return _MODEL_FORMAT
        case RunState.ENDED if run.outcome in _BY_OTHERS:
            return Came.NOWHERE
        case RunState.ENDED | RunState.PUBLISHED:
            return Came.THROUGH
        case _:
            return Came.NOWHERE


_SAID: Final[Mapping[str, str]] = {
    ParkCause.TOKEN: "a credential is missing or refused",
    ParkCause.RATE_LIMIT: "GitHub or the model's provider takes no more requests",
    ParkCause.MODEL: "the model does not answer",
    ParkCause.SANDBOX: "there is no sandbox",
    ParkCause.ENVIRONMENT: "its checks cannot run",
    ParkCause.DISK: "the disk is full",
    ParkCause.MEMORY: "memory cannot be read",
    ParkCause.BASE_GONE: "the commits that runs stand on are gone",
    ParkCause.PERMISSION: "GitHub does not let this App do it",
    ParkCause.RULESET: "a rule of the repository refuses the branch",
    ParkCause.PROGRAM: "this program has a fault",
    _MODEL_FORMAT: "the model's answers cannot be read",
}


def said(cause: str) -> str:
    """What keeps the tickets back, in words."""
    return _SAID.get(cause) or f"no run can begin ({cause})"
