"""A course: what GitHub knows of one run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.forge.types import Account, RepositoryRef
from memory.types import CommitId, RunId


class PullState(StrEnum):
    NONE = ""
    OPEN = "open"
    CLOSED_BY_US = "closed-by-us"
    CLOSED_BY_HUMAN = "closed-by-human"
    MERGED = "merged"


@dataclass(frozen=True, kw_only=True)
class Course:
    """One run on GitHub. `base` is the branch that its pull request is for; `pushed` the commit that we pushed last.

    `unchecked` is the commit of which the pull request says that nothing checks it.
    `actor` asked for it: with the label, or `commanded` by a comment. With `hands_off`, a person took the branch over.
    """

    run: RunId
    ref: RepositoryRef
    number: int
    actor: Account
    commanded: bool = False
    private: bool = True
    base: str = ""
    branch: str = ""
    pushed: CommitId | None = None
    pull: int | None = None
    pull_state: PullState = PullState.NONE
    hands_off: bool = False
    ci_rounds: int = 0
    ci_head: CommitId | None = None
    unchecked: CommitId | None = None
    merged: CommitId | None = None
    merged_at: datetime | None = None
