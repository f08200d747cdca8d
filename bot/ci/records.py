"""What earlier jobs left on the memory's branch, brought into the database of this one, and what this one adds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.ci.memory_branch import Change, MemoryBranch, Remembered
from bot.ci.standing import Standing, read_standing, stand, standing_text
from bot.course.course import Course
from bot.course.errand import Errand
from memory.log import merged, restore, written
from memory.types import LessonId
from stages.repository import Repository


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was there: how many endings, and the open run of the issue."""

    endings: int
    course: Course | None


class Records:
    """Of one errand. `repository` is its checkout."""

    def __init__(self, errand: Errand, repository: Repository, *, writes: bool = False) -> None:
        self._errand, self._repository = errand, repository
        self._branch = MemoryBranch(repository.git, lambda: errand.forge.remote(errand.ref, writes=writes))
        self._there = Remembered()

    def bring(self, there: Remembered | None = None) -> Found:
        """Write down here what the branch holds, as it was read just now. Raises RemoteFault and ForgeFault."""
        errand, there = self._errand, there or self._branch.read()
        self._there = there
        memory = errand.app.stores.memory
        restored = restore(memory, there.log, errand.scope)
        for lesson in sorted(there.forgotten):
            memory.retract(errand.scope, LessonId(lesson), errand.now())
        standing = open_runs(there).get(errand.number)
        place = str(self._repository.folder)
        course = stand(errand.app, standing, errand.scope, errand.ref, errand.number, place) if standing else None
        return Found(endings=restored.known, course=course)

    def runs_within(self, time: timedelta) -> int:
        """How many runs of the issue learnt something in this time, as the log that was brought knows it."""
        since, ticket = (self._errand.now() - time).isoformat(), self._errand.ticket
        found = (line for line in lines_of(self._there.log) if line.get("ticket") == ticket)
        return len({str(line.get("run")) for line in found if str(line["at"]) >= since})

    def keep(self, *, forgotten: frozenset[str] = frozenset(), aside: bool = False) -> None:
        """Add what this database knows of the issue's newest run: its endings, and how it stands.

        A job that works `aside` of another one of the issue leaves an open run to that one. Raises MemoryNotKept,
        RemoteFault and ForgeFault.
        """
        errand = self._errand
        course = next(iter(errand.courses.of_issue(errand.ref, errand.number)), None)
        if course is None:
            self._branch.add(Change(forgotten=forgotten))
            return
        run = errand.run(course.run)
        log = written(errand.app.stores.memory.endings(run.scope, run.id))
        text = standing_text(errand.app, run) if run.open else None
        runs = {} if aside and run.open else {errand.number: text}
        self._branch.add(Change(log=log, forgotten=forgotten, runs=runs))


def open_runs(there: Remembered) -> Mapping[int, Standing]:
    """How the open runs stand, by issue. One whose end is in the log is over, whatever a late job wrote beside it."""
    over = {str(line["run"]) for line in lines_of(there.log) if line.get("final") is True and "run" in line}
    read = ((number, read_standing(text)) for number, text in there.runs.items())
    return {number: one for number, one in read if one is not None and one.run.get("id") not in over}


def lines_of(log: str) -> Iterator[dict[str, Any]]:
    """What the lines of a log hold."""
    return (json.loads(line) for line in merged(log).splitlines())
