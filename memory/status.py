"""When a lesson is validated: what it rests on, and who agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Final, assert_never

from memory.types import Drop, Ending, Evidence, LessonStatus, NotOurs, RunEnding, RunId, TicketId

NEGATIVE_LASTS: Final = timedelta(days=30)
"""How long a drop or not-ours is believed after it was last seen."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """One ending that a lesson rests on."""

    run: RunId
    ticket: TicketId
    author: str
    evidence: Evidence
    at: datetime


def sighting(ending: RunEnding) -> Sighting:
    return Sighting(run=ending.run, ticket=ending.ticket, author=ending.author, evidence=ending.evidence, at=ending.at)


def status_of(ending: Ending, sightings: Sequence[Sighting]) -> LessonStatus:
    """Validated by an exit status, a CI result or a maintainer; drop and not-ours only by agreement.

    Two runs agree when their tickets and their authors differ, both authors are known, and the earlier one had not
    expired when the later one was seen.
    """
    validated = _agreed(sightings) if _is_negative(ending) else any(_proves(one.evidence) for one in sightings)
    return LessonStatus.VALIDATED if validated else LessonStatus.PENDING


def _agreed(sightings: Sequence[Sighting]) -> bool:
    now = max((one.at for one in sightings), default=datetime.min.replace(tzinfo=UTC))
    fresh = [one for one in sightings if now - one.at < NEGATIVE_LASTS]
    return any(one.evidence is Evidence.MAINTAINER for one in fresh) or any(
        _agree(one, other) for one, other in combinations(fresh, 2)
    )


def _agree(one: Sighting, other: Sighting) -> bool:
    known = bool(one.author and other.author)
    return known and one.run != other.run and one.ticket != other.ticket and one.author != other.author


def _is_negative(ending: Ending) -> bool:
    return isinstance(ending, Drop | NotOurs)


def expiry(ending: Ending, last_seen: datetime) -> datetime | None:
    return last_seen + NEGATIVE_LASTS if _is_negative(ending) else None


def _proves(evidence: Evidence) -> bool:
    match evidence:
        case Evidence.EXIT_STATUS | Evidence.CI | Evidence.MAINTAINER:
            return True
        case Evidence.NONE:
            return False
        case _:
            assert_never(evidence)
