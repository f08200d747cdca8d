"""Requeue notes: what people said when sending a ticket back, for its next attempt to read; never a lesson."""

from __future__ import annotations

from sqlmodel import and_, col, or_, select
from sqlmodel.sql.expression import SelectOfScalar

from bot.book import Book
from bot.run import RequeueNote
from bot.tables import RequeueNoteRow
from memory.types import RepositoryId, RunId, Scope, TicketId


class RequeueNotes:
    """All SQL of requeue notes."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def add(self, scope: Scope, ticket: TicketId, text: str, author: str) -> RequeueNote:
        """Keep a note for the ticket's next attempt."""
        row = RequeueNoteRow(
            installation=scope.installation,
            repository=scope.repository,
            ticket=ticket,
            text=self._book.clean(text),
            author=self._book.clean(author),
            at=self._book.now(),
        )
        with self._book.writing() as session:
            session.add(row)
            return _note(row)

    def take(self, scope: Scope, ticket: TicketId, run: RunId, attempt: int) -> tuple[RequeueNote, ...]:
        """The notes for this attempt, oldest first: those that nobody has read yet, and those that the run knows.

        A run knows what it read in this attempt, or in an earlier one.
        """
        unread = col(RequeueNoteRow.read_by).is_(None)
        known = and_(RequeueNoteRow.read_by == run, col(RequeueNoteRow.read_in_attempt) <= attempt)
        query = _of_ticket(scope, ticket).where(or_(unread, known))
        with self._book.writing() as session:
            rows = session.exec(query).all()
            for row in rows:
                if row.read_by is None:
                    row.read_by, row.read_in_attempt = run, attempt
            return tuple(_note(row) for row in rows)

    def of(self, scope: Scope, ticket: TicketId) -> tuple[RequeueNote, ...]:
        """All notes of a ticket, oldest first."""
        with self._book.reading() as session:
            return tuple(_note(row) for row in session.exec(_of_ticket(scope, ticket)).all())

    def unread(self, scope: Scope, ticket: TicketId) -> tuple[RequeueNote, ...]:
        """The notes of a ticket that no attempt has read yet, oldest first."""
        return tuple(note for note in self.of(scope, ticket) if note.read_by is None)


def _of_ticket(scope: Scope, ticket: TicketId) -> SelectOfScalar[RequeueNoteRow]:
    notes = select(RequeueNoteRow).order_by(col(RequeueNoteRow.id))
    return notes.where(
        RequeueNoteRow.installation == scope.installation,
        RequeueNoteRow.repository == scope.repository,
        RequeueNoteRow.ticket == ticket,
    )


def _note(row: RequeueNoteRow) -> RequeueNote:
    return RequeueNote(
        scope=Scope(installation=row.installation, repository=RepositoryId(row.repository)),
        ticket=TicketId(row.ticket),
        text=row.text,
        author=row.author,
        at=row.at,
        read_by=RunId(row.read_by) if row.read_by else None,
        read_in_attempt=row.read_in_attempt,
    )
