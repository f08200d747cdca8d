"""Holds jobs back while their repository is paused, and counts what runs come to."""

from __future__ import annotations

from dataclasses import replace

from bot.course.breaker import LOOK_AGAIN, Breaker, Came, said
from bot.course.breakers import BreakerStore
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.points import CourseStep
from bot.course.texts import Now
from bot.engine.outcome import Waits
from bot.job import Job, JobKind
from bot.run import Run, RunState


class Pausing:
    """Of the repository of one job."""

    def __init__(self, errand: Errand) -> None:
        self._errand, self._store = errand, BreakerStore(errand.app.book)

    def hold(self) -> Waits | None:
        """Until when the job has to wait; None when it may go on, be it as the one that tries."""
        errand, now = self._errand, self._errand.now()
        if not self._store.of(errand.ref).paused:
            return None
        asked = is_asked(errand.job)
        breaker = self._store.change(errand.ref, lambda one: one.tried_by(errand.job.id, now, asked=asked))
        if not breaker.paused or breaker.probe == errand.job.id:
            return None
        self._tell(breaker)
        until = min(breaker.until or now, now + LOOK_AGAIN) if breaker.probe is None else now + LOOK_AGAIN
        return Waits(until=until, why=f"paused: {breaker.cause}")

    def note(self) -> str:
        """What people are told on the ticket that began the pause, and on no other one; else empty."""
        breaker = self._store.of(self._errand.ref)
        return _note(breaker) if breaker.paused and breaker.by == self._errand.number else ""

    def reason(self) -> str:
        """Why a ticket that comes now waits; empty where it does not."""
        breaker = self._store.of(self._errand.ref)
        return said(breaker.cause) if breaker.paused and not is_asked(self._errand.job) else ""

    # --- What runs come to -------------------------------------------------------------------------------------------

    def came(self, to: Came | str) -> None:
        """Count what the job's run came to; a text is the cause that kept it back, an empty one says nothing."""
        self._errand.steps.each_time(CourseStep.COUNT, lambda: self._count(to))

    def let_go(self) -> None:
        """Where the job was to try, and nothing was counted, another one tries."""
        errand = self._errand
        if self._store.of(errand.ref).probe == errand.job.id:
            self._store.change(errand.ref, lambda one: one.let_go(errand.job.id, errand.now()))

    def show(self, run: Run, course: Course) -> None:
        """Tell of the pause on the ticket that began it, in the comment that it has."""
        if run.state is not RunState.WORKING and (note := self.note()):
            self._errand.tell(run, course, Now(note=note))

    def _count(self, to: Came | str) -> None:
        errand, store = self._errand, self._store
        match to:
            case Came.THROUGH:
                if (before := store.of(errand.ref)) != Breaker():
                    store.change(errand.ref, lambda _: Breaker())
                if before.paused:
                    errand.log.info("repository goes on", repository=errand.ref.full_name, cause=before.cause)
            case Came.NOWHERE | "":
                pass
            case str() as cause if errand.number:
                at_most, now = errand.settings.pause_after, errand.now()
                self._tell(
                    store.change(errand.ref, lambda one: one.failed(cause, errand.number, errand.job.id, now, at_most))
                )

    def _tell(self, breaker: Breaker) -> None:
        """One line for the operator, when the pause begins."""
        if not breaker.paused or breaker.told:
            return
        errand = self._errand
        errand.log.error(
            "repository paused",
            repository=errand.ref.full_name,
            cause=breaker.cause,
            why=said(breaker.cause),
            tickets=len(breaker.tickets),
            until=breaker.until.isoformat() if breaker.until else "",
        )
        self._store.change(errand.ref, lambda one: replace(one, told=True))


def is_asked(job: Job) -> bool:
    """Whether a person wants it tried now: by the command `retry`, here or at the command line."""
    return job.kind is JobKind.RETRY or (job.kind is JobKind.START and job.actor is None)


def _note(breaker: Breaker) -> str:
    return (
        f"**The work on this repository is paused**: {len(breaker.tickets)} tickets in a row failed alike "
        f"({said(breaker.cause)}). No other ticket is begun until one comes through: one is tried now and then, and "
        "`/ticketsmith retry` tries at once."
    )
