"""The failure that a ticket shows, and what memory is asked with because of it."""

from __future__ import annotations

from datetime import datetime

from memory.signature import RepoView, headline, signatures
from memory.types import CommitId, ErrorSignature, Scope
from stages.case import Asking
from stages.errors import StageError
from stages.report import CheckReport, Reproduction
from stages.repository import Repository
from stages.ticket import Ticket
from stages.view import view_of

__all__ = ["asking_of", "both", "signatures_at", "signatures_of", "signatures_of_red", "view_of"]


def signatures_of(ticket: Ticket, view: RepoView) -> tuple[ErrorSignature, ...]:
    """The signatures of a ticket's alert."""
    return tuple(signatures(ticket.title, ticket.text, view))


def signatures_at(ticket: Ticket, repository: Repository, commit: CommitId) -> tuple[ErrorSignature, ...]:
    """The same, seen from a commit; without a view where the repository cannot be read any more."""
    try:
        view = view_of(repository.files(commit))
    except StageError:
        view = RepoView()
    return signatures_of(ticket, view)


def signatures_of_red(red: CheckReport, reproduction: Reproduction, view: RepoView) -> tuple[ErrorSignature, ...]:
    """The signatures of what the red reproduction printed."""
    texts = [test.text for test in red.outcomes if test.id == reproduction.test] or [red.output]
    return tuple(signatures("", "\n".join(texts), view))


def both(alert: tuple[ErrorSignature, ...], red: tuple[ErrorSignature, ...]) -> tuple[ErrorSignature, ...]:
    """The alert's signatures, and those that the red output adds."""
    keys = {key for signature in alert for key in signature.keys.values()}
    return (*alert, *(signature for signature in red if not keys >= set(signature.keys.values())))


def asking_of(
    scope: Scope, at: datetime, found: tuple[ErrorSignature, ...], environment: str, rule: str = "auto"
) -> Asking:
    """What memory is asked with; `at` is when the run began."""
    return Asking(
        scope=scope,
        at=at,
        headline=headline(found[0]) if found else "",
        signatures=found,
        environment=environment,
        rule=rule,
    )
