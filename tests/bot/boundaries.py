"""The boundaries of a run, before and after each thing that it writes down, and a process that takes it to the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bot.run import RunState
from bot.runs import RunStore
from bot.steps import StepStore
from memory.store import MemoryStore
from memory.types import RunId
from tests.bot.children import in_child
from tests.bot.kit import DIAGNOSED, TICKET, Bed, Script, lessons, silent, told, writes
from tests.bot.scenes import BREAKS_SANE

_BOUNDARIES: Final = ((StepStore, "start"), (StepStore, "finish"), (MemoryStore, "record"), (RunStore, "set_state"))


def script() -> Script:
    """A hold, then a pass; the answers are the same for every process."""
    return Script.of(develop=writes(text=BREAKS_SANE), diagnose=DIAGNOSED)


def act_at_the_next(seen: Path, act: Callable[[], object]) -> None:
    """Have this process act at the first boundary that is not written in the file: before or after a write."""
    known = set(seen.read_text().splitlines()) if seen.exists() else set[str]()
    acted = False

    def here(name: str) -> None:
        nonlocal acted
        if not acted and name not in known:
            acted = True
            with seen.open("a") as file:
                file.write(name + "\n")
            act()

    def wrapped(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(store: object, *given: Any, **more: Any) -> Any:
            if name == "record":
                what = f"record {type(given[0].ending).__name__} {given[0].final}"
            else:  # a run, and the name of a step or of a state
                what = f"{name} {given[1]} {more.get('attempt', '')}"
            if name != "start":  # there the step before has only just ended
                here(f"before {what}")
            result = real(store, *given, **more)
            here(f"after {what}")
            return result

        return call

    for store, name in _BOUNDARIES:
        setattr(store, name, wrapped(getattr(store, name), name))


def opened(ground: Bed) -> RunId:
    """A run that was written down by a process that is gone."""
    read, write = os.pipe()

    def begin() -> None:
        run = ground.app().open_run(TICKET, ground.repository, ground.repository.resolve())
        os.write(write, run.id.encode())

    in_child(begin)
    os.close(write)
    with os.fdopen(read) as told_id:
        return RunId(told_id.read())


def pursue(ground: Bed, run: RunId) -> None:
    """Take the run as far as it goes; one that waits is woken."""
    app = ground.app(script())
    found = app.stores.runs.get(run)
    app.pursue(app.retried(found) if found.state is RunState.PARKED else found, silent())


def what_came(ground: Bed, run: RunId) -> dict[str, Any]:
    app = ground.app()
    found = app.stores.runs.get(run)
    return {
        "state": found.state,
        "outcome": found.outcome,
        "endings": told(app, found),
        "lessons": sorted((type(lesson.ending).__name__, lesson.count) for lesson in lessons(app, found)),
        "branches": ground.git("for-each-ref", "--format=%(refname:short)", "refs/heads/ticketsmith"),
        "patch": found.patch,
        "file": app.publisher.path(found, "patch.diff").read_text(),
        "steps": sorted((step.name, step.attempt) for step in app.stores.steps.of(run) if step.finished),
    }
