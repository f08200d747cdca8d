"""The history of the bot's own pull requests on GitHub → endings that memory has not been told of yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.alert import signatures_of
from bot.endings import About, of_known_names
from bot.forge.github import Forge
from bot.forge.types import AccountKind, CheckInfo, OpenOrClosed, PullInfo, RepositoryRef, ReviewState
from bot.sources import default_commit
from memory.signature import RepoView
from memory.types import (
    CheckId,
    CommitId,
    Drop,
    DropCause,
    Edit,
    Ending,
    Evidence,
    Hold,
    HoldCause,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Verify,
    VerifyOutcome,
    Where,
)
from stages.history import edits_since
from stages.repository import Repository
from stages.ticket import Ticket

_OURS: Final = re.compile(r"ticketsmith/issue-([1-9][0-9]{0,17})(?:-[0-9]{1,3})?")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What one pull request tells, oldest first; the final ending, if it has one, is the last."""

    pull: int
    issue: int
    endings: tuple[RunEnding, ...]


class Backfill:
    """Reads one repository. `me` is the account that we act as, `app_id` our App: None where that is not known."""

    def __init__(
        self, forge: Forge, ref: RepositoryRef, repository: Repository, scope: Scope, *,
        me: int | None, app_id: int | None, known: Callable[[int], bool] = lambda _: False,
    ) -> None:  # fmt: skip
        """`known` tells which pull requests memory has been told of."""
        self._forge, self._ref, self._repository, self.scope = forge, ref, repository, scope
        self._me, self._app, self._known = me, app_id, known
        self._base = default_commit(repository)

    def read(self) -> Iterator[Told]:
        """What our pull requests tell. Raises the errors of `bot.forge.errors`."""
        for pull in reversed(self._forge.pulls(self._ref)):
            found = _OURS.fullmatch(pull.head_ref)
            own = pull.head_repository_id == self._ref.id and self._me in (None, pull.author.id)
            if found and own and not self._known(pull.number):
                endings = tuple(self._endings(pull, int(found[1])))
                yield Told(pull=pull.number, issue=int(found[1]), endings=endings)

    def _endings(self, pull: PullInfo, number: int) -> Iterator[RunEnding]:
        issue = self._forge.issue(self._ref, number)
        ticket = Ticket(
            id=TicketId(f"issue:{number}"), title=issue.title, body=issue.body, author=issue.author.login, number=number
        )
        about = About(
            scope=self.scope,
            run=RunId(f"pull-{self._ref.id}-{pull.number}"),
            ticket=ticket.id,
            author=ticket.author,
            base=CommitId(pull.head_sha),
            environment="",
            signatures=signatures_of(ticket, RepoView()),
        )
        at = self._forge.issue(self._ref, pull.number).updated
        edits = edits_since(self._repository, self._base, CommitId(pull.head_sha))
        for ending, evidence in self._held(pull, edits):
            yield about.ending(self._named(ending), at=at, final=False, evidence=evidence)
        if final := self._final(pull, edits):
            yield about.ending(self._named(final[0]), at=at, final=True, evidence=final[1])

    def _named(self, ending: Ending) -> Ending:
        """With a hash for each file that the repository does not have, and for the names of GitHub's checks."""
        return of_known_names(ending, lambda path: self._repository.blob(self._base, path) is not None, lambda _: False)

    def _held(self, pull: PullInfo, edits: tuple[Edit, ...]) -> Iterator[tuple[Ending, Evidence]]:
        """What people with a say and CI had against it."""
        if self._changes_were_asked_for(pull):
            yield Hold(where=Where.REVIEW, cause=HoldCause.FINDING, attempt=1, edits=edits), Evidence.MAINTAINER
        red = tuple(CheckId(one.name) for one in self._checks(pull.head_sha) if one.failed)
        if red:
            yield Hold(where=Where.CI, cause=HoldCause.CHECK, attempt=1, failing=red, edits=edits), Evidence.CI

    def _final(self, pull: PullInfo, edits: tuple[Edit, ...]) -> tuple[Ending, Evidence] | None:
        if pull.merged and pull.merge_commit:
            return self._verified(CommitId(pull.merge_commit), edits)
        if pull.state is OpenOrClosed.OPEN:
            return None
        closed_by = self._forge.pull(self._ref, pull.number).closed_by
        if closed_by is None or closed_by.kind is not AccountKind.USER:
            return None  # we closed it ourselves: why, is not told there
        return Drop(cause=DropCause.CLOSED_BY_HUMAN), Evidence.NONE

    def _verified(self, merge: CommitId, edits: tuple[Edit, ...]) -> tuple[Ending, Evidence]:
        """Checks of the merge commit came after it; without them, or with red ones, nothing is known of the patch."""
        checks = self._checks(merge)
        green = tuple(CheckId(one.name) for one in checks if one.conclusion == "success")
        if green and len(green) == len(checks):
            return Verify(outcome=VerifyOutcome.WORKED, edits=edits, checks=green, commit=merge), Evidence.CI
        return Verify(outcome=VerifyOutcome.UNVERIFIED, edits=edits, commit=merge), Evidence.NONE

    def _checks(self, sha: str) -> tuple[CheckInfo, ...]:
        return tuple(one for one in self._forge.checks(self._ref, sha) if one.app_id is None or one.app_id != self._app)

    def _changes_were_asked_for(self, pull: PullInfo) -> bool:
        asking = [
            one.author
            for one in self._forge.reviews(self._ref, pull.number)
            if one.state is ReviewState.CHANGES_REQUESTED and one.author.kind is AccountKind.USER
        ]
        return any(self._forge.permission(self._ref, account).writes for account in dict.fromkeys(asking))
