"""Remarks of people while a run is at work: its next attempt reads them, and each is acknowledged."""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter

from bot.course.admission import COMMENTS_AT_MOST, permission_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.points import CourseStep
from bot.course.texts import Now
from bot.engine.outcome import Outcome, Settled
from bot.forge.types import Account
from bot.job import Remark
from bot.run import RunState

_KEPT: Final = TypeAdapter(bool)


def receive_remark(errand: Errand, course: Course | None) -> Outcome:
    """Keep a remark of the issue's author, or of somebody who may write, for the run to read.

    Once a patch is out, people talk to each other: then commands and reviews count, and nothing else.
    """
    job = errand.job
    if course is None or not isinstance(job.data, Remark) or job.actor is None:
        return Settled(outcome="no run that would read it")
    run = errand.run(course.run)
    if run.state not in (RunState.WORKING, RunState.PARKED):
        return Settled(outcome="no run at work")
    comment = job.data.comment
    found = errand.forge.comments(errand.ref, course.number).comments[-COMMENTS_AT_MOST:]
    said = next((one for one in found if one.id == comment), None)
    if said is None or said.author.id != job.actor.id or not said.body.strip():
        return Settled(outcome="the remark is gone")
    if not permission_of(errand, said.author).writes and not _is_author(errand, course, said.author):
        return Settled(outcome="not of the author, nor of somebody who may write")
    errand.once(CourseStep.SEND_BACK, _KEPT, lambda: errand.keep_note(said.body, said.author.login))
    shown = Now(note=f"The remark of {said.author.login} is read before the next attempt.")
    errand.tell(run, course, shown)
    return Settled(outcome="kept for the next attempt")


def _is_author(errand: Errand, course: Course, account: Account) -> bool:
    """By number: a name that was given up can be taken by others."""
    return errand.forge.issue(errand.ref, course.number).author.id == account.id
