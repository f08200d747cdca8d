"""Where a patch goes on GitHub: which branch, on which commit, to which pull request; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bot.forge.types import OpenOrClosed, PullInfo
from memory.types import CommitId

BRANCHES_AT_MOST: Final = 50  # of one issue


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One of the names that an issue's branch may have, as GitHub shows it. `head` is None where there is no branch.

    `pulls` are the pull requests from it, the newest first.
    """

    name: str
    head: CommitId | None
    pulls: tuple[PullInfo, ...] = ()

    @property
    def open_pull(self) -> PullInfo | None:
        return next((pull for pull in self.pulls if pull.state is OpenOrClosed.OPEN), None)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What we know ourselves: the commits that we pushed, the pull requests that we closed, and whether a person asked
    us to come back.
    """

    pushed: frozenset[CommitId]
    closed: frozenset[int]
    asked: bool


@dataclass(frozen=True, kw_only=True)
class Place:
    """Push to `branch`, on top of `head` (None: a new branch); to the open pull request `pull`, or make a new one.

    `note` is what people should know of the choice.
    """

    branch: str
    head: CommitId | None
    pull: int | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class HandsOff:
    """A person pushed to our open pull request: it is theirs until they say otherwise."""

    branch: str
    pull: int


@dataclass(frozen=True, kw_only=True)
class StaysAway:
    """A person closed our pull request: it does not come back unless they ask."""

    pull: int


@dataclass(frozen=True)
class TryNext:
    """This name cannot be used; the next one may."""

    why: str = ""


Placing: TypeAlias = Place | HandsOff | StaysAway


def name_of(number: int, suffix: int) -> str:
    """The deterministic branch of an issue; further ones end with `-2`, `-3` and so on."""
    return f"ticketsmith/issue-{number}" + (f"-{suffix}" if suffix > 1 else "")


def placed(branch: Branch, known: Known, why: str = "") -> Placing | TryNext:
    """What to do with this name. `why` says why the names before it could not be used."""
    ours = branch.head in known.pushed
    if pull := branch.open_pull:
        if ours:
            return Place(branch=branch.name, head=branch.head, pull=pull.number, note=why)
        if known.asked:
            return TryNext(f"a person pushed to {branch.name}, so it was left as it is")
        return HandsOff(branch=branch.name, pull=pull.number)
    if any(pull.merged for pull in branch.pulls):
        return TryNext(f"the pull request from {branch.name} was merged")
    if branch.pulls and branch.pulls[0].number not in known.closed and not known.asked:
        return StaysAway(pull=branch.pulls[0].number)
    if branch.head is None or ours:
        return Place(branch=branch.name, head=branch.head, note=why)
    return TryNext(f"there is a branch {branch.name} with commits of others, which was left as it is")
