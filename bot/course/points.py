"""The steps of a job, and the places at which a process may die in each: tests name them, nobody else does."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeAlias


class CourseStep(StrEnum):
    """What a job does, one step after the other. Each is harmless when it is done again."""

    ADMIT = "admit"  # may this be done, and on what text
    IDENTITY = "identity"  # the id that the run will have
    ANNOUNCE = "announce"  # the status comment
    MARK = "mark"  # the label
    ANSWER = "answer"  # to a command
    RULES = "rules"  # that would refuse our branch
    MIRROR = "mirror"  # the repository, fetched
    OPEN = "open"  # the run, written down
    SEND_BACK = "send-back"
    STOP = "stop"  # that this job ends the run
    PURSUE = "pursue"  # the run itself, whose own steps are in its tables
    PLACE = "place"  # which branch, and which commit
    PUSH = "push"
    PULL = "pull"
    CHECK = "check"
    WATCH = "watch"  # that it is looked at later whether checks began
    SILENCE = "silence"  # what the pull request says of checks that did not
    COUNT = "count"  # what the run came to, seen from its repository
    JUDGE = "judge"  # the patch where it was merged
    CLOSE = "close"  # our own pull request
    DELETE = "delete"  # our own branch
    TELL = "tell"  # the status comment, last


OWN_RECORD: Final = frozenset(
    {
        CourseStep.MARK,
        CourseStep.ANSWER,
        CourseStep.OPEN,
        CourseStep.PURSUE,
        CourseStep.WATCH,
        CourseStep.SILENCE,
        CourseStep.COUNT,
        CourseStep.JUDGE,
        CourseStep.TELL,
    }
)
"""Steps whose effect is their record, or that show how things stand now: they are done each time."""


class Moment(StrEnum):
    """Where in a step."""

    BEFORE_EFFECT = "before-effect"
    AFTER_EFFECT = "after-effect"
    AFTER_RECORD = "after-record"


Reached: TypeAlias = Callable[[CourseStep, Moment], None]
"""Is told each place as it is reached; a test ends the process there."""


def nothing(_: CourseStep, __: Moment) -> None:
    """Nobody looks."""
