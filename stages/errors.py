"""What can go wrong while a model is asked and its answer is judged."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from memory.errors import Told


class StageError(Told):
    """A stage could not do its work."""


class UnreadableAnswer(StageError):
    """The model's answer cannot be used: {reason}"""


class Refused(StageError):
    """{reason}"""


class DoesNotFit(Refused):
    """The patch does not fit: {reason}"""


class TooLarge(Refused):
    """{reason}"""


class LimitReached(StageError):
    """The run used up its {limit}: {spent} of {allowed}."""


class LedgerSilent(StageError):
    """Nobody says whether this call may be paid for, so that it is not made."""


class NoPython(StageError):
    """The interpreter of a folder's tests cannot be used."""


class Stopped(StageError):
    """The run was stopped."""


class ParkCause(StrEnum):
    """What a parked run waits for."""

    TOKEN = "token"  # noqa: S105 - no password
    RATE_LIMIT = "rate-limit"
    MODEL = "model"
    SANDBOX = "sandbox"
    ENVIRONMENT = "environment"
    DISK = "disk"
    MEMORY = "memory"
    BASE_GONE = "base-gone"
    BRANCH = "branch"  # another branch is in the way of ours
    PERMISSION = "permission"  # GitHub does not let us do it
    RULESET = "ruleset"  # a rule of the repository refuses our branch
    BUDGET = "budget"  # what may be spent in a day is spent
    PROGRAM = "program"  # a fault of ours: it waits for a version that mends it


class Parked(StageError):
    """The run waits ({cause}): {reason}"""

    def __init__(self, *, cause: ParkCause, reason: str, wake: datetime | None = None) -> None:
        super().__init__(cause=cause.value, reason=reason)
        self.cause, self.reason, self.wake = cause, reason, wake

    def __reduce__(self) -> tuple[object, ...]:
        return _parked, (self.cause, self.reason, self.wake)


def _parked(cause: ParkCause, reason: str, wake: datetime | None) -> Parked:
    return Parked(cause=cause, reason=reason, wake=wake)
