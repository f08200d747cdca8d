"""The exit status and the sentence with which the program leaves when it cannot go on."""

from __future__ import annotations

from bot.errors import BotError
from bot.exits import PARKED, UNUSABLE, WITHOUT_PATCH
from memory.database import DatabaseFault, DatabaseFull, DatabaseLocked
from memory.errors import Told
from stages.agents.model import NoModel, UnknownPrice
from stages.errors import Parked, Refused
from stages.git import GitMissing
from stages.repository import RepositoryFault


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
