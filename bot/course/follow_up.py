"""What speaks against our patch on GitHub: reviews, checks and deployments, gathered in one batch for each push."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

from pydantic import TypeAdapter

from bot.course.admission import permission_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.points import CourseStep
from bot.course.texts import Now
from bot.engine.outcome import Outcome, Settled, ToWork, Waits
from bot.errors import BeingWorkedOn
from bot.forge.types import AccountKind, CheckInfo, ReviewInfo, ReviewState
from bot.job import FollowUp, FollowUpReason
from bot.outbox.types import OwnLabel
from bot.run import Run, RunState
from bot.sent_back import SentBack
from memory.types import CheckId, Where

CI_ROUNDS_AT_MOST: Final = 2
_CHECKS_WITHIN: Final = timedelta(minutes=30)  # checks that have not ended by then are not waited for
_LOOK_AGAIN: Final = timedelta(minutes=1)
_FAILED: Final = ("failure", "error")
# Without a server, our own jobs are checks of the commit too, all of GitHub Actions: the workflow names them so.
_OWN_JOB: Final = re.compile(r" / ticketsmith (?:look|receive|work|publish)$")


@dataclass(frozen=True, kw_only=True)
class NoHold:
    """The patch stands, and why. `over` says that the bot has done what it can: people have to go on."""

    why: str
    over: bool = False


Found: TypeAlias = SentBack | NoHold | Waits
_SENT: Final = TypeAdapter(bool)


class FollowUps:
    """Judges one follow-up of a published run."""

    def __init__(self, errand: Errand, data: FollowUp) -> None:
        self._errand, self._data = errand, data

    def receive(self, course: Course) -> Outcome:
        """Have the run go on when the patch is sent back."""
        errand, run = self._errand, self._errand.run(course.run)
        if run.open and errand.steps.kept(CourseStep.SEND_BACK, _SENT):
            return ToWork()  # this job sent it back, and has waited since, or its process died
        if run.state is RunState.WORKING:
            noted = self._as_note(course) if self._data.reason is FollowUpReason.REVIEW else Settled(outcome="at work")
            return ToWork() if errand.is_sent_back(run) else noted  # a process may have died on the way to the work
        if run.state is not RunState.PUBLISHED or course.pull is None or course.hands_off:
            return Settled(outcome=f"nothing to hold: {run.outcome or run.state.value}")
        match self.found(run, course):
            case Waits() as later:
                return later
            case NoHold() as stands:
                if stands.over:
                    errand.mark(run.id, course.number, OwnLabel.HELD)
                    errand.tell(run, course, Now(note=stands.why))
                return Settled(outcome=f"no hold: {stands.why}")
            case SentBack() as sent:
                return self._send_back(run, course, sent)

    def _send_back(self, run: Run, course: Course, sent: SentBack) -> Outcome:
        def effect() -> bool:
            self._errand.app.send_back(run, sent)
            if sent.where is Where.CI:
                self._errand.courses.change(run.id, ci_rounds=course.ci_rounds + 1, ci_head=course.pushed)
            return True

        try:
            self._errand.once(CourseStep.SEND_BACK, _SENT, effect)
        except BeingWorkedOn as other:
            return Waits(until=self._errand.now() + _LOOK_AGAIN, why=str(other))
        return ToWork()

    def found(self, run: Run, course: Course) -> Found:
        """What speaks against the patch; this only looks."""
        match self._data.reason:
            case FollowUpReason.REVIEW:
                said = self._said(course)
                return SentBack(said=said) if said else NoHold(why="no review of somebody who may write asks for it")
            case FollowUpReason.CHECK:
                return self._checks(run, course)
            case FollowUpReason.DEPLOYMENT:
                return self._deployment(course)

    # --- Reviews -----------------------------------------------------------------------------------------------------

    def _said(self, course: Course) -> tuple[str, ...]:
        """All that reviews of this push ask for, in the words of those who may write."""
        assert course.pull is not None
        errand = self._errand
        of_push = [one for one in errand.forge.reviews(errand.ref, course.pull) if one.commit == course.pushed]
        people = {one.author.id: one.author for one in of_push if one.author.kind is AccountKind.USER}
        writers = {number for number, account in people.items() if permission_of(errand, account).writes}
        newest = _newest(of_push)
        asking = {number for number in writers if newest.get(number) is ReviewState.CHANGES_REQUESTED}
        if not asking:
            return ()
        return tuple(line for one in of_push if one.author.id in writers for line in _lines(one))

    def _as_note(self, course: Course) -> Outcome:
        """A further review while the one before is being answered: the next attempt reads it."""
        errand, actor = self._errand, self._errand.job.actor
        if actor is None or course.pull is None or not permission_of(errand, actor).writes:
            return Settled(outcome="no hold: not of somebody who may write")
        found = [one for one in errand.forge.reviews(errand.ref, course.pull) if one.id == self._data.ref]
        lines = [line for one in found for line in _lines(one)]
        if lines:
            text = "\n".join(lines)
            errand.once(CourseStep.SEND_BACK, _SENT, lambda: errand.keep_note(text, actor.login), of="note")
        return Settled(outcome="kept for the next attempt" if lines else "no hold: it says nothing")

    # --- Checks and deployments --------------------------------------------------------------------------------------

    def _checks(self, run: Run, course: Course) -> Found:
        if course.pushed is None or self._data.head != course.pushed:
            return NoHold(why="the checks are of another commit")
        if course.ci_head == course.pushed:
            return NoHold(why="the checks of this commit were answered before")
        checks = self._errand.forge.checks(self._errand.ref, course.pushed)
        foreign = [one for one in checks if one.app_id != self._errand.app_id and not _OWN_JOB.search(one.name)]
        if self._still_running(foreign):  # one that was red may run anew, and one job speaks for all of a commit
            return Waits(until=self._errand.now() + _LOOK_AGAIN, why="other checks still run")
        failed = [one for one in foreign if one.failed]
        if not failed:
            return NoHold(why="no check of another one is red")
        red = self._red_on_the_base(run)
        ours = [one for one in failed if one.name not in red]
        if not ours:
            return NoHold(why=f"CI is red on the base too ({failed[0].name}): that is not the patch", over=True)
        if course.ci_rounds >= CI_ROUNDS_AT_MOST:
            return NoHold(why=f"CI is red after {CI_ROUNDS_AT_MOST} rounds of repair: over to people", over=True)
        return SentBack(where=Where.CI, failing=tuple(CheckId(one.name) for one in ours))

    def _still_running(self, checks: Sequence[CheckInfo]) -> bool:
        waited = self._errand.now() - self._errand.job.at
        return waited < _CHECKS_WITHIN and any(one.status != "completed" for one in checks)

    def _red_on_the_base(self, run: Run) -> frozenset[str]:
        return frozenset(one.name for one in self._errand.forge.checks(self._errand.ref, run.base) if one.failed)

    def _deployment(self, course: Course) -> Found:
        if course.pushed is None or self._data.head != course.pushed:
            return NoHold(why="the deployment is of another commit")
        found = self._errand.forge.deployments(self._errand.ref, course.pushed)
        failed = [one for one in found if one.id == self._data.ref and one.state in _FAILED]
        if not failed:
            return NoHold(why="the deployment has not failed")
        return SentBack(where=Where.STAGING, failing=(CheckId(failed[0].environment),))


def _newest(reviews: Sequence[ReviewInfo]) -> dict[int, ReviewState]:
    """Each person's last word: a remark alone takes nothing back."""
    words = (one for one in reviews if one.state not in (ReviewState.COMMENTED, ReviewState.PENDING))
    return {one.author.id: one.state for one in words}


def _lines(review: ReviewInfo) -> tuple[str, ...]:
    body = (f"{review.author.login}: {review.body}",) if review.body.strip() else ()
    remarks = (
        f"{review.author.login} on {one.path}" + (f":{one.line}" if one.line else "") + f": {one.body}"
        for one in review.comments
        if one.body.strip()
    )
    return (*body, *remarks)
