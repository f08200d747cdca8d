"""Whether anything checks what we pushed: where CI keeps silent, the pull request says so, until it does not.

A check is a check run of another App, GitHub Actions among them. Statuses of commits are not read: an App needs a
permission of its own for them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.course.course import Course, PullState
from bot.course.errand import Errand
from bot.course.evidence import gather
from bot.course.points import CourseStep
from bot.course.pull import mode_of, put_pull
from bot.engine.outcome import Outcome, Settled, Waits
from bot.job import JobKind, NewJob, Unchecked
from bot.run import Run, RunState
from memory.types import CommitId
from stages.repository import Repository

BEGIN_WITHIN: Final = timedelta(minutes=5)
LOOKED_FOR: Final = timedelta(days=3)
_FOLDER: Final = ".github/workflows"
# Events that a push to our branch, or a pull request from it, may start a workflow with. A word in a comment will do:
# then the pull request says for a while what a person can see to be wrong.
_STARTED_BY_US: Final = re.compile(rb"\b(?:push|pull_request(?:_target)?)\b")


def watch_checks(errand: Errand, course: Course) -> None:
    """Have it looked at later whether checks began on what was pushed; once for each commit."""
    assert course.pull is not None
    assert course.pushed is not None
    errand.jobs.wish(
        NewJob(
            kind=JobKind.CHECKS,
            ref=errand.ref,
            number=course.number,
            subject=f"unchecked:{errand.ref.id}:{course.pushed}",
            actor=None,
            at=errand.now(),
            data=Unchecked(pull=course.pull, head=course.pushed),
        )
    )


class Silence:
    """Looks at one commit, again and again, ever less often."""

    def __init__(self, errand: Errand) -> None:
        self._errand = errand

    def look(self, course: Course | None, data: Unchecked) -> Outcome:
        """Raises the errors of `bot.forge.errors` and `bot.outbox.errors`."""
        run = self._errand.run(course.run) if course else None
        if course is None or run is None or not _is_out(run, course, data.head):
            return Settled(outcome="it is not the newest commit of an open pull request")
        now, at = self._errand.now(), self._errand.job.at
        if now < at + BEGIN_WITHIN:
            return Waits(until=at + BEGIN_WITHIN, why="checks may begin")
        head = CommitId(data.head)
        if self._is_checked(head):
            self._say(run, course, None)
            return Settled(outcome="checks began")
        if course.unchecked != head and not self._is_to_be_checked(run):
            return Settled(outcome="nothing checks this repository")
        self._say(run, course, head)
        if now - at >= LOOKED_FOR:
            return Settled(outcome="nothing checks it")
        return Waits(until=now + max(BEGIN_WITHIN, (now - at) / 4), why="nothing checks it yet")

    def _is_checked(self, commit: CommitId) -> bool:
        checks = self._errand.forge.checks(self._errand.ref, commit)
        return any(one.app_id != self._errand.app_id for one in checks)

    def _is_to_be_checked(self, run: Run) -> bool:
        """Whether the repository has workflows for it, or its base was checked by somebody."""
        repository = Repository.open(Path(run.place))
        texts = [text for end in (".yml", ".yaml") for text in repository.read_all(run.base, _FOLDER, end).values()]
        return any(_STARTED_BY_US.search(text) for text in texts) or self._is_checked(run.base)

    def _say(self, run: Run, course: Course, unchecked: CommitId | None) -> None:
        """Have the pull request say it, or no longer; what it says already is said no second time."""
        errand, shown = self._errand, replace(course, unchecked=unchecked)
        if course.unchecked == unchecked:
            return

        def effect() -> None:
            evidence = gather(errand.app.stores, run)
            put_pull(errand, run, shown, evidence, mode_of(errand, shown, evidence), there=True)
            errand.courses.change(run.id, unchecked=unchecked)  # last: what was said twice is there once

        errand.steps.each_time(CourseStep.SILENCE, effect)


def _is_out(run: Run, course: Course, head: str) -> bool:
    return (
        run.state is RunState.PUBLISHED
        and course.pushed == head
        and course.pull_state is PullState.OPEN
        and not course.hands_off
    )
