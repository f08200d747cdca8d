"""The steps of one job: what each gave is kept, so that a job that is taken again goes on after the last of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import TypeAdapter
from sqlmodel import col, func, select

from bot.book import Book
from bot.course.points import OWN_RECORD, CourseStep, Moment, Reached, nothing
from bot.course.tables import CourseStepRow

T = TypeVar("T")


class JobSteps:
    """All SQL of the steps of a job."""

    def __init__(self, book: Book, job: int, reached: Reached = nothing) -> None:
        self._book, self._job, self._reached = book, job, reached

    def once(self, step: CourseStep, kind: TypeAdapter[T], work: Callable[[], T], *, of: str = "") -> T:
        """What the step gave, kept from an earlier time or from `work`. `of` tells steps of one name apart."""
        assert step not in OWN_RECORD
        if (kept := self.kept(step, kind, of=of)) is not None:
            return kept
        self._reached(step, Moment.BEFORE_EFFECT)
        value = work()
        self._reached(step, Moment.AFTER_EFFECT)
        result = self._book.clean_json(kind.dump_python(value, mode="json"))[0]
        with self._book.writing() as session:
            session.merge(CourseStepRow(job=self._job, step=_key(step, of), result=result, finished=self._book.now()))
        self._reached(step, Moment.AFTER_RECORD)
        return value

    def kept(self, step: CourseStep, kind: TypeAdapter[T], *, of: str = "") -> T | None:
        """What the step gave at an earlier time."""
        with self._book.reading() as session:
            row = session.get(CourseStepRow, (self._job, _key(step, of)))
            return kind.validate_json(row.result) if row is not None else None

    def each_time(self, step: CourseStep, work: Callable[[], T]) -> T:
        """What `work` gives, which keeps a record of its own, or tells people how things stand now."""
        assert step in OWN_RECORD
        self._reached(step, Moment.BEFORE_EFFECT)
        value = work()
        self._reached(step, Moment.AFTER_EFFECT)
        return value

    def count(self) -> int:
        """How many are kept."""
        query = select(func.count()).select_from(CourseStepRow).where(col(CourseStepRow.job) == self._job)
        with self._book.reading() as session:
            return session.exec(query).one()


def _key(step: CourseStep, of: str) -> str:
    return f"{step.value}:{of}" if of else step.value
