"""A run of a GitHub issue that the operator wakes here: a worker goes on with it, and tells GitHub."""

from __future__ import annotations

from bot.app import App
from bot.course.store import CourseStore
from bot.job import JobKind, NewJob, Start, StartCause
from bot.jobs import Jobs
from bot.run import Run


def wake(app: App, run: Run) -> bool:
    """Have a worker take the run up; False where it is no run of an issue on GitHub."""
    course = CourseStore(app.book).of(run.id)
    if course is None:
        return False
    now = app.book.now()
    # Known by its subject alone, unlike a label, which may be told twice.
    start = Start(title="", body="", author=None, labels=(), updated=None, cause=StartCause.REOPENED)
    Jobs(app.book, web=app.settings.app.web).wish(
        NewJob(
            kind=JobKind.START,
            ref=course.ref,
            number=course.number,
            subject=f"operator:{run.id}:{now.isoformat()}",
            actor=None,
            at=now,
            data=start,
        )
    )
    return True
