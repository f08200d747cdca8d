"""Exit statuses, and the sentence with which the program leaves when it cannot go on."""

from __future__ import annotations

from typing import Final

from bot.errors import BotError
from memory.database import DatabaseFault, DatabaseFull, DatabaseLocked
from memory.errors import Told
from stages.agents.model import NoModel, UnknownPrice
from stages.errors import Parked, Refused
from stages.git import GitMissing
from stages.repository import RepositoryFault

WITHOUT_PATCH: Final = 1
UNUSABLE: Final = 2  # the call, or what it stands on, cannot be used
PARKED: Final = 75  # EX_TEMPFAIL of sysexits: try again later
INTERRUPTED: Final = 130


def exit_status_of(error: Told) -> int:
    """What the program ends with after this error."""
    match error:
        case BotError():
            return error.exit_status
        case Parked() | DatabaseLocked() | DatabaseFull():
            return PARKED
        case DatabaseFault() | RepositoryFault() | NoModel() | UnknownPrice() | GitMissing() | Refused():
            return UNUSABLE
        case _:
            return WITHOUT_PATCH


def sentence(error: Told) -> str:
    """The error on one line; of a parked run, what it waits for."""
    return " ".join((error.reason if isinstance(error, Parked) else str(error)).split())
