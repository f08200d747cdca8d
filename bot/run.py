"""A run as the bot knows it: its state, its ticket, and what came of it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.types import CommitId, DropCause, RunId, Scope, TicketId
from stages.agents.limits import Spent
from stages.errors import ParkCause
from stages.ticket import Ticket


class RunState(StrEnum):
    WORKING = "working"  # begun, or interrupted: `runs retry` goes on from the last step
    PARKED = "parked"  # waits for something outside
    PUBLISHED = "published"  # a patch went out; open until it is verified or dropped
    ENDED = "ended"  # has its final ending


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a run begins with. `place` is where its repository stands on this machine.

    `id` is one that was told to people before; without it, the run gets a new one.
    """

    scope: Scope
    ticket: Ticket
    base: CommitId
    place: str
    model: str = ""
    level: str = ""  # of the sandbox
    attempts: int | None = None  # at most, where the call said so
    sandbox: str = ""  # the level that the call asked for
    actor: str = ""  # who triggered it, by an id that nobody can choose; "" when nobody is known
    id: RunId | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run as it stands in the tables. `outcome` is its final ending in words, such as `drop: budget`."""

    id: RunId
    scope: Scope
    ticket: Ticket
    state: RunState
    generation: int
    attempt: int
    base: CommitId
    place: str
    model: str
    level: str
    created: datetime
    updated: datetime
    attempts_at_most: int | None = None  # where the call that began it said so
    sandbox: str = ""  # the level that this call asked for
    actor: str = ""  # who triggered it; "" when nobody is known
    park_cause: ParkCause | None = None
    park_reason: str = ""
    memory_version: int | None = None  # the one that the run reads; None before it is pinned
    branch: str = ""
    commit: CommitId | None = None  # what the branch points at
    patch: str = ""
    patch_intact: bool = True  # False when scrubbing changed the stored text: it cannot be applied
    outcome: str = ""
    stop_requested: bool = False
    stop_cause: DropCause = DropCause.STOPPED  # why it is to end, once that was asked for
    wake: datetime | None = None  # when a parked run is taken up again; None when a person has to
    epoch: int = 0  # rises each time that a process takes the run: what an earlier one still sends is refused
    spent: Spent = field(default_factory=Spent)

    @property
    def open(self) -> bool:
        return self.state is not RunState.ENDED


@dataclass(frozen=True, kw_only=True)
class RequeueNote:
    """What a person said when sending a ticket back."""

    scope: Scope
    ticket: TicketId
    text: str
    author: str
    at: datetime
    read_by: RunId | None = None
    read_in_attempt: int | None = None


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One step of a run; `finished` is None while it works, or when it was interrupted."""

    name: str
    attempt: int
    generation: int
    started: datetime
    finished: datetime | None = None
