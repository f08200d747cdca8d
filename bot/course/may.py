"""Whether a run may still act: asked before what goes out, from what GitHub says at this moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.course.admission import is_labelled, permission_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.errors import MayNotAct, NoLongerAllowed
from bot.forge.errors import Gone, Moved, NotThere
from bot.forge.types import OpenOrClosed
from memory.types import DropCause

ASKED_EVERY_SECONDS: Final = 15.0
"""So long one answer counts. Two requests before each effect would use up the budget of a run."""


@dataclass
class May:
    """Of one run of one job."""

    errand: Errand
    every_seconds: float = ASKED_EVERY_SECONDS
    clock: Callable[[], float] = time.monotonic
    _asked: float | None = None

    def act(self, course: Course) -> None:
        """Raises MayNotAct, NoLongerAllowed, the errors of `Fence.check` and those of `bot.forge.errors`."""
        self.errand.fence.check(course.run)
        now = self.clock()
        if self._asked is not None and now - self._asked < self.every_seconds:
            return
        self._look(course)
        self._asked = now

    def _look(self, course: Course) -> None:
        errand = self.errand
        try:
            issue = errand.forge.issue(errand.ref, course.number)
        except Moved as moved:
            raise MayNotAct(why="the issue was moved", cause=DropCause.MOVED) from moved
        except (Gone, NotThere) as gone:
            if isinstance(gone, Gone) and gone.issues_disabled:
                raise MayNotAct(why="issues were switched off", cause=DropCause.STOPPED) from gone
            raise MayNotAct(why="the issue is gone", cause=DropCause.DELETED) from gone
        if issue.state is not OpenOrClosed.OPEN:
            raise MayNotAct(why="the issue was closed", cause=DropCause.CLOSED_BY_HUMAN)
        if not course.commanded and not is_labelled(issue, errand.settings.label):
            raise MayNotAct(why="the label was taken away", cause=DropCause.STOPPED)
        if not permission_of(errand, course.actor).writes:
            raise NoLongerAllowed(login=course.actor.login)
