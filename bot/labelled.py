"""Tickets that are known to be about notes: what a calibration can be measured on besides the notes themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.alert import asking_of, signatures_of
from bot.run import RunState
from bot.stores import Stores
from memory.measuring import Labelled
from memory.notes import called, source_tickets
from memory.signature import RepoView
from memory.types import MemoryVersion, NoteFile, TicketId
from stages.case import Case
from stages.prompt import EntryPoint
from stages.ticket import Ticket

_RUNS_READ = 2_000
_FILE_NAME_AT_LEAST = 8  # characters of `redis.md`: a shorter name may stand in a text by chance


@dataclass(frozen=True, kw_only=True)
class _Known:
    """A ticket, and what people wrote when they sent it back."""

    ticket: Ticket
    said: str

    @property
    def text(self) -> str:
        return f"{self.ticket.title}\n{self.ticket.text}\n{self.said}"


def labelled(stores: Stores, version: MemoryVersion, environment: str = "") -> tuple[Labelled, ...]:
    """Tickets with the notes that they are about, each once.

    A note names its tickets in its front matter (`tickets:`), by the id or number of a ticket that had a run here, or
    by a title; or a ticket of an ended run names the note's file, in its text or in a requeue note.
    """
    notes = stores.memory.notes(version)
    known = {one.ticket.id: one for one in _known(stores, version)}
    about: dict[TicketId, tuple[Ticket, list[str]]] = {}
    for note in notes:
        for ticket in (*_of_front_matter(note, known), *_naming(note, known.values())):
            about.setdefault(ticket.id, (ticket, []))[1].append(called(note))
    at = stores.now()
    return tuple(
        Labelled(
            query=Case(
                ticket=ticket,
                asking=asking_of(version.scope, at, signatures_of(ticket, RepoView()), environment),
            ).query(EntryPoint.DIAGNOSE),
            notes=tuple(dict.fromkeys(paths)),
        )
        for ticket, paths in about.values()
    )


def _known(stores: Stores, version: MemoryVersion) -> Iterator[_Known]:
    for run in stores.runs.list(RunState.ENDED, scope=version.scope)[:_RUNS_READ]:
        said = "\n".join(note.text for note in stores.notes.of(version.scope, run.ticket.id))
        yield _Known(ticket=run.ticket, said=said)


def _of_front_matter(note: NoteFile, known: Mapping[TicketId, _Known]) -> Iterator[Ticket]:
    for entry in source_tickets(note):
        number = entry.removeprefix("#")
        found = known.get(TicketId(entry)) or next(
            (one for one in known.values() if number.isdecimal() and one.ticket.number == int(number)), None
        )
        if found:
            yield found.ticket
        elif " " in entry:
            yield Ticket(id=TicketId(f"title:{entry}"), title=entry, body="")


def _naming(note: NoteFile, known: Iterable[_Known]) -> Sequence[Ticket]:
    name = note.path.rpartition("/")[2]
    wanted = note.path if len(name) < _FILE_NAME_AT_LEAST else name
    return [one.ticket for one in known if wanted in one.text]
