"""A patch that was merged while its run worked on another one: the run stands again where that patch went out."""

from __future__ import annotations

from bot.fix import fix_of
from bot.run import Run, RunState
from bot.stores import Stores
from memory.types import CommitId
from stages.repository import Repository


def stand_where_merged(stores: Stores, run: Run, repository: Repository, merged: CommitId) -> Run:
    """The open run, published, at the attempt whose patch is in the commit; at the last that went out where people
    changed it on the way. One that never published stays as it is. The caller holds it.
    """
    published = [
        (step.generation, step.attempt) for step in stores.steps.of(run.id) if step.name == "publish" and step.finished
    ]
    if not published:
        return run
    for generation, attempt in reversed(published):
        if _is_in(stores, stores.runs.stand_at(run.id, generation, attempt), repository, merged):
            break
    else:
        stores.runs.stand_at(run.id, *published[-1])
    run = stores.runs.set_state(run.id, RunState.PUBLISHED)
    fix = fix_of(stores.steps, run)
    return stores.runs.save_patch(run.id, fix.patch.diff) if fix else run


def _is_in(stores: Stores, run: Run, repository: Repository, merged: CommitId) -> bool:
    fix = fix_of(stores.steps, run)
    return fix is not None and repository.contains(merged, fix.patch)
