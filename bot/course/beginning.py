"""How a run begins: the repository is fetched, and the run written down with the issue as its ticket."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from bot.course.admission import Admitted
from bot.course.breaker import cause_of
from bot.course.course import Course
from bot.course.errand import Errand
from bot.course.errors import NothingThere
from bot.course.markdown import plain
from bot.course.mirrors import Mirrored, Mirrors
from bot.course.parking import Parking, parking_of
from bot.course.pausing import Pausing
from bot.course.points import CourseStep
from bot.engine.outcome import Outcome, Settled, Waits
from bot.errors import AlreadyOpen, BotError, LetGo
from bot.forge.errors import ForgeFault
from bot.job import JobState
from bot.leaving import sentence
from bot.outbox.types import OwnLabel
from bot.run import Run
from memory.errors import Told
from memory.types import RunId
from stages.agents.model import NoModel, UnknownPrice
from stages.errors import Parked, Refused
from stages.remote import RemoteFault
from stages.repository import Repository, RepositoryFault
from stages.ticket import Comment, Ticket

WITHDRAWN: Final = "stopped before it began"
_MIRRORED: Final = TypeAdapter(Mirrored)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a run begins with, where there is none yet. `asked` says that a person wants it, whatever was before."""

    admitted: Admitted | None
    asked: bool
    commanded: bool = False


class Beginning:
    """Begins the run of one job."""

    def __init__(self, errand: Errand, mirrors: Mirrors) -> None:
        self._errand, self._mirrors, self._pausing = errand, mirrors, Pausing(errand)

    def begun(self, run_id: RunId, wish: Wish) -> Run | Outcome:
        """The run, written down; what becomes of the job where it cannot begin."""
        errand = self._errand
        try:
            mirrored = self.mirrored()
            if errand.jobs.get(errand.job.id).state is JobState.DONE:  # while it waited, or was fetched
                return Settled(outcome=WITHDRAWN)
            return self._opened(run_id, wish, mirrored)
        except AlreadyOpen as other:
            return Settled(outcome=f"joined: {other}")
        except (ForgeFault, RemoteFault) as fault:
            parking = parking_of(fault, errand.now())
            if parking is not None and parking.until is not None:
                self._pausing.came(cause_of(parking))
                return Waits(until=parking.until, why=parking.cause.value)
            return self._cannot_begin(run_id, fault)
        except (NothingThere, BotError, RepositoryFault, Refused, Parked, NoModel, UnknownPrice) as fault:
            if isinstance(fault, LetGo):
                raise
            return self._cannot_begin(run_id, fault)

    def _cannot_begin(self, run_id: RunId, fault: Told) -> Outcome:
        why, number = sentence(fault), self._errand.number
        text = f"**Cannot begin.** {plain(why)}\n\n`/ticketsmith retry` tries again.\n"
        self._tell(run_id, number, text)
        self._errand.mark(run_id, number, OwnLabel.HELD)
        self._pausing.came(self._cause(fault))
        if note := self._pausing.note():
            self._tell(run_id, number, f"{text}\n{note}\n")
        return Settled(outcome=f"cannot begin: {type(fault).__name__}")

    def _tell(self, run_id: RunId, number: int, text: str) -> None:
        self._errand.steps.each_time(CourseStep.TELL, lambda: self._errand.show(run_id, number, text))

    def _cause(self, fault: Told) -> str:
        """What would keep other tickets from beginning as well."""
        if isinstance(fault, Parked):
            return cause_of(Parking(cause=fault.cause, reason=""))
        parking = parking_of(fault, self._errand.now())
        return cause_of(parking) if parking else type(fault).__name__

    def _opened(self, run_id: RunId, wish: Wish, mirrored: Mirrored) -> Run:
        errand, admitted = self._errand, wish.admitted
        assert admitted is not None, "a run begins with an issue"
        number = errand.number
        ticket = Ticket(
            id=errand.ticket,
            title=admitted.title,
            body=admitted.body,
            comments=tuple(Comment(author=one.author, text=one.text) for one in admitted.comments),
            author=admitted.author,
            number=number,
        )

        def effect() -> Run:
            run = errand.app.open_run(
                ticket,
                Repository.open(Path(mirrored.folder)),
                mirrored.base,
                errand.scope,
                run=run_id,
                actor=f"account {admitted.actor.id}",
            )
            errand.courses.begin(
                Course(
                    run=run.id,
                    ref=errand.ref,
                    number=number,
                    actor=admitted.actor,
                    commanded=wish.commanded,
                    private=mirrored.private,
                    base=mirrored.branch,
                )
            )
            return run

        return errand.steps.each_time(CourseStep.OPEN, effect)

    def mirrored(self) -> Mirrored:
        errand = self._errand
        return errand.once(
            CourseStep.MIRROR, _MIRRORED, lambda: self._mirrors.fetch(errand.forge.repository(errand.ref))
        )
