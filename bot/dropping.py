"""The end of a run that nobody works on: stopped, or with the ground taken from under it."""

from __future__ import annotations

from pathlib import Path

from bot.alert import signatures_at, signatures_of
from bot.bench import clear
from bot.closing import write_down
from bot.endings import About
from bot.run import Run
from bot.stores import Stores
from memory.signature import RepoView
from memory.types import Drop, DropCause, ErrorSignature, Evidence
from stages.repository import Repository, RepositoryFault


def drop(stores: Stores, run: Run, cause: DropCause) -> Run:
    """The run, ended, without its clones. The caller holds it; one that is over stays as it is."""
    if run.open:
        about = About.of(run, _signatures(run))
        write_down(stores, about.ending(Drop(cause=cause), at=stores.now(), final=True, evidence=Evidence.NONE))
    clear(stores.work, run)
    return stores.runs.get(run.id)


def _signatures(run: Run) -> tuple[ErrorSignature, ...]:
    try:
        return signatures_at(run.ticket, Repository.open(Path(run.place)), run.base)
    except RepositoryFault:
        return signatures_of(run.ticket, RepoView())
