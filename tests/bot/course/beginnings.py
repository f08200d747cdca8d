"""What happened in towns before tests look at them: each is kept, and costs a test a copy."""

from __future__ import annotations

from typing import Final

import pytest

from bot.course.points import CourseStep, Moment, Reached
from tests.bot.course.kept import Beginning
from tests.bot.course.town import Town
from tests.bot.kit import NOTHING, Script
from tests.github_server.state import Issue


class Broken(Exception):
    """What a process dies of."""


def dies_at(step: CourseStep) -> Reached:
    def reached(here: CourseStep, moment: Moment) -> None:
        if here is step and moment is Moment.BEFORE_EFFECT:
            raise Broken

    return reached


def passes(town: Town) -> Issue:
    """An issue whose patch passed the gate, in a process that died before anything of it went out."""
    issue = town.labelled()
    town.reached = dies_at(CourseStep.PLACE)
    with pytest.raises(Broken):
        town.drain()
    return issue


def changes_nothing() -> Script:
    return Script.of(develop=NOTHING)


DROPPED: Final = Beginning(happens=Town.solved, script=changes_nothing)
"""An issue that was given up, for the model changed nothing."""
PASSED: Final = Beginning(happens=passes)
"""`Town.go_on` is the next process, which brings the patch to GitHub."""
