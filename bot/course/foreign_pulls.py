"""Pull requests that are none of ours: what is asked there is refused with a reason, said once on each."""

from __future__ import annotations

from bot.course.admission import permission_of
from bot.course.errand import Errand
from bot.engine.outcome import Outcome, Settled
from bot.forge.types import PullInfo
from bot.intake.event import issue_of_branch
from bot.job import Command, FollowUp, FollowUpReason, Job, JobKind

_OF_A_RUN = frozenset({JobKind.STOP, JobKind.RETRY, JobKind.REQUEUE, JobKind.FOLLOW_UP})


def refused_as_foreign(errand: Errand) -> Outcome | None:
    """The outcome of what is asked on a pull request of somebody else; None for everything else.

    Raises the errors of `bot.forge.errors`.
    """
    number = _pull_of(errand.job)
    if number is None or errand.courses.of_pull(errand.ref, number) is not None:
        return None
    why = _foreign(errand, errand.forge.pull(errand.ref, number))
    if not why:
        return None
    actor = errand.job.actor
    if actor is not None and permission_of(errand, actor).triages:
        said = f"Nothing was done: {why}. Say it on the issue: `/ticketsmith retry` there has it worked on."
        errand.answer(said, number=number, once_for=f"pull-{errand.ref.id}-{number}")
    return Settled(outcome=f"refused: {why}")


def _pull_of(job: Job) -> int | None:
    match job.data:
        case Command() if job.kind in _OF_A_RUN:
            return job.data.pull
        case FollowUp() if job.data.reason is FollowUpReason.REVIEW:
            return job.data.pull
        case _:
            return None


def _foreign(errand: Errand, pull: PullInfo) -> str:
    if pull.head_repository_id != errand.ref.id:
        return "this pull request comes from a fork, where Ticketsmith cannot push"
    if issue_of_branch(pull.head_ref) is None:
        return "this is no pull request of Ticketsmith"
    return ""
