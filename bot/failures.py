"""What a run saw fail: its alert and its red reproduction, compared as failures are compared now."""

from __future__ import annotations

from bot.alert import both, signatures_of, signatures_of_red, view_of
from bot.errors import NoSuchRun
from bot.fix import fix_of
from bot.run import Run
from bot.steps import StepStore
from bot.stores import Stores
from memory.recomputing import Recomputed
from memory.signature import RepoView
from memory.types import CommitId, ErrorSignature, RunId, Scope
from stages.repository import Repository


def failures_of(steps: StepStore, run: Run, view: RepoView) -> tuple[ErrorSignature, ...]:
    """The signatures of a run's ticket, and of what its reproduction printed, as far as that is kept."""
    fix = fix_of(steps, run)
    red = signatures_of_red(fix.red, fix.reproduction, view) if fix and fix.red else ()
    return both(signatures_of(run.ticket, view), red)


def renew_keys(stores: Stores, scope: Scope, repository: Repository, commit: CommitId) -> Recomputed | None:
    """Give lessons that were learnt under another algorithm of signatures keys of this one, once; else None.

    Their runs' tickets and outputs are read again; a lesson whose runs are gone keeps the keys that it has. Raises
    RepositoryFault and the errors of `memory.database`.
    """
    known: list[RepoView] = []

    def seen(run: RunId) -> tuple[ErrorSignature, ...]:
        if not known:
            known.append(view_of(repository.files(commit)))
        try:
            found = stores.runs.get(run)
        except NoSuchRun:
            return ()
        return failures_of(stores.steps, found, known[0]) if found.scope == scope else ()

    return stores.memory.recompute(scope, stores.now(), seen)
