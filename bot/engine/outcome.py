"""What became of a job that was taken."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from bot.job import Job


@dataclass(frozen=True, kw_only=True)
class Settled:
    """It is over; `outcome` says how, in code's words."""

    outcome: str


@dataclass(frozen=True)
class ToWork:
    """It was received and answered; now a run has to be worked on, when it is the repository's turn."""


@dataclass(frozen=True, kw_only=True)
class Waits:
    """It waits for something outside, and is taken again at `until`."""

    until: datetime
    why: str


Outcome: TypeAlias = Settled | ToWork | Waits


class Taking(Protocol):
    """What works on jobs. All of it is harmless when it is done again, in any process."""

    def receive(self, job: Job) -> Outcome:
        """Admit and answer a job, without long work."""

    def work(self, job: Job) -> Outcome:
        """Do the long work of a job that was received."""

    def progress(self, job: Job) -> int:
        """How many steps of the job and of its run are finished."""

    def bury(self, job: Job, why: str) -> None:
        """Give a job up, and tell people."""
