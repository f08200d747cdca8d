"""What code knows about a run → the endings that memory is given; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from bot.run import Run
from memory.slots import hashed
from memory.types import (
    CheckId,
    CommitId,
    Drop,
    Edit,
    Ending,
    EndingId,
    ErrorSignature,
    Evidence,
    Hold,
    HoldCause,
    NotOurs,
    PassAfterHold,
    PathAt,
    Refix,
    RunEnding,
    RunId,
    Scope,
    TicketId,
    Verify,
)
from stages.patch import Patch


@dataclass(frozen=True, kw_only=True)
class About:
    """What all endings of a run have in common."""

    scope: Scope
    run: RunId
    ticket: TicketId
    author: str
    base: CommitId
    environment: str
    signatures: tuple[ErrorSignature, ...]

    @classmethod
    def of(cls, run: Run, signatures: Iterable[ErrorSignature], environment: str = "") -> About:
        return cls(
            scope=run.scope,
            run=run.id,
            ticket=run.ticket.id,
            author=run.ticket.author,
            base=run.base,
            environment=environment,
            signatures=tuple(signatures),
        )

    def ending(
        self,
        ending: Ending,
        *,
        at: datetime,
        final: bool,
        evidence: Evidence,
        paths: tuple[PathAt, ...] = (),
        refers_to: EndingId | None = None,
    ) -> RunEnding:
        return RunEnding(
            scope=self.scope,
            run=self.run,
            ticket=self.ticket,
            author=self.author,
            ending=ending,
            final=final,
            commit=self.base,
            at=at,
            evidence=evidence,
            environment=self.environment,
            signatures=self.signatures,
            paths=paths,
            refers_to=refers_to,
        )


def of_known_names(ending: Ending, is_file: Callable[[str], bool], is_check: Callable[[CheckId], bool]) -> Ending:
    """The ending with a hash for each file and test that the base does not have: a model chose that name."""

    def checks(ids: tuple[CheckId, ...]) -> tuple[CheckId, ...]:
        return tuple(test if is_check(test) else CheckId(hashed(test)) for test in ids)

    match ending:
        case Drop():
            return ending
        case NotOurs():
            return replace(ending, proof=checks(ending.proof))
        case _:
            pass
    edits = tuple(edit if is_file(edit.path) else replace(edit, path=hashed(edit.path)) for edit in ending.edits)
    match ending:
        case Hold():
            return replace(ending, edits=edits, failing=checks(ending.failing))
        case Refix():
            now, still = checks(ending.now_passing), checks(ending.still_failing)
            return replace(ending, edits=edits, now_passing=now, still_failing=still)
        case PassAfterHold():
            return replace(ending, edits=edits)
        case Verify():
            return replace(ending, edits=edits, checks=checks(ending.checks))
        case _:
            assert_never(ending)


def evidence_of(hold: Hold) -> Evidence:
    """A check's exit status is evidence; what the policy says of a diff is not."""
    seen = hold.cause is HoldCause.CHECK and (hold.exit_status is not None or bool(hold.failing))
    return Evidence.EXIT_STATUS if seen else Evidence.NONE


def refix(
    attempt: int, held: Patch, patch: Patch, was_failing: tuple[CheckId, ...], passes: Collection[CheckId]
) -> Refix:
    """How an attempt differs from the held one, and what became of the checks that held it.

    What was not run, or did not end, does not count as passing.
    """
    return Refix(
        attempt=attempt,
        edits=new_edits(held, patch),
        now_passing=tuple(check for check in was_failing if check in passes),
        still_failing=tuple(check for check in was_failing if check not in passes),
    )


def new_edits(held: Patch, patch: Patch) -> tuple[Edit, ...]:
    """Edits of a patch that the held one did not have, in its order; the place of an edit does not make it new."""
    known = {(edit.path, edit.digest) for edit in held.edits}
    return tuple(edit for edit in patch.edits if (edit.path, edit.digest) not in known)
