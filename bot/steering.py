"""What people, or GitHub, want of a run: go on, try again, stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from bot.alone import alone
from bot.book import Book
from bot.closing import already_over
from bot.dropping import drop
from bot.errors import BeingWorkedOn, NothingToRetry
from bot.merged import stand_where_merged
from bot.run import Run, RunState
from bot.sent_back import SentBack, send_back
from bot.stores import Stores
from memory.types import CommitId, DropCause, RunId, Scope, TicketId
from stages.repository import Repository
from stages.ticket import Ticket


class Steering(ABC):
    """Over the stores of a program."""

    @cached_property
    @abstractmethod
    def book(self) -> Book: ...

    @cached_property
    @abstractmethod
    def stores(self) -> Stores: ...

    @abstractmethod
    def open_run(
        self,
        ticket: Ticket,
        repository: Repository,
        base: CommitId,
        scope: Scope | None = None,
        *,
        run: RunId | None = None,
        actor: str = "",
    ) -> Run: ...

    def retried(self, run: Run) -> Run:
        """A run that may go on. Raises NothingToRetry."""
        if run.state not in (RunState.PARKED, RunState.WORKING):
            raise NothingToRetry(run=run.id, state=run.outcome or run.state.value)
        return run

    def requeue(self, run: Run, text: str, author: str) -> Run:
        """Send a ticket back with a note; gives the run that reads it.

        Of an ended run, a new one on what is checked out now; of a published run, the same, whose patch counts as held.
        Raises AlreadyOpen when the ticket of an ended run has another one, and what `open_run` raises.
        """
        match run.state:
            case RunState.PUBLISHED:
                self.stores.notes.add(run.scope, run.ticket.id, text, author)
                return self.send_back(run, SentBack())
            case RunState.ENDED:
                repository = Repository.open(Path(run.place))
                again = self.open_run(run.ticket, repository, repository.resolve(), run.scope, actor=run.actor)
                self.stores.notes.add(run.scope, run.ticket.id, text, author)
                return again
            case RunState.WORKING | RunState.PARKED:
                self.stores.notes.add(run.scope, run.ticket.id, text, author)
                return run

    def send_back(self, run: Run, sent: SentBack) -> Run:
        """Hold the published patch of a run: `pursue` goes on with a new attempt. Raises BeingWorkedOn.

        A run that is not published is left as it is.
        """
        with self._alone(run) as run:
            if run.state is not RunState.PUBLISHED:
                return run
            clean = replace(sent, said=tuple(map(self.book.clean, sent.said)))
            send_back(self.stores.steps, run, clean)
            return self.stores.runs.set_state(run.id, RunState.WORKING)

    def hold_for_note(self, run: Run) -> None:
        """Have the process that works on a run hold the attempt that it makes, for a note that came since it began.

        It publishes no patch of that attempt, and its next one reads the note.
        """
        if self.stores.notes.unread(run.scope, run.ticket.id):
            send_back(self.stores.steps, self.stores.runs.get(run.id), SentBack())

    def merged(self, run: Run, commit: CommitId) -> Run:
        """Have an open run stand where its patch was merged, whatever it worked on since. Raises BeingWorkedOn."""
        with self._alone(run) as run:
            if not run.open:
                return run
            return stand_where_merged(self.stores, run, Repository.open(Path(run.place)), commit)

    def stop(self, run: Run, cause: DropCause = DropCause.STOPPED) -> Run:
        """End a run: the process that works on it ends it at its next call, else this one does at once.

        Raises RunIsOver.
        """
        self.stores.runs.request_stop(run.id, cause)
        try:
            with self._alone(run) as run:
                return drop(self.stores, run, self.stores.runs.get(run.id).stop_cause)
        except BeingWorkedOn:
            return self.stores.runs.get(run.id)

    def supersede(self, scope: Scope, ticket: TicketId) -> Run | None:
        """End the open run of a ticket, if there is one, because another one takes its place. Raises BeingWorkedOn."""
        if (run := self.stores.runs.open_run(scope, ticket)) is None:
            return None
        with self._alone(run) as run:
            return drop(self.stores, run, DropCause.SUPERSEDED)

    @contextmanager
    def _alone(self, run: Run) -> Iterator[Run]:
        """The run as it stands, held for this process. Raises BeingWorkedOn."""
        with alone(self.stores.work, run.id):
            already_over(self.stores, run)
            yield self.stores.runs.get(run.id)
