"""The check run on our own commits: what the gate saw, and that another attempt is being made.

There is none before our first commit. A check run belongs to a commit, and the only one that is there then is the
newest of the default branch: a check that is under way would stand beside everybody's work, and hold up whoever waits
for all checks of that branch. Until then the status comment says what is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.evidence import Evidence
from bot.course.outcomes import said
from bot.course.points import CourseStep
from bot.course.texts import gate_lines
from bot.outbox.types import CheckStatus, Conclusion
from bot.run import Run, RunState
from memory.types import CommitId, RunId


@dataclass(frozen=True, kw_only=True)
class Begun:
    """That another attempt was begun, shown on this commit."""

    run: RunId
    head: CommitId


_BEGUN: Final = TypeAdapter(Begun)
_NUMBER: Final = TypeAdapter(int)
_AGAIN: Final = "again"
_OVER: Final = "over"


class CheckRun:
    """Of the run of one job."""

    def __init__(self, errand: Errand) -> None:
        self._errand = errand

    def passed(self, run: Run, course: Course, evidence: Evidence) -> None:
        """The gate let our newest commit pass. Raises as the outbox does."""
        commit = course.pushed
        assert commit is not None, "it was pushed"
        lines = ["What code saw of the patch:", "", *gate_lines(evidence)]

        def effect() -> int:
            errand = self._errand
            return errand.outbox.check(
                run.id, errand.ref, commit, CheckStatus.COMPLETED, Conclusion.SUCCESS, "The gate passed",
                "\n".join(lines), issue=course.number,
            )  # fmt: skip

        self._errand.once(CourseStep.CHECK, _NUMBER, effect, of=commit)

    def begin(self, run: Run, course: Course) -> None:
        """Another attempt is made: our newest commit shows that something is under way. Once for each job."""
        head = course.pushed
        if head is None or course.hands_off:
            return

        def effect() -> Begun:
            why = "The patch was sent back, and another attempt is being made. What comes of it stands here then."
            self._put(run.id, head, CheckStatus.IN_PROGRESS, None, "Another attempt is being made", why)
            return Begun(run=run.id, head=head)

        self._errand.once(CourseStep.CHECK, _BEGUN, effect, of=_AGAIN)

    def settle(self) -> None:
        """What was begun is over, whatever came of it: no check of ours is left under way."""
        begun = self._errand.steps.kept(CourseStep.CHECK, _BEGUN, of=_AGAIN)
        if begun is None:
            return
        run, course = self._errand.run(begun.run), self._errand.courses.of(begun.run)

        def effect() -> int:
            title, more = _came_of(run, course, begun.head)
            return self._put(begun.run, begun.head, CheckStatus.COMPLETED, Conclusion.NEUTRAL, title, more)

        self._errand.once(CourseStep.CHECK, _NUMBER, effect, of=_OVER)

    def _put(
        self, run: RunId, head: CommitId, status: CheckStatus, conclusion: Conclusion | None, title: str, summary: str
    ) -> int:
        errand = self._errand
        of = f"job {errand.job.id}"
        return errand.outbox.check(
            run, errand.ref, head, status, conclusion, title, summary, issue=errand.number, of=of
        )


def _came_of(run: Run, course: Course | None, head: CommitId) -> tuple[str, str]:
    """The title and the text of the check run on the commit that was there before."""
    match run.state:
        case RunState.PUBLISHED if course and course.pushed and course.pushed != head:
            return (
                "Another attempt stands on top",
                f"The gate let {course.pushed[:12]} pass, which follows this commit.",
            )
        case RunState.PARKED:
            return "The other attempt waits", "The status comment on the issue says what for."
        case RunState.ENDED:
            return "The run is over", said(run.outcome)
        case _:
            return "Nothing follows", "The status comment on the issue says why."
