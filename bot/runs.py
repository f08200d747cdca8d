"""The store of runs: every fact about a run that outlives its process."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from difflib import get_close_matches
from typing import Final

from pydantic import TypeAdapter
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from bot.book import Book
from bot.errors import AlreadyOpen, AlreadyPublished, AmbiguousRun, NoSuchRun, RunIsOver
from bot.run import Opening, Run, RunState
from bot.run_id import new_run_id, read_run_id
from bot.tables import RequeueNoteRow, RunRow
from memory.types import CommitId, DropCause, RepositoryId, RunId, Scope, TicketId
from stages.agents.limits import Spent
from stages.errors import ParkCause
from stages.ticket import Ticket

NAMED_AT_MOST: Final = 5  # ids in a message

_TICKET: Final = TypeAdapter(Ticket)


class RunStore:
    """All SQL of runs themselves. Methods that take an id raise NoSuchRun for one that is not there."""

    def __init__(self, book: Book, *, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._book, self._chance = book, chance

    def create(self, opening: Opening) -> Run:
        """A new run, working, in the generation after the last one of its ticket.

        One that is there under the id that the opening names is given as it stands. Raises AlreadyOpen when the ticket
        has another open run.
        """
        scope, ticket, now = opening.scope, opening.ticket, self._book.now()
        with self._book.writing() as session:
            if opening.id and (there := session.get(RunRow, opening.id)):
                return _run(there)
            if taken := _open_one(session, scope, ticket.id):
                published = taken.state == RunState.PUBLISHED.value
                kind = AlreadyPublished if published else AlreadyOpen
                raise kind(ticket=taken.ticket, run=taken.id, state=taken.state)
            row = RunRow(
                id=opening.id or self._free_id(session, now),
                installation=scope.installation,
                repository=scope.repository,
                ticket=ticket.id,
                ticket_json=self._book.clean_json(_TICKET.dump_python(ticket, mode="json"))[0],
                place=opening.place,  # not scrubbed: it must be found again
                state=RunState.WORKING.value,
                generation=_last_generation(session, scope, ticket.id) + 1,
                base=opening.base,
                model=opening.model,
                level=opening.level,
                attempts_at_most=opening.attempts,
                sandbox=opening.sandbox,
                actor=self._book.clean(opening.actor),
                created=now,
                updated=now,
            )
            session.add(row)
            session.flush()
            return _run(row)

    def new_id(self) -> RunId:
        """An id that no run has."""
        with self._book.reading() as session:
            return self._free_id(session, self._book.now())

    def find(self, run: RunId) -> Run | None:
        """The run with exactly this id."""
        with self._book.reading() as session:
            row = session.get(RunRow, run)
            return _run(row) if row else None

    # --- Reading ---------------------------------------------------------------------------------------------------

    def get(self, given: str) -> Run:
        """The run with this id, or the one whose id begins so. Raises NoSuchRun and AmbiguousRun."""
        beginning = read_run_id(given)
        newest = select(RunRow).order_by(*_NEWEST_FIRST)
        with self._book.reading() as session:
            rows = session.exec(newest.where(col(RunRow.id).startswith(beginning))).all() if beginning else ()
            if len(rows) == 1:
                return _run(rows[0])
            if rows:
                raise AmbiguousRun(given=given, candidates=_some([row.id for row in rows]))
            raise NoSuchRun(given=given[:40], hint=_near(beginning, [row.id for row in session.exec(newest).all()]))

    def list(self, state: RunState | None = None, *, scope: Scope | None = None) -> tuple[Run, ...]:
        """Runs, the newest first."""
        query = select(RunRow).order_by(*_NEWEST_FIRST)
        if state is not None:
            query = query.where(RunRow.state == state.value)
        if scope is not None:
            query = query.where(RunRow.installation == scope.installation, RunRow.repository == scope.repository)
        with self._book.reading() as session:
            return tuple(_run(row) for row in session.exec(query).all())

    def open_run(self, scope: Scope, ticket: TicketId) -> Run | None:
        """The one open run of a ticket."""
        with self._book.reading() as session:
            row = _open_one(session, scope, ticket)
            return _run(row) if row else None

    def stop_requested(self, run: RunId) -> bool:
        """Whether a person asked for the run to stop; cheap enough to be asked before each call."""
        with self._book.reading() as session:
            return bool(session.exec(select(RunRow.stop_requested).where(RunRow.id == run)).first())

    # --- Writing ---------------------------------------------------------------------------------------------------

    def set_state(
        self,
        run: RunId,
        state: RunState,
        *,
        cause: ParkCause | None = None,
        reason: str = "",
        outcome: str = "",
        wake: datetime | None = None,
    ) -> Run:
        """Move the run to a state; the same one again is harmless. Raises RunIsOver when the run has ended.

        `wake` is when a parked run is taken up again by itself.
        """
        with self._book.writing() as session:
            row = _row(session, run) if state is RunState.ENDED else _not_over(session, run)
            row.state, row.park_reason = state.value, self._book.clean(reason)
            row.park_cause = cause.value if cause else None
            row.outcome, row.wake = outcome or row.outcome, wake
            return self._touched(row)

    def advance(self, run: RunId, base: CommitId | None = None) -> Run:
        """Begin the next generation: the run works again, on another base if one is given, and no earlier step counts
        as done.
        """
        with self._book.writing() as session:
            row = _not_over(session, run)
            row.generation, row.attempt = row.generation + 1, 0
            row.base = base or row.base
            for note in session.exec(select(RequeueNoteRow).where(RequeueNoteRow.read_by == run)):
                note.read_in_attempt = 1  # all attempts of the new generation read it
            row.state, row.park_cause, row.park_reason = RunState.WORKING.value, None, ""
            return self._touched(row)

    def begin_attempt(self, run: RunId, attempt: int) -> Run:
        """Count attempts up to this one; beginning the same one again is harmless."""
        with self._book.writing() as session:
            row = _not_over(session, run)
            row.attempt = max(row.attempt, attempt)
            return self._touched(row)

    def stand_at(self, run: RunId, generation: int, attempt: int) -> Run:
        """Go back to an attempt that was made before: what came after it counts no more. Raises RunIsOver."""
        with self._book.writing() as session:
            row = _not_over(session, run)
            row.generation, row.attempt = generation, attempt
            return self._touched(row)

    def pin(self, run: RunId, memory_version: int) -> Run:
        """The memory version that the run reads from now on."""
        return self._change(run, memory_version=memory_version)

    def save_level(self, run: RunId, level: str) -> Run:
        return self._change(run, level=level)

    def save_spent(self, run: RunId, spent: Spent) -> Run:
        return self._change(run, **asdict(spent))

    def save_patch(self, run: RunId, diff: str) -> Run:
        """Keep the patch as it stands, before anything is pushed."""
        cleaned = self._book.clean(diff)
        return self._change(run, patch=cleaned, patch_intact=cleaned == diff)

    def save_branch(self, run: RunId, branch: str, commit: CommitId) -> Run:
        return self._change(run, branch=branch, commit=commit)

    def request_stop(self, run: RunId, cause: DropCause = DropCause.STOPPED) -> Run:
        """Ask a run to stop; the first cause stays. Raises RunIsOver."""
        with self._book.writing() as session:
            row = _not_over(session, run)
            row.stop_requested, row.stop_cause = True, row.stop_cause or cause.value
            return self._touched(row)

    def take(self, run: RunId) -> Run:
        """Begin the next epoch of the run: this process writes for it now, and no earlier one. Raises RunIsOver."""
        with self._book.writing() as session:
            row = _not_over(session, run)
            row.epoch += 1
            return self._touched(row)

    def epoch(self, run: RunId) -> int:
        """The epoch that the run is in; cheap enough to be asked before each call."""
        with self._book.reading() as session:
            return session.exec(select(RunRow.epoch).where(RunRow.id == run)).first() or 0

    def _change(self, run: RunId, **fields: object) -> Run:
        with self._book.writing() as session:
            row = _row(session, run)
            for name, value in fields.items():
                setattr(row, name, value)
            return self._touched(row)

    def _touched(self, row: RunRow) -> Run:
        row.updated = self._book.now()
        return _run(row)

    def _free_id(self, session: Session, at: datetime) -> RunId:
        while session.get(RunRow, run := new_run_id(at, self._chance)):
            pass
        return run


_NEWEST_FIRST: Final = (col(RunRow.created).desc(), col(RunRow.id).desc())


def _of_ticket(scope: Scope, ticket: TicketId) -> SelectOfScalar[RunRow]:
    return select(RunRow).where(
        RunRow.installation == scope.installation, RunRow.repository == scope.repository, RunRow.ticket == ticket
    )


def _open_one(session: Session, scope: Scope, ticket: TicketId) -> RunRow | None:
    return session.exec(_of_ticket(scope, ticket).where(RunRow.state != RunState.ENDED.value)).first()


def _last_generation(session: Session, scope: Scope, ticket: TicketId) -> int:
    rows = session.exec(_of_ticket(scope, ticket).order_by(col(RunRow.generation).desc())).first()
    return rows.generation if rows else 0


def _row(session: Session, run: RunId) -> RunRow:
    if row := session.get(RunRow, run):
        return row
    raise NoSuchRun(given=run, hint="")


def _not_over(session: Session, run: RunId) -> RunRow:
    row = _row(session, run)
    if row.state == RunState.ENDED.value:
        raise RunIsOver(run=run, outcome=row.outcome or "ended")
    return row


def _near(beginning: str, ids: Sequence[str]) -> str:
    """A sentence that helps to find the run that was meant; `ids` are the newest first."""
    if not ids:
        return "There are no runs yet: `ticketsmith fix` begins one."
    by_head = {run[: len(beginning)]: run for run in reversed(ids)} if beginning else {}
    heads = get_close_matches(beginning, by_head, n=NAMED_AT_MOST, cutoff=0.6)
    return f"Near it: {_some([by_head[head] for head in heads])}." if heads else f"The newest: {_some(ids)}."


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED_AT_MOST} more" if len(ids) > NAMED_AT_MOST else ""
    return ", ".join(ids[:NAMED_AT_MOST]) + more


def _run(row: RunRow) -> Run:
    return Run(
        id=RunId(row.id),
        scope=Scope(installation=row.installation, repository=RepositoryId(row.repository)),
        ticket=_TICKET.validate_json(row.ticket_json),
        state=RunState(row.state),
        generation=row.generation,
        attempt=row.attempt,
        base=CommitId(row.base),
        place=row.place,
        model=row.model,
        level=row.level,
        attempts_at_most=row.attempts_at_most,
        sandbox=row.sandbox,
        actor=row.actor,
        created=row.created,
        updated=row.updated,
        park_cause=ParkCause(row.park_cause) if row.park_cause else None,
        park_reason=row.park_reason,
        memory_version=row.memory_version,
        branch=row.branch,
        commit=CommitId(row.commit) if row.commit else None,
        patch=row.patch,
        patch_intact=row.patch_intact,
        outcome=row.outcome,
        stop_requested=row.stop_requested,
        stop_cause=DropCause(row.stop_cause or DropCause.STOPPED),
        wake=row.wake,
        epoch=row.epoch,
        spent=Spent(calls=row.calls, tokens=row.tokens, money=row.money, minutes=row.minutes),
    )
