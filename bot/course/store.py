"""The store of courses."""

from __future__ import annotations

from typing import Any, Final

from sqlmodel import col, select
from sqlmodel.sql.expression import SelectOfScalar

from bot.book import Book
from bot.course.course import Course, PullState
from bot.course.tables import CourseRow
from bot.forge.types import Account, AccountKind, RepositoryRef
from bot.run import RunState
from bot.tables import RunRow
from memory.types import CommitId, RunId

_NEWEST_FIRST: Final = (col(RunRow.created).desc(), col(RunRow.id).desc())


class CourseStore:
    """All SQL of courses."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def begin(self, course: Course) -> Course:
        """Keep the course of a run; one that is there stays as it is."""
        with self._book.writing() as session:
            row = session.get(CourseRow, course.run)
            if row is None:
                row = CourseRow(
                    run=course.run,
                    installation=course.ref.installation,
                    repository=course.ref.id,
                    full_name=course.ref.full_name,
                    number=course.number,
                    actor_id=course.actor.id,
                    actor_login=course.actor.login,
                    actor_kind=course.actor.kind.value,
                    commanded=course.commanded,
                    private=course.private,
                    base=course.base,
                )
                session.add(row)
            return _course(row)

    def of(self, run: RunId) -> Course | None:
        with self._book.reading() as session:
            row = session.get(CourseRow, run)
            return _course(row) if row else None

    def of_issue(self, ref: RepositoryRef, number: int) -> tuple[Course, ...]:
        """All courses of an issue, the newest run first."""
        return self._found(_with_run().where(CourseRow.repository == ref.id, CourseRow.number == number))

    def of_pull(self, ref: RepositoryRef, pull: int) -> Course | None:
        """The course whose pull request this is."""
        found = self._found(_with_run().where(CourseRow.repository == ref.id, CourseRow.pull == pull))
        return found[0] if found else None

    def of_head(self, ref: RepositoryRef, head: str) -> Course | None:
        """The course that pushed this commit last."""
        found = self._found(_with_run().where(CourseRow.repository == ref.id, CourseRow.pushed == head))
        return found[0] if found else None

    def unfinished(self, *, installation: int | None = None, repository: int | None = None) -> tuple[Course, ...]:
        """Courses whose runs are open, in an installation or a repository or everywhere."""
        query = _with_run().where(RunRow.state != RunState.ENDED.value)
        if installation is not None:
            query = query.where(CourseRow.installation == installation)
        if repository is not None:
            query = query.where(CourseRow.repository == repository)
        return self._found(query)

    def change(self, run: RunId, **fields: Any) -> Course:
        """Set fields of a course, by the names that `Course` gives them."""
        with self._book.writing() as session:
            row = session.get_one(CourseRow, run)
            for name, value in fields.items():
                setattr(row, name, value)
            return _course(row)

    def _found(self, query: SelectOfScalar[CourseRow]) -> tuple[Course, ...]:
        with self._book.reading() as session:
            return tuple(_course(row) for row in session.exec(query.order_by(*_NEWEST_FIRST)).all())


def _with_run() -> SelectOfScalar[CourseRow]:
    return select(CourseRow).join(RunRow, col(RunRow.id) == col(CourseRow.run))


def _course(row: CourseRow) -> Course:
    return Course(
        run=RunId(row.run),
        ref=RepositoryRef(installation=row.installation, id=row.repository, full_name=row.full_name),
        number=row.number,
        actor=Account(id=row.actor_id, login=row.actor_login, kind=AccountKind(row.actor_kind)),
        commanded=row.commanded,
        private=row.private,
        base=row.base,
        branch=row.branch,
        pushed=CommitId(row.pushed) if row.pushed else None,
        pull=row.pull,
        pull_state=PullState(row.pull_state),
        hands_off=row.hands_off,
        ci_rounds=row.ci_rounds,
        ci_head=CommitId(row.ci_head) if row.ci_head else None,
        unchecked=CommitId(row.unchecked) if row.unchecked else None,
        merged=CommitId(row.merged) if row.merged else None,
        merged_at=row.merged_at,
    )
